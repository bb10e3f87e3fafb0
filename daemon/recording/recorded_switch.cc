#include "recording/recorded_switch.h"

#include <sched.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "recording/alternate_batches.h"
#include "recording/measuring.h"
#include "recording/perf_rings.h"
#include "recording/pipe.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

// As long as they are, since every other one has 40 us that are none of its changes: of batches of 200 changes, what takes
// 0.6 us was said to take 0.35 or 0.75, whichever of two the 40 us were in.
constexpr Batches switch_batches{.of_each = 10, .longest_ns = 60'000'000};

enum class Change : char { by_yields, by_sleeps };

// Of a batch, each of two changes.
constexpr int round_trips(Change change) {
  return change == Change::by_yields ? 400 : 150;
}

// Half of what a CPU's nearest cache has: a program that changes threads has data of its own, which push the kernel's out. With
// nothing between the changes what takes 0.8 us in programs was taken to be 0.6.
using OwnData = WorkingSet<16UL * 1024>;

// Who takes turns with whom asks him to, until it is over.
class Partner {
 public:
  Partner() {
    ::sem_init(&asked_, 0, 0);
    ::sem_init(&answered_, 0, 0);
  }
  ~Partner() {
    over_ = true;
    ::sem_post(&asked_);
    if (thread_.joinable())
      thread_.join();
  }
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  // False where this user may have no more threads.
  bool start() {
    try {
      if (!thread_.joinable())
        thread_ = std::thread([this] { answer(); });
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  }

  void take_turns(Change change) {
    change_ = change;
    if (change == Change::by_yields) {
      ::sem_post(&asked_);
      yield_often(own_);
      ::sem_wait(&answered_);
      return;
    }
    for (int i = 0; i < round_trips(change); ++i) {
      own_.pass();
      ::sem_post(&asked_);
      ::sem_wait(&answered_);
    }
  }

 private:
  // Both yield as often; two more changes come of the beginning and the end.
  static void yield_often(OwnData& own) {
    for (int i = 1; i < round_trips(Change::by_yields); ++i) {
      own.pass();
      ::sched_yield();
    }
  }

  void answer() {
    OwnData own;
    for (;;) {
      ::sem_wait(&asked_);
      if (over_)
        return;
      if (change_ == Change::by_yields)
        yield_often(own);
      else
        own.pass();
      ::sem_post(&answered_);
    }
  }

  sem_t asked_{};
  sem_t answered_{};
  Change change_{};
  bool over_ = false;
  OwnData own_;
  std::thread thread_;
};

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

  // What a change takes, of a batch of them; none when there is nobody to make one.
  [[nodiscard]] std::optional<std::int64_t> make(Change change) const {
    std::int64_t time_ns = 0;
    if (pid_ <= 0 || !say(asked_, change) || !hear(made_, time_ns) || time_ns <= 0)
      return std::nullopt;
    return time_ns;
  }

 private:
  void make_batches() const {
    const NoPreemption in_turns;
    Partner partner;
    Change change{};
    while (hear(asked_, change) && partner.start()) {
      const std::int64_t before = monotonic_ns();
      partner.take_turns(change);
      const std::int64_t time_ns = (monotonic_ns() - before) / (2 * round_trips(change));
      if (!say(made_, time_ns))
        return;
    }
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
  const auto more_of = [&](Change change) {
    const std::int64_t more = middle_difference(alternate_batches(
        switch_batches, [&] { return without.make(change); }, [&] { return with.make(change); }));
    return std::max<std::int64_t>(more, 0);
  };
  KernelCosts costs;
  costs.switch_ns = more_of(Change::by_yields);
  const std::int64_t by_sleep = more_of(Change::by_sleeps);
  if (tracepoints)  // one that sleeps is a record of that, and one of its being woken, more
    costs.tracepoint_ns = std::max<std::int64_t>(by_sleep - costs.switch_ns, 0) / 2;
  costs.sleep_ns = by_sleep - 2 * costs.tracepoint_ns;
  return costs;
}

}  // namespace longpole::recording
