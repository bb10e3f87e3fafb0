#include "recording/thread_changes.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "recording/measuring.h"
#include "recording/pipe.h"
#include "recording/system.h"
#include "trace/host_costs.h"

namespace longpole::recording {
namespace {

constexpr std::size_t yields = 200;  // of a round

// Of a yield that changes nothing.
std::int64_t time_of_yield(std::size_t most_rounds) {
  std::vector<std::int64_t> times;
  for (Rounds rounds(most_rounds); rounds.next();) {
    const std::int64_t before = read_clock(CLOCK_THREAD_CPUTIME_ID);
    for (std::size_t i = 0; i < yields; ++i)
      ::sched_yield();
    times.push_back(read_clock(CLOCK_THREAD_CPUTIME_ID) - before);
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
  const auto cpu_time = [&] { return read_clock(CLOCK_THREAD_CPUTIME_ID) + read_clock(of_other); };
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

// Two threads of one CPU that let each other go on in turns, each time to wait themselves.
void measure_turns(std::uint32_t cpu, std::size_t most_rounds, HostCosts& costs) {
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

HostCosts costs_of_changes(std::uint32_t cpu, const ChangeRounds& rounds) {
  run_on({cpu});
  HostCosts costs;
  costs.context_switch = time_of_switch(cpu, rounds.of_yields);
  measure_turns(cpu, rounds.of_turns, costs);
  return costs;
}

HostCosts costs_of_changes_in_child(std::uint32_t cpu) {
  Pipe pipe;
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      static_cast<void>(say(pipe, costs_of_changes(cpu, few_changes)));
    } catch (const std::system_error&) {  // this user may have no more threads
    }
    ::_exit(0);
  }
  pipe.in.reset();
  HostCosts costs;
  if (child < 0 || !hear(pipe, costs))
    costs = {};
  if (child > 0)
    ::waitpid(child, nullptr, 0);
  return costs;
}

HostCosts between(const HostCosts& before, const HostCosts& after) {
  if (before == HostCosts{} || after == HostCosts{})
    return before == HostCosts{} ? after : before;
  HostCosts middle;
  for (std::size_t cost = 0; cost < host_cost_count; ++cost)
    host_cost(middle, cost) = (host_cost(before, cost) + host_cost(after, cost)) / 2;
  return middle;
}

}  // namespace longpole::recording
