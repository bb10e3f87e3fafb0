#include "recording/recorded_switch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "recording/alternate_batches.h"
#include "recording/perf_rings.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

constexpr Batches switch_batches{.of_each = 16, .longest_ns = 30'000'000};
constexpr int round_trips = 40;  // of a batch, each of two changes

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      return;
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }

  Descriptor out;
  Descriptor in;
};

template <typename Value>
bool hear(const Pipe& pipe, Value& value) {
  return ::read(pipe.out.get(), &value, sizeof value) == sizeof value;
}

template <typename Value>
bool say(const Pipe& pipe, const Value& value) {
  return ::write(pipe.in.get(), &value, sizeof value) == sizeof value;
}

// A child on the CPUs of this process, with a child of its own that answers a byte with a byte, until this object goes.
// Events that it has before it is first asked, the other one has as well, as the threads of a program have.
class Pair {
 public:
  Pair() : pid_(::fork()) {
    if (pid_ != 0) {
      times_.in.reset();
      return;
    }
    asked_.in.reset();
    make_batches();
    ::_exit(0);
  }
  ~Pair() {
    asked_.in.reset();
    if (pid_ > 0)
      ::waitpid(pid_, nullptr, 0);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

  // How long a change of threads takes, of many; none when there is nobody to make one.
  [[nodiscard]] std::optional<std::int64_t> time_of_switch() const {
    std::int64_t time = 0;
    if (pid_ <= 0 || !say(asked_, char{}) || !hear(times_, time) || time <= 0)
      return std::nullopt;
    return time;
  }

 private:
  // A process that does so until `there` is closed; below 0: there is none.
  static pid_t answer(Pipe& there, Pipe& back) {
    const pid_t partner = ::fork();
    if (partner != 0) {
      back.in.reset();
      return partner;
    }
    there.in.reset();
    char byte = 0;
    while (hear(there, byte) && say(back, byte)) {
    }
    ::_exit(0);
  }

  void make_batches() const {
    Pipe there;
    Pipe back;
    char byte = 0;
    pid_t partner = 0;
    while (hear(asked_, byte)) {
      if (partner == 0)
        partner = answer(there, back);
      const std::int64_t before = monotonic_ns();
      bool answers = partner > 0;
      for (int i = 0; i < round_trips && answers; ++i)
        answers = say(there, byte) && hear(back, byte);
      if (!say(times_, answers ? (monotonic_ns() - before) / (2 * round_trips) : 0))
        break;
    }
    there.in.reset();
    if (partner > 0)
      ::waitpid(partner, nullptr, 0);
  }

  Pipe asked_;
  Pipe times_;
  pid_t pid_;
};

// The least of each would say too little: it depends on when the next sample is due whether a change sets the CPU's timer
// anew.
std::int64_t middle_difference(const std::vector<BatchTimes>& times) {
  if (times.empty())
    return 0;
  std::vector<std::int64_t> differences;
  for (const BatchTimes& pair : times)
    differences.push_back(pair.with_ns - pair.without_ns);
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

}  // namespace

std::int64_t cost_of_recorded_switch(std::uint32_t cpu, std::uint32_t rate_hz,
                                     const std::optional<Tracepoints>& tracepoints,
                                     const std::filesystem::path& directory) {
  const OnOneCpu here(cpu);
  // Where events are off, the kernel still looks at them at each change: without means that there were never any.
  const Pair without;
  const Pair with;
  auto events = PerfRings::open(with.pid(), {cpu}, rate_hz, directory);
  if (!events)
    return 0;
  if (tracepoints && !events->add_tracepoints(with.pid(), *tracepoints, directory))
    return 0;
  events->record_at_once(true);
  const std::vector<BatchTimes> times = alternate_batches(
      switch_batches, [&] { return without.time_of_switch(); },
      [&] { return with.time_of_switch(); });
  return std::max<std::int64_t>(middle_difference(times), 0);
}

}  // namespace longpole::recording
