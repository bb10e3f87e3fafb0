#include "recording/recorded_switch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "recording/alternate_batches.h"
#include "recording/perf_rings.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

constexpr Batches batches{.of_each = 8, .longest_ns = 30'000'000};
constexpr int round_trips = 40;  // of a batch, each of two changes

// A child on the CPUs of this process that answers a byte with a byte, until this object goes.
class Partner {
 public:
  Partner() {
    std::array<int, 2> there{};
    std::array<int, 2> back{};
    if (::pipe2(there.data(), O_CLOEXEC) != 0)
      return;
    hears_ = Descriptor(there[0]);
    ask_ = Descriptor(there[1]);
    if (::pipe2(back.data(), O_CLOEXEC) != 0)
      return;
    answers_ = Descriptor(back[0]);
    Descriptor says(back[1]);
    pid_ = ::fork();
    if (pid_ != 0)
      return;
    ask_.reset();
    char byte = 0;
    while (::read(hears_.get(), &byte, 1) == 1 && ::write(says.get(), &byte, 1) == 1) {
    }
    ::_exit(0);
  }
  ~Partner() {
    ask_.reset();
    if (pid_ > 0)
      ::waitpid(pid_, nullptr, 0);
  }
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  // How long a change of threads takes, of many; none when there is nobody to answer.
  [[nodiscard]] std::optional<std::int64_t> time_of_switch() const {
    const std::int64_t before = monotonic_ns();
    char byte = 0;
    for (int i = 0; i < round_trips; ++i)
      if (pid_ <= 0 || ::write(ask_.get(), &byte, 1) != 1 || ::read(answers_.get(), &byte, 1) != 1)
        return std::nullopt;
    return (monotonic_ns() - before) / (2 * round_trips);
  }

 private:
  Descriptor hears_;  // here as well, so that no byte is one too many
  Descriptor ask_;
  Descriptor answers_;
  pid_t pid_ = -1;
};

}  // namespace

std::int64_t cost_of_recorded_switch(std::uint32_t cpu, std::uint32_t rate_hz,
                                     const std::optional<Tracepoints>& tracepoints,
                                     const std::filesystem::path& directory) {
  auto events = PerfRings::open(::getpid(), {cpu}, rate_hz, directory);
  if (!events)
    return 0;
  if (tracepoints && !events->add_tracepoints(::getpid(), *tracepoints, directory))
    return 0;
  const OnOneCpu here(cpu);
  const Partner partner;  // has the events of this process, as the threads of a program have
  const std::optional<LeastTimes> least =
      least_times(*events, batches, [&] { return partner.time_of_switch(); });
  return least ? least->with_ns - least->without_ns : 0;
}

}  // namespace longpole::recording
