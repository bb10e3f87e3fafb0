#include "recording/thread_changes.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "recording/rounds.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

constexpr std::size_t yields = 200;  // of a round

std::int64_t cpu_time_by(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Of a yield that changes nothing.
std::int64_t time_of_yield(std::size_t most_rounds) {
  std::vector<std::int64_t> times;
  for (Rounds rounds(most_rounds); rounds.next();) {
    const std::int64_t before = cpu_time_by(CLOCK_THREAD_CPUTIME_ID);
    for (std::size_t i = 0; i < yields; ++i)
      ::sched_yield();
    times.push_back(cpu_time_by(CLOCK_THREAD_CPUTIME_ID) - before);
  }
  return median(std::move(times)) / static_cast<std::int64_t>(yields);
}

// From the calling thread to others.
std::int64_t switches_so_far() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

// Two threads that yield to each other, beside one that yields alone. CPU time of these two: other programs' threads may have
// the CPU between them.
Nanoseconds time_of_switch(std::uint32_t cpu, std::size_t most_rounds) {
  const std::int64_t alone = time_of_yield(most_rounds);
  std::vector<std::int64_t> times;
  std::atomic<bool> done = false;
  std::atomic<bool> runs = false;
  std::thread other([&] {
    run_on({cpu});
    runs = true;
    while (!done)
      ::sched_yield();
  });
  while (!runs)
    ::sched_yield();
  clockid_t of_other{};
  ::pthread_getcpuclockid(other.native_handle(), &of_other);
  const auto cpu_time = [&] {
    return cpu_time_by(CLOCK_THREAD_CPUTIME_ID) + cpu_time_by(of_other);
  };
  for (Rounds rounds(most_rounds); rounds.next();) {
    const std::int64_t switches_before = switches_so_far();
    const std::int64_t before = cpu_time();
    for (std::size_t i = 0; i < yields; ++i)
      ::sched_yield();
    const std::int64_t time = cpu_time() - before;
    // The other one yields once each time that it is switched to, and maybe more often.
    const std::int64_t to_other = switches_so_far() - switches_before;
    if (to_other > 0)
      times.push_back((time - static_cast<std::int64_t>(yields) * alone - to_other * alone) /
                      (2 * to_other));
  }
  done = true;
  other.join();
  return at_least_none(median(std::move(times)));
}

// The calling thread, and those that it creates meanwhile, wait for their turn when they are woken.
class NoPreemption {
 public:
  NoPreemption() { set(SCHED_BATCH); }
  ~NoPreemption() { set(SCHED_OTHER); }
  NoPreemption(const NoPreemption&) = delete;
  NoPreemption& operator=(const NoPreemption&) = delete;

 private:
  static void set(int policy) {
    const sched_param none{};
    ::sched_setscheduler(0, policy, &none);
  }
};

// Two threads of one CPU that let each other go on in turns, each time to wait themselves. Of a policy whose threads do not
// take the CPU from their waker (sched(7), SCHED_BATCH): where they do so now and then, a turn has one wait in place of two.
void measure_turns(std::uint32_t cpu, std::size_t most_rounds, ChangeCosts& costs) {
  const NoPreemption in_turns;
  sem_t there{};
  sem_t back{};
  ::sem_init(&there, 0, 0);
  ::sem_init(&back, 0, 0);
  std::int64_t waits_at = 0;
  std::vector<std::int64_t> waiting;  // of the one, until the other is back from its own wait
  std::vector<std::int64_t> turns;    // of both
  bool done = false;
  std::thread other([&] {
    run_on({cpu});
    for (;;) {
      ::sem_wait(&there);
      if (done)
        return;
      waiting.push_back(monotonic_ns() - waits_at);
      ::sem_post(&back);
    }
  });
  for (Rounds rounds(most_rounds); rounds.next();) {
    const std::int64_t before = monotonic_ns();
    ::sem_post(&there);
    waits_at = monotonic_ns();
    ::sem_wait(&back);
    turns.push_back(monotonic_ns() - before);
  }
  done = true;
  ::sem_post(&there);
  other.join();
  const std::int64_t of_wait = median(std::move(waiting));
  costs.block = at_least_none(of_wait - costs.context_switch.count());
  costs.release = at_least_none(median(std::move(turns)) / 2 - of_wait);
}

}  // namespace

ChangeCosts costs_of_changes(std::uint32_t cpu, const ChangeRounds& rounds) {
  run_on({cpu});
  ChangeCosts costs;
  costs.context_switch = time_of_switch(cpu, rounds.of_yields);
  measure_turns(cpu, rounds.of_turns, costs);
  return costs;
}

ChangeCosts costs_of_changes_in_child(std::uint32_t cpu) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return {};
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const ChangeCosts costs = costs_of_changes(cpu, few_changes);
      static_cast<void>(write_all(in.get(), &costs, sizeof costs));
    } catch (const std::system_error&) {  // this user may have no more threads
    }
    ::_exit(0);
  }
  in.reset();
  ChangeCosts costs;
  if (child < 0)
    return costs;
  if (::read(out.get(), &costs, sizeof costs) != sizeof costs)
    costs = {};
  ::waitpid(child, nullptr, 0);
  return costs;
}

ChangeCosts between(const ChangeCosts& before, const ChangeCosts& after) {
  if (before == ChangeCosts{} || after == ChangeCosts{})
    return before == ChangeCosts{} ? after : before;
  return {(before.context_switch + after.context_switch) / 2, (before.block + after.block) / 2,
          (before.release + after.release) / 2};
}

}  // namespace longpole::recording
