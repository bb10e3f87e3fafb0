#include "calibration/measure.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <future>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "calibration/measure_calls.h"
#include "calibration/measure_idle_looks.h"
#include "calibration/measure_packing.h"
#include "calibration/rounds.h"
#include "recording/system.h"
#include "recording/thread_changes.h"
#include "trace/host_costs.h"

namespace longpole::calibration {
namespace {

// From a post on one CPU until the thread that waited for it runs on another.
class HandOvers {
 public:
  // By then the CPU of the one that waits has fallen asleep.
  static constexpr std::int64_t asleep = 20'000;

  struct Times {
    std::int64_t until_it_runs = 0;
    std::int64_t of_post = 0;
  };

  // To a CPU that is busy with a thread that gives way.
  Times measure_interrupted(std::uint32_t from, std::uint32_t to) {
    const std::jthread busy([to](const std::stop_token& done) {
      stay_on({to});
      setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), most_nice);
      while (!done.stop_requested()) {
      }
    });
    return measure(from, to);
  }

  // To one that has slept for a moment, or for `idle`. Nothing, where others had the CPU in each round.
  Times measure(std::uint32_t from, std::uint32_t to, std::int64_t idle = asleep,
                std::size_t most_rounds = many_rounds) {
    stay_on({from});
    sem_init(&there_, 0, 0);
    sem_init(&back_, 0, 0);
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> posts;
    std::int64_t until_it_runs = 0;
    bool done = false;
    std::thread other([&] {
      stay_on({to});
      for (;;) {
        waits_ = true;
        sem_wait(&there_);
        if (done)
          return;
        until_it_runs = now() - posted_;
        sem_post(&back_);
      }
    });
    for (Rounds rounds(most_rounds); rounds.next();) {
      while (!waits_) {
      }
      waits_ = false;
      compute_until(now() + idle);
      posted_ = now();
      sem_post(&there_);
      const std::int64_t of_post = now() - posted_;
      sem_wait(&back_);
      if (until_it_runs < slice_of_others) {
        times.push_back(until_it_runs);
        posts.push_back(of_post);
      }
    }
    done = true;
    sem_post(&there_);
    other.join();
    if (times.empty())
      return {};
    return {median(std::move(times)), median(std::move(posts))};
  }

 private:
  static constexpr std::size_t many_rounds = 400;
  static constexpr int most_nice = 19;
  // No CPU takes so long from that sleep; who finds another program's thread on it waits for the end of a time slice,
  // which is 0.7 ms at least.
  static constexpr std::int64_t slice_of_others = 500'000;
  sem_t there_{};
  sem_t back_{};
  std::atomic<bool> waits_ = false;
  std::int64_t posted_ = 0;
};

// A CPU that is idle for longer goes into deeper sleep; of a virtual one the host looks for work for a while, then lets another
// have the core. From 0.1 or 0.2 ms on the wake-up took 70 us on one, before that 10.
struct DeepSleep {
  std::int64_t after = 0;  // 0: there is none
  HandOvers::Times times;

  static DeepSleep measure(std::uint32_t from, std::uint32_t to, std::int64_t shallow) {
    constexpr std::size_t most_rounds = 30;
    DeepSleep deep;
    std::int64_t before = HandOvers::asleep;
    for (const std::int64_t idle : {50'000, 100'000, 200'000, 400'000, 1'000'000}) {
      deep.times = HandOvers().measure(from, to, idle, most_rounds);
      const bool is_deep = 2 * deep.times.until_it_runs > 3 * shallow;
      if (!is_deep)
        deep.after = 0;
      else if (deep.after == 0)
        deep.after = (before + idle) / 2;
      before = idle;
    }
    return deep;
  }
};

// What an interrupt by another CPU takes of the time of a thread that computes: the gap in it. By membarrier(2), which
// interrupts the CPUs of the process's threads, and changes none.
std::int64_t measure_interruption(std::uint32_t from, std::uint32_t to) {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
    return 0;
  std::atomic<bool> runs = false;
  std::atomic<std::int64_t> longest = 0;
  const std::jthread busy([&, to](const std::stop_token& done) {
    stay_on({to});
    runs = true;
    for (std::int64_t last = now(); !done.stop_requested();) {
      const std::int64_t time = now();
      if (time - last > longest)
        longest = time - last;
      last = time;
    }
  });
  stay_on({from});
  while (!runs) {
  }
  constexpr std::size_t most_rounds = 200;
  constexpr std::int64_t between = 20'000;
  std::vector<std::int64_t> gaps;
  for (Rounds rounds(most_rounds); rounds.next();) {
    compute_until(now() + between);
    longest = 0;
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    compute_until(now() + between);
    gaps.push_back(longest);
  }
  return median(std::move(gaps));
}

std::int64_t measure_migration(std::uint32_t one, std::uint32_t other) {
  recording::WorkingSet<32UL * 1024> set;
  const auto time_of_pass = [&] {
    const std::int64_t before = now();
    set.pass();
    return now() - before;
  };
  std::vector<std::int64_t> longer;
  bool away = false;
  for (Rounds rounds(100); rounds.next();) {
    std::int64_t at_home = time_of_pass();
    for (int again = 0; again < 10; ++again)
      at_home = std::min(at_home, time_of_pass());
    away = !away;
    stay_on({away ? other : one});
    longer.push_back(time_of_pass() - at_home);
  }
  return median(std::move(longer));
}

// Locks, each with something that it guards, which two CPUs take in turns.
class SharedLocks {
 public:
  // What it takes a CPU more for each behind the other's turn than behind its own.
  std::int64_t measure(std::uint32_t one, std::uint32_t other) {
    for (Guarded& guarded : all_)
      pthread_mutex_init(&guarded.mutex, nullptr);
    std::thread beside([&] {
      stay_on({other});
      while (wait_for(others)) {
        pass();
        turn_ = ones;
      }
    });
    stay_on({one});
    std::vector<std::int64_t> longer;
    for (Rounds rounds(most_rounds); rounds.next();) {
      pass();
      turn_ = others;
      wait_for(ones);
      const std::int64_t from_afar = pass();
      longer.push_back(from_afar - pass());
    }
    turn_ = over;
    beside.join();
    return median(std::move(longer)) / static_cast<std::int64_t>(count);
  }

 private:
  static constexpr std::size_t most_rounds = 200;
  static constexpr std::size_t count = 64;
  static constexpr std::size_t line = 64;
  static constexpr std::int64_t between = 200;
  enum Turn { ones, others, over };

  struct alignas(2 * line) Guarded {
    pthread_mutex_t mutex{};
    alignas(line) volatile int value = 0;
  };

  // False when it is over.
  bool wait_for(Turn turn) {
    while (turn_ != turn)
      if (turn_ == over)
        return false;
    return true;
  }

  // As in a program: in no order that a processor could guess, for the distance to the next one grows each time, and with
  // something else between one and the next.
  std::int64_t pass() {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Guarded& guarded = all_[i * (i + 1) / 2 % count];  // each once: count is a power of two
      compute_until(now() + between);
      const std::int64_t before = now();
      pthread_mutex_lock(&guarded.mutex);
      guarded.value = guarded.value + 1;
      pthread_mutex_unlock(&guarded.mutex);
      sum += now() - before;
    }
    return sum;
  }

  std::array<Guarded, count> all_;
  std::atomic<Turn> turn_ = ones;
};

// What a host does for other machines changes within a second, and with it what switches and wake-ups take: to twice as much, and
// an interrupt to four times. So these are measured at several moments, and the middle one counts.
class Moments {
 public:
  // `of_post`: one that wakes nobody.
  void measure(const std::vector<std::uint32_t>& cpus, std::int64_t of_post) {
    HostCosts costs = recording::costs_of_changes(cpus.front(), recording::many_changes);
    if (cpus.size() > 1)
      measure_between(cpus[0], cpus[1], of_post, costs);
    all_.push_back(costs);
  }

  void give(HostCosts& costs) const {
    costs = completed(middle_of(all_), costs);
    // Two CPUs of a virtual machine may be of one core now, whose caches both have, and of two a moment later: that of
    // two counts, where busy CPUs mostly are.
    costs.lock_afar = std::ranges::max(all_, {}, &HostCosts::lock_afar).lock_afar;
  }

 private:
  static void measure_between(std::uint32_t one, std::uint32_t other, std::int64_t of_post,
                              HostCosts& costs) {
    costs.lock_afar = at_least_none(SharedLocks().measure(one, other));
    // What the wait takes behind it, and the switch from who had the CPU, are no part of either.
    const std::int64_t block_behind = costs.block.count() / 2;
    const HandOvers::Times afar = HandOvers().measure(one, other);
    costs.wake_up = at_least_none(afar.until_it_runs - block_behind);
    costs.release_afar = at_least_none(afar.of_post - of_post);
    const DeepSleep deep = DeepSleep::measure(one, other, afar.until_it_runs);
    if (deep.after > 0) {
      costs.deep_sleep = Nanoseconds{deep.after};
      costs.deep_wake_up = at_least_none(deep.times.until_it_runs - block_behind);
      costs.deep_release = at_least_none(deep.times.of_post - of_post);
    }
    const std::int64_t to_busy = HandOvers().measure_interrupted(one, other).until_it_runs;
    costs.interrupt = at_least_none(to_busy - costs.context_switch.count() - block_behind);
    costs.interruption = at_least_none(measure_interruption(one, other));
    costs.migration = at_least_none(measure_migration(one, other));
  }

  std::vector<HostCosts> all_;
};

void measure(HostCosts& costs) {
  const std::vector<std::uint32_t> cpus = recording::usable_cpus();
  if (cpus.empty())
    return;
  stay_on({cpus.front()});
  measure_calls(costs);
  measure_threads(costs);
  costs.tick = measure_tick();
  Moments moments;
  const auto measure_moment = [&] {
    moments.measure(cpus, costs.call[static_cast<std::size_t>(EventKind::semaphore_post)].count());
  };
  measure_moment();
  if (cpus.size() > 1)
    costs.idle_look = measure_idle_looks(cpus[0], cpus[1], costs.tick);
  measure_moment();
  if (cpus.size() > 1)
    costs.packed_use = measure_packing(cpus[0], cpus[1]);
  measure_moment();
  moments.give(costs);
}

}  // namespace

HostCosts middle_of(std::span<const HostCosts> moments) {
  HostCosts middle;
  for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
    std::vector<std::int64_t> times;
    for (const HostCosts& one : moments)
      times.push_back(host_cost(one, cost).count());
    host_cost(middle, cost) = Nanoseconds{median(std::move(times))};
  }
  return middle;
}

Expected<HostCosts> measure_host_costs() {
  HostCosts costs;
  try {
    std::async(std::launch::async, [&] { measure(costs); }).get();
  } catch (const std::exception& error) {
    return failure("cannot measure this machine", error.what(),
                   "try again when fewer threads run, or with a higher `ulimit -u`");
  }
  return costs;
}

}  // namespace longpole::calibration
