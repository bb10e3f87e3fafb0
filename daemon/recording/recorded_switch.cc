#include "recording/recorded_switch.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "recording/alternate_batches.h"
#include "recording/perf_rings.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

constexpr Batches switch_batches{.of_each = 16, .longest_ns = 30'000'000};
constexpr int round_trips = 100;  // of a batch, each of two changes

enum class Change : char { by_yields, by_sleeps };

struct Changes {
  std::int64_t time_ns = 0;  // one takes, of many
  // In all: who is woken may take the CPU from its waker, who then finds what it would wait for.
  std::int64_t sleeps = 0;
};

std::int64_t sleeps_so_far() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw;
}

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

// A child on the CPUs of this process, of two threads that take turns, until this object goes. They are threads of one process,
// as where a change is of the address space as well it may take twice as long, and so may what is written about it. Events
// that it has before it is first asked are of both, as those of a program are of its threads.
class Pair {
 public:
  Pair() : pid_(::fork()) {
    if (pid_ != 0) {
      made_.in.reset();
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

  // None when there is nobody to make one.
  [[nodiscard]] std::optional<Changes> make(Change change) const {
    Changes made;
    if (pid_ <= 0 || !say(asked_, change) || !hear(made_, made) || made.time_ns <= 0)
      return std::nullopt;
    return made;
  }

 private:
  // Both yield as often; two more changes come of the beginning and the end.
  static void yield_often() {
    for (int i = 1; i < round_trips; ++i)
      ::sched_yield();
  }

  // Does so whenever asked, and answers, until nobody asks any more.
  static void answer(const Pipe& there, const Pipe& back) {
    Change change{};
    while (hear(there, change)) {
      if (change == Change::by_yields)
        yield_often();
      if (!say(back, change))
        return;
    }
  }

  // False where this user may have no more threads.
  static bool start(std::thread& partner, const Pipe& there, const Pipe& back) {
    try {
      partner = std::thread(answer, std::cref(there), std::cref(back));
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  static bool make_batch(Change change, const Pipe& there, const Pipe& back) {
    if (change == Change::by_yields) {
      if (!say(there, change))
        return false;
      yield_often();
      return hear(back, change);
    }
    for (int i = 0; i < round_trips; ++i)
      if (!say(there, change) || !hear(back, change))
        return false;
    return true;
  }

  void make_batches() const {
    Pipe there;
    Pipe back;
    std::thread partner;
    Change change{};
    while (hear(asked_, change)) {
      if (!partner.joinable() && !start(partner, there, back))
        break;
      const std::int64_t slept_before = sleeps_so_far();
      const std::int64_t before = monotonic_ns();
      Changes made;
      if (make_batch(change, there, back))
        made = {(monotonic_ns() - before) / (2 * round_trips), sleeps_so_far() - slept_before};
      if (!say(made_, made))
        break;
    }
    there.in.reset();
    if (partner.joinable())
      partner.join();
  }

  Pipe asked_;
  Pipe made_;
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

KernelCosts costs_of_recorded_switches(std::uint32_t cpu, std::uint32_t rate_hz,
                                       const std::optional<Tracepoints>& tracepoints,
                                       const std::filesystem::path& directory) {
  const OnOneCpu here(cpu);
  // Where events are off, the kernel still looks at them at each change: without means that there were never any.
  const Pair without;
  const Pair with;
  auto events = PerfRings::open(with.pid(), {cpu}, rate_hz, directory);
  if (!events)
    return {};
  if (tracepoints && !events->add_tracepoints(with.pid(), *tracepoints, directory))
    return {};
  events->record_at_once(true);
  std::int64_t sleeps = 0;
  const auto made_by = [&](const Pair& pair, Change change) -> std::optional<std::int64_t> {
    const auto made = pair.make(change);
    if (!made)
      return std::nullopt;
    sleeps += made->sleeps;
    return made->time_ns;
  };
  const auto batches_of = [&](Change change) {
    return alternate_batches(
        switch_batches, [&] { return made_by(without, change); },
        [&] { return made_by(with, change); });
  };
  KernelCosts costs;
  costs.switch_ns = std::max<std::int64_t>(middle_difference(batches_of(Change::by_yields)), 0);
  if (!tracepoints)
    return costs;
  // One that sleeps is a record of that, and one of its being woken, more.
  sleeps = 0;
  const std::vector<BatchTimes> times = batches_of(Change::by_sleeps);
  const auto changes = static_cast<std::int64_t>(times.size()) * 2 * (2 * round_trips);
  if (sleeps > 0)
    costs.tracepoint_ns = std::max<std::int64_t>(middle_difference(times) - costs.switch_ns, 0) *
                          changes / (2 * sleeps);
  return costs;
}

}  // namespace longpole::recording
