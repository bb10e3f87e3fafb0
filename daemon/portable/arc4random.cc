// libstdc++'s random_device asks for arc4random, the one thing that would keep the portable program from systems
// with a glibc before 2.36, Ubuntu 22.04 among them.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t out = 0;
  // As many bytes as these come whole or not at all, and never fail once the kernel is up.
  if (getrandom(&out, sizeof out, 0) != sizeof out)
    std::abort();
  return out;
}
