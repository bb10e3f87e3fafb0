#include "kernel_run.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <thread>

namespace longpole {
namespace {

std::int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * nanoseconds_a_second + time.tv_nsec;
}

void bind_to(std::uint32_t first, std::uint32_t count) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (std::uint32_t cpu = first; cpu < first + count; ++cpu)
    CPU_SET(cpu, &cpus);
  sched_setaffinity(0, sizeof cpus, &cpus);
}

void compute(std::int64_t steps) {
  for (std::int64_t i = 0; i < steps; ++i)
    asm volatile("");
}

std::int64_t steps_in(std::int64_t nanoseconds) {
  static const double steps_a_nanosecond = [] {
    constexpr std::int64_t steps = 20'000'000;
    const std::int64_t begin = now(CLOCK_THREAD_CPUTIME_ID);
    compute(steps);
    return steps / static_cast<double>(now(CLOCK_THREAD_CPUTIME_ID) - begin);
  }();
  return static_cast<std::int64_t>(steps_a_nanosecond * static_cast<double>(nanoseconds));
}

// Of which it is kept how long they computed.
constexpr std::size_t most_rounds = 10'000;

class KernelRun {
 public:
  KernelRun(const Program& program, const Amount& amount)
      : program_(program), amount_(amount), turns_(program.parts.size()), begins_(turns_.size()) {
    steps_in(0);
    for (std::size_t i = 0; i < turns_.size(); ++i)
      sem_init(&turns_[i], 0, program.parts[i].has_first_turn ? 1 : 0);
    pthread_barrier_init(&start_, nullptr, static_cast<unsigned>(turns_.size()) + 1);
    times_.cpu.resize(turns_.size());
    times_.end.resize(turns_.size());
    times_.rounds.resize(turns_.size());
    times_.computed.resize(turns_.size());
    for (std::vector<std::int64_t>& computed : times_.computed)
      computed.reserve(most_rounds);
  }
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;
  ~KernelRun() {
    for (sem_t& turn : turns_)
      sem_destroy(&turn);
    pthread_barrier_destroy(&start_);
  }

  KernelTimes times() {
    bind_to(0, program_.cpus);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < turns_.size(); ++i)
      threads.emplace_back([this, i] { run(i); });
    until_ = now(CLOCK_MONOTONIC) + amount_.length;
    pthread_barrier_wait(&start_);
    for (std::thread& thread : threads)
      thread.join();
    const std::int64_t begin = *std::min_element(begins_.begin(), begins_.end());
    for (std::int64_t& end : times_.end)
      end -= begin;
    return times_;
  }

 private:
  void run(std::size_t index) {
    const Part& part = program_.parts[index];
    // Each starts where it does in the simulation: which CPUs they share may last.
    bind_to(static_cast<std::uint32_t>(index) % program_.cpus, 1);
    prctl(PR_SET_TIMERSLACK, 1UL);
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), part.nice);
    pthread_barrier_wait(&start_);
    bind_to(0, program_.cpus);
    begins_[index] = now(CLOCK_MONOTONIC);
    const std::int64_t begin = now(CLOCK_THREAD_CPUTIME_ID);
    if (part.work == 0)
      compute_alone();
    else
      go_round(index);
    times_.end[index] = now(CLOCK_MONOTONIC);
    times_.cpu[index] = now(CLOCK_THREAD_CPUTIME_ID) - begin;
    if (part.partner >= 0)
      sem_post(&turns_[static_cast<std::size_t>(part.partner)]);
  }

  void compute_alone() const {
    if (amount_.cpu_time) {
      compute(steps_in(*amount_.cpu_time));
      return;
    }
    while (now(CLOCK_MONOTONIC) < until_)
      compute(steps_in(10'000));
  }

  void go_round(std::size_t index) {
    const Part& part = program_.parts[index];
    std::int64_t& round = times_.rounds[index];
    const std::int64_t work_of_partner =
        part.partner < 0 ? 0 : program_.parts[static_cast<std::size_t>(part.partner)].work;
    const auto goes_on = [&] {
      return amount_.cpu_time ? round * (part.work + work_of_partner) < *amount_.cpu_time
                              : now(CLOCK_MONOTONIC) < until_;
    };
    for (; goes_on(); ++round) {
      if (part.partner >= 0)
        sem_wait(&turns_[index]);
      const std::int64_t begin = now(CLOCK_MONOTONIC);
      compute(steps_in(part.work));
      if (times_.computed[index].size() < most_rounds)
        times_.computed[index].push_back(now(CLOCK_MONOTONIC) - begin);
      if (part.partner >= 0)
        sem_post(&turns_[static_cast<std::size_t>(part.partner)]);
      if (part.sleep > 0) {
        const timespec time{part.sleep / nanoseconds_a_second, part.sleep % nanoseconds_a_second};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
      }
    }
  }

  const Program& program_;
  Amount amount_;
  std::int64_t until_ = 0;
  pthread_barrier_t start_{};
  std::vector<sem_t> turns_;
  std::vector<std::int64_t> begins_;
  KernelTimes times_;
};

}  // namespace

void let_newly_idle_cpus_forget() {
  // The kernel counts 512 to 1,024 times, and keeps half of what it counted.
  constexpr int times = 8 * 1024;
  constexpr timespec moment{0, 20'000};
  const auto cpus = static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  for (std::uint32_t idle = 0; cpus > 1 && idle < cpus; ++idle) {
    std::atomic<bool> goes_on = true;
    std::vector<std::thread> busy;
    for (int i = 0; i < 2; ++i)
      busy.emplace_back([&] {
        bind_to((idle + 1) % cpus, 1);
        while (goes_on.load(std::memory_order_relaxed))
          compute(steps_in(10'000));
      });
    std::thread([&] {
      bind_to(idle, 1);
      prctl(PR_SET_TIMERSLACK, 1UL);
      for (int i = 0; i < times; ++i)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
    }).join();
    goes_on = false;
    for (std::thread& one : busy)
      one.join();
  }
}

KernelTimes run_under_kernel(const Program& program, const Amount& amount) {
  return KernelRun(program, amount).times();
}

}  // namespace longpole
