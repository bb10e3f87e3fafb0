// Compares the `linux` scheduler with the kernel that it runs on.
//
//   scheduler_validation [SECONDS]        of each program; 3 by default
//
// Runs small programs pinned to one and to two CPUs, reads each thread's CPU clock, simulates the same
// programs, and prints the share of the CPU time that each thread got: what the kernel gave it, what
// `linux` gives it and what a round robin with one slice would (SCHED_RR). A share that is off by more
// than a twentieth is marked; the exit status says whether `linux` is right throughout and the round
// robin is not. The machine must have nothing else to do; where others run, give this their share:
//
//   setsid sh -c 'echo -20 > /proc/self/autogroup; scheduler_validation'       (as root)
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "simulation/simulator.h"

namespace longpole {
namespace {

constexpr double tolerance = 0.05;
constexpr std::int64_t second = 1'000'000'000;

// What a thread does again and again: computes, then sleeps or passes the turn to a partner.
struct Part {
  std::string name;
  std::int64_t work = 0;   // 0: computes all the time
  std::int64_t sleep = 0;  // 0: it does not sleep
  std::int32_t nice = 0;
  std::int32_t partner = -1;  // that it wakes, and waits for, after its work
  bool has_first_turn = false;
};

struct Program {
  std::string name;
  std::uint32_t cpus;
  std::vector<Part> parts;
};

std::int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * second + time.tv_nsec;
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

struct Used {
  std::vector<double> time;
  std::vector<std::int64_t> rounds;
};

class KernelRun {
 public:
  KernelRun(const Program& program, std::int64_t length)
      : program_(program),
        length_(length),
        turns_(program.parts.size()),
        used_{std::vector<double>(turns_.size()), std::vector<std::int64_t>(turns_.size())} {
    for (std::size_t i = 0; i < turns_.size(); ++i)
      sem_init(&turns_[i], 0, program.parts[i].has_first_turn ? 1 : 0);
    pthread_barrier_init(&start_, nullptr, static_cast<unsigned>(turns_.size()) + 1);
  }
  KernelRun(const KernelRun&) = delete;
  KernelRun& operator=(const KernelRun&) = delete;
  ~KernelRun() {
    for (sem_t& turn : turns_)
      sem_destroy(&turn);
    pthread_barrier_destroy(&start_);
  }

  Used used() {
    bind_to(0, program_.cpus);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < turns_.size(); ++i)
      threads.emplace_back([this, i] { run(i); });
    end_ = now(CLOCK_MONOTONIC) + second / 10 + length_;
    pthread_barrier_wait(&start_);
    for (std::thread& thread : threads)
      thread.join();
    return used_;
  }

 private:
  static void bind_to(std::uint32_t first, std::uint32_t count) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (std::uint32_t cpu = first; cpu < first + count; ++cpu)
      CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
  }

  void run(std::size_t index) {
    const Part& part = program_.parts[index];
    // Each starts where it does in the simulation: which CPUs they share may last.
    bind_to(static_cast<std::uint32_t>(index) % program_.cpus, 1);
    prctl(PR_SET_TIMERSLACK, 1UL);
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), part.nice);
    pthread_barrier_wait(&start_);
    bind_to(0, program_.cpus);
    const std::int64_t begin = now(CLOCK_THREAD_CPUTIME_ID);
    while (now(CLOCK_MONOTONIC) < end_ - second / 10) {
      // Nothing here reads the CPU clock: the kernel ends slices then that would last until the tick.
      if (part.work == 0) {
        compute(steps_in(10'000));
        continue;
      }
      if (part.partner >= 0)
        sem_wait(&turns_[index]);
      compute(steps_in(part.work));
      ++used_.rounds[index];
      if (part.partner >= 0)
        sem_post(&turns_[static_cast<std::size_t>(part.partner)]);
      if (part.sleep > 0) {
        const timespec time{part.sleep / second, part.sleep % second};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
      }
    }
    used_.time[index] = static_cast<double>(now(CLOCK_THREAD_CPUTIME_ID) - begin);
    if (part.partner >= 0)
      sem_post(&turns_[static_cast<std::size_t>(part.partner)]);
  }

  const Program& program_;
  std::int64_t length_;
  std::int64_t end_ = 0;
  pthread_barrier_t start_{};
  std::vector<sem_t> turns_;
  Used used_;
};

Recording recording_of(const Program& program, std::int64_t length) {
  // A timer is late by a little, and never by the same; else sleeps would keep step with the tick.
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> timers_late(0, 100'000);
  Recording recording;
  recording.run.source = Source::kernel;
  for (std::size_t i = 0; i < program.parts.size(); ++i) {
    const Part& part = program.parts[i];
    recording.objects.push_back(
        {ObjectKind::semaphore, part.name, {}, part.has_first_turn ? 1U : 0U});
    Thread thread;
    thread.name = part.name;
    const auto add = [&](EventKind kind, std::int64_t cpu, std::size_t object) {
      Event event;
      event.kind = kind;
      event.cpu = Nanoseconds{cpu};
      event.subject = static_cast<std::uint32_t>(object);
      thread.events.push_back(event);
    };
    const std::int64_t rounds = part.work == 0 ? 0 : length / (part.work + part.sleep) + 1;
    for (std::int64_t round = 0; round < rounds; ++round) {
      if (part.partner >= 0)
        add(EventKind::semaphore_wait, 0, i);
      if (part.partner >= 0)
        add(EventKind::semaphore_post, part.work, static_cast<std::size_t>(part.partner));
      if (part.sleep > 0) {
        add(EventKind::sleep, part.partner >= 0 ? 0 : part.work, unknown_count);
        thread.events.back().duration = Nanoseconds{part.sleep + timers_late(random)};
      }
    }
    add(EventKind::thread_end, part.work == 0 ? length : 0, unknown_count);
    recording.threads.push_back(std::move(thread));
  }
  return recording;
}

// CPU time of each thread up to a moment.
class UsedUntil final : public simulation::StretchConsumer {
 public:
  UsedUntil(std::size_t threads, std::int64_t end) : used_(threads), end_(end) {}
  void add(const simulation::Stretch& stretch) override {
    const std::int64_t until = std::min(stretch.end.count(), end_);
    if (stretch.running() && stretch.start.count() < until)
      used_[stretch.thread] += static_cast<double>(until - stretch.start.count());
  }
  [[nodiscard]] const std::vector<double>& used() const { return used_; }

 private:
  std::vector<double> used_;
  std::int64_t end_;
};

std::vector<double> simulated(const Program& program, std::int64_t length, bool round_robin) {
  simulation::Machine machine;
  machine.cpus = program.cpus;
  // The kernel chooses its slice by all CPUs of the system, also for programs that may use a few.
  const auto system_cpus = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.slice = Nanoseconds{700'000} * std::bit_width(std::min(system_cpus, 8U));
  for (const Part& part : program.parts) {
    simulation::ThreadSettings settings;
    if (round_robin) {
      settings.priority = 1;
      settings.round_robin = true;
    } else {
      settings.nice = part.nice;
    }
    machine.threads.push_back(settings);
  }
  UsedUntil used(program.parts.size(), length);
  const Recording recording = recording_of(program, length);
  if (const auto end = simulation::simulate(recording, machine, used); !end)
    fmt::print(stderr, "{}\n", end.error().text());
  return used.used();
}

std::vector<double> as_shares(std::vector<double> used) {
  double sum = 0;
  for (const double one : used)
    sum += one;
  for (double& one : used)
    one /= sum;
  return used;
}

std::vector<Program> programs() {
  const Part hog{"hog"};
  const auto nice = [](std::int32_t value) {
    return Part{.name = fmt::format("hog, nice {}", value), .nice = value};
  };
  const Part sleeper{.name = "sleeper", .work = 1'000'000, .sleep = 5'000'000};
  const Part ping{.name = "ping", .work = 200'000, .nice = 0, .partner = 1, .has_first_turn = true};
  const Part pong{.name = "pong", .work = 100'000, .nice = 0, .partner = 0};
  std::vector<Program> programs;
  for (const std::uint32_t cpus : {1U, 2U}) {
    programs.push_back({"hogs of one weight", cpus, {hog, hog, hog}});
    programs.push_back({"hogs of different weights", cpus, {nice(0), nice(0), nice(3), nice(5)}});
    programs.push_back({"sleepers among hogs", cpus, {hog, hog, sleeper, sleeper}});
    programs.push_back({"ping-pong beside hogs", cpus, {ping, pong, hog, hog}});
    programs.push_back({"many hogs", cpus, {hog, hog, hog, hog, hog, hog, hog}});
  }
  return programs;
}

}  // namespace
}  // namespace longpole

int main(int argc, char** argv) {
  using namespace longpole;
  const std::int64_t length = (argc > 1 ? std::stoll(argv[1]) : 3) * second;
  std::uint32_t wrong = 0;
  std::uint32_t wrong_in_turns = 0;
  const auto verdict = [](double simulated, double real, std::uint32_t& count) {
    const double off = simulated / real - 1;
    count += std::abs(off) > tolerance ? 1U : 0U;
    return fmt::format("{:6.1f}% {:+6.1f}%{}", 100 * simulated, 100 * off,
                       std::abs(off) > tolerance ? "!" : " ");
  };
  fmt::print("{:<28}{:<14}{:>8}{:>17}{:>17}\n", "program", "thread", "kernel", "linux",
             "round robin");
  steps_in(0);
  for (Program& program : programs()) {
    const Used used = KernelRun(program, length).used();
    // As fast as the CPU was.
    for (std::size_t i = 0; i < used.rounds.size(); ++i) {
      if (used.rounds[i] > 0)
        program.parts[i].work = std::llround(used.time[i] / static_cast<double>(used.rounds[i]));
    }
    const std::vector<double> real = as_shares(used.time);
    const std::vector<double> fair = as_shares(simulated(program, length, false));
    const std::vector<double> in_turns = as_shares(simulated(program, length, true));
    for (std::size_t i = 0; i < real.size(); ++i) {
      const std::string name =
          fmt::format("{}, {} CPU{}", program.name, program.cpus, program.cpus == 1 ? "" : "s");
      fmt::print("{:<34}{:<14}{:>6.1f}% {} {}\n", i == 0 ? name : "", program.parts[i].name,
                 100 * real[i], verdict(fair[i], real[i], wrong),
                 verdict(in_turns[i], real[i], wrong_in_turns));
    }
  }
  fmt::print("more than {:.0f}% off: linux {}, round robin {}\n", 100 * tolerance, wrong,
             wrong_in_turns);
  return wrong == 0 && wrong_in_turns > 0 ? 0 : 1;
}
