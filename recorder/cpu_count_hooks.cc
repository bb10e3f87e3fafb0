// What a program pinned to one CPU is told about the machine: the CPUs that it would have had. Its
// own wishes about CPUs are granted in words only.
#include <cerrno>
#include <cstring>

#include "next_definition.h"
#include "process.h"

namespace longpole::recorder {
namespace {

void tell(cpu_set_t* set, std::size_t bytes) {
  std::memset(set, 0, bytes);
  for (std::size_t cpu = 0; cpu < told_cpus && cpu < 8 * bytes; ++cpu) {
    CPU_SET_S(cpu, bytes, set);
  }
}

// As the kernel has it: at least one CPU of the set must exist.
bool names_a_cpu(const cpu_set_t* set, std::size_t bytes) {
  for (std::size_t cpu = 0; cpu < told_cpus && cpu < 8 * bytes; ++cpu) {
    if (CPU_ISSET_S(cpu, bytes, set)) {
      return true;
    }
  }
  return false;
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

extern "C" {

__attribute__((visibility("default"))) long sysconf(int name) noexcept {
  if (told_cpus != 0 && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)) {
    return told_cpus;
  }
  return next().sysconf(name);
}

__attribute__((visibility("default"))) int get_nprocs() noexcept {
  return told_cpus != 0 ? static_cast<int>(told_cpus) : next().get_nprocs();
}

__attribute__((visibility("default"))) int get_nprocs_conf() noexcept {
  return told_cpus != 0 ? static_cast<int>(told_cpus) : next().get_nprocs_conf();
}

__attribute__((visibility("default"))) int sched_getaffinity(pid_t thread, std::size_t bytes,
                                                             cpu_set_t* set) noexcept {
  const int result = next().sched_getaffinity(thread, bytes, set);
  if (told_cpus != 0 && result == 0) {
    tell(set, bytes);
  }
  return result;
}

__attribute__((visibility("default"))) int pthread_getaffinity_np(pthread_t thread,
                                                                  std::size_t bytes,
                                                                  cpu_set_t* set) noexcept {
  const int result = next().pthread_getaffinity_np(thread, bytes, set);
  if (told_cpus != 0 && result == 0) {
    tell(set, bytes);
  }
  return result;
}

__attribute__((visibility("default"))) int sched_setaffinity(pid_t thread, std::size_t bytes,
                                                             const cpu_set_t* set) noexcept {
  if (told_cpus == 0) {
    return next().sched_setaffinity(thread, bytes, set);
  }
  if (!names_a_cpu(set, bytes)) {
    errno = EINVAL;
    return -1;
  }
  return 0;
}

__attribute__((visibility("default"))) int pthread_setaffinity_np(pthread_t thread,
                                                                  std::size_t bytes,
                                                                  const cpu_set_t* set) noexcept {
  if (told_cpus == 0) {
    return next().pthread_setaffinity_np(thread, bytes, set);
  }
  return names_a_cpu(set, bytes) ? 0 : EINVAL;
}
}
