// Compares the `linux` scheduler with the kernel that it runs on.
//
//   scheduler_validation [SECONDS [RUNS [NAME]]]        2 seconds, 7 runs; programs with that in their name
//
// Runs small programs pinned to one and to two CPUs, simulates the same programs over the same length, and prints
// what the kernel gave each thread, what `linux` gives it and what a round robin with one slice would (SCHED_RR):
// first its share of the CPU time, then, with a fixed amount of work, when it ended.
//
// Which of several equal threads the kernel favours is chance. So each program is run and simulated RUNS times,
// from another moment of the machine's time each time, and equal threads are compared as the mean of their kind,
// and one by one in order of what they got, the mean of the first of each run and so on. Beside the kernel's mean
// stands from where to where its runs went. Where the runs differ so much that the means of the kinds are not known
// to a quarter of the twentieth below (as a standard error), it is run more often, up to eight times as often. The
// programs take turns: a machine favours some threads for minutes, and then others.
//
// How often a CPU that falls idle looks for a thread depends on how often that helped before. So before each run the
// CPUs are made to forget it, and the simulation starts from there.
//
// What is off by more than a twentieth is marked, of a single one among equals only where it also lies
// outside what the kernel's own runs showed. The exit status says whether `linux` is right throughout and the
// round robin is not. The machine must have nothing else to do, and the kernel no groups, which `linux` does not
// model: with autogroups a program's queues count by the group's share in each, which keeps some uneven ones as
// they are.
//
//   sysctl kernel.sched_autogroup_enabled=0       (as root; and 1 afterwards)
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/host_costs.h"
#include "kernel_run.h"
#include "simulation/simulator.h"

namespace longpole {
namespace {

constexpr double tolerance = 0.05;
constexpr std::int64_t tick = 4'000'000;
constexpr std::int64_t most_offset = 250 * tick;
constexpr std::int64_t before = 10'000;

// What a thread got, in any unit: a value for each run and each thread.
using Runs = std::vector<std::vector<double>>;

// The rounds of a thread as long as those were during which it kept its CPU, and on average as all of them: where
// each round were as long as the last, programs would keep step with the ticks.
std::vector<std::int64_t> rounds_of(std::vector<std::int64_t> computed, std::int64_t average) {
  if (computed.empty())
    return {average};
  std::vector<std::int64_t> sorted = computed;
  const auto median = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), median, sorted.end());
  std::erase_if(computed, [&](std::int64_t one) { return one > *median * 3 / 2; });
  const double sum = std::accumulate(computed.begin(), computed.end(), 0.0);
  const double factor =
      static_cast<double>(average) * static_cast<double>(computed.size()) / std::max(1.0, sum);
  for (std::int64_t& one : computed)
    one = std::llround(static_cast<double>(one) * factor);
  return computed;
}

// The same program, with the work as fast as the CPU was. It starts `offset` after a tick, each thread on the CPU
// where it does in reality: so each has been there before.
Recording recording_of(const Program& program, const KernelTimes& real, bool has_end,
                       std::int64_t length, std::int64_t offset, std::mt19937& random) {
  // Without slack a timer is late by a little, and never by the same: in records 5 to 8 us for eight of ten.
  std::uniform_int_distribution<std::int64_t> timers_late(3'000, 10'000);
  Recording recording;
  recording.run.source = Source::kernel;
  const HostCosts of_host = calibration::host_costs().costs;
  recording.run.costs.wake_up = of_host.wake_up;
  recording.run.costs.deep_sleep = of_host.deep_sleep;
  recording.run.costs.deep_wake_up = of_host.deep_wake_up;
  recording.run.costs.interrupt = of_host.interrupt;
  recording.run.costs.interruption = of_host.interruption;
  recording.run.costs.idle_look = of_host.idle_look;
  recording.run.costs.packed_use = of_host.packed_use;
  for (std::size_t i = 0; i < program.parts.size(); ++i) {
    const Part& part = program.parts[i];
    recording.objects.push_back(
        {ObjectKind::semaphore, part.name, {}, part.has_first_turn ? 1U : 0U});
    Thread thread;
    thread.name = fmt::format("{} {}", part.name, i);
    const auto add = [&](EventKind kind, std::int64_t cpu, std::size_t object) {
      Event event;
      event.kind = kind;
      event.cpu = Nanoseconds{cpu};
      event.subject = static_cast<std::uint32_t>(object);
      thread.events.push_back(event);
    };
    const auto sleep = [&](std::int64_t cpu, std::int64_t time) {
      add(EventKind::sleep, cpu, unknown_count);
      thread.events.back().duration = Nanoseconds{time};
    };
    sleep(before, offset);
    const std::int64_t work = real.rounds[i] == 0 ? part.work : real.cpu[i] / real.rounds[i];
    const std::int64_t rounds = has_end || work == 0 ? real.rounds[i] : length / work + 1;
    const std::vector<std::int64_t> works = rounds_of(real.computed[i], work);
    for (std::int64_t round = 0; round < rounds; ++round) {
      const std::int64_t now = works[static_cast<std::size_t>(round) % works.size()];
      if (part.partner >= 0)
        add(EventKind::semaphore_wait, 0, i);
      if (part.partner >= 0)
        add(EventKind::semaphore_post, now, static_cast<std::size_t>(part.partner));
      if (part.sleep > 0)
        sleep(part.partner >= 0 ? 0 : now, part.sleep + timers_late(random));
    }
    const std::int64_t rest = has_end ? real.cpu[i] : length;
    add(EventKind::thread_end, part.work == 0 ? rest : 0, unknown_count);
    recording.threads.push_back(std::move(thread));
  }
  return recording;
}

// CPU time of each thread up to a moment, and when it last had a CPU.
class TimesOfThreads final : public simulation::StretchConsumer {
 public:
  TimesOfThreads(std::size_t threads, std::int64_t until)
      : cpu_(threads), end_(threads), until_(until) {}
  void add(const simulation::Stretch& stretch) override {
    const std::int64_t until = std::min(stretch.end.count(), until_);
    if (stretch.running() && stretch.start.count() < until)
      cpu_[stretch.thread] += static_cast<double>(until - stretch.start.count());
    end_[stretch.thread] = static_cast<double>(stretch.end.count());
  }
  [[nodiscard]] const std::vector<double>& cpu() const { return cpu_; }
  [[nodiscard]] const std::vector<double>& end() const { return end_; }

 private:
  std::vector<double> cpu_;
  std::vector<double> end_;
  std::int64_t until_;
};

simulation::Machine machine_for(const Program& program, bool round_robin) {
  simulation::Machine machine;
  machine.cpus = program.cpus;
  machine.tick = Nanoseconds{tick};
  // The kernel chooses its slice by all CPUs of the system, also for programs that may use a few.
  const auto system_cpus = static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.slice = Nanoseconds{700'000} * std::bit_width(std::min(system_cpus, 8U));
  machine.newly_idle_share = forgotten_share;
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
  return machine;
}

std::vector<double> as_shares(std::vector<double> used) {
  double sum = 0;
  for (const double one : used)
    sum += one;
  for (double& one : used)
    one /= sum;
  return used;
}

// The mean of the threads from `first` on of each run.
std::vector<double> of_kind(const Runs& runs, std::size_t first, std::size_t count) {
  std::vector<double> means;
  for (const std::vector<double>& run : runs) {
    double sum = 0;
    for (std::size_t i = first; i < first + count; ++i)
      sum += run[i];
    means.push_back(sum / static_cast<double>(count));
  }
  return means;
}

// One past the last thread of the same kind.
std::size_t end_of_kind(const Program& program, std::size_t first) {
  std::size_t end = first;
  while (end < program.parts.size() && program.parts[end].name == program.parts[first].name)
    ++end;
  return end;
}

bool is_known(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1) / count) <= mean * tolerance / 4;
}
bool is_known(const Program& program, const Runs& runs) {
  if (runs.size() < 2)
    return true;
  for (std::size_t first = 0; first < program.parts.size();) {
    const std::size_t end = end_of_kind(program, first);
    if (!is_known(of_kind(runs, first, end - first)))
      return false;
    first = end;
  }
  return true;
}

struct Measured {
  Runs kernel;
  Runs fair;
  Runs in_turns;
};

// A program whose threads share the CPUs for a while or, with an end, have so much to do, run again and again.
class Experiment {
 public:
  Experiment(Program program, std::int64_t length, bool has_end)
      : program_(std::move(program)),
        length_(length),
        has_end_(has_end),
        amount_{.length = length} {
    if (has_end)
      amount_.cpu_time = length * program_.cpus / static_cast<std::int64_t>(program_.parts.size());
  }

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] bool has_end() const { return has_end_; }
  [[nodiscard]] const Measured& measured() const { return measured_; }
  [[nodiscard]] bool wants_run(std::size_t least_runs) const {
    const std::size_t runs = measured_.kernel.size();
    return runs < least_runs || (runs < 8 * least_runs && !(is_known(program_, measured_.kernel) &&
                                                            is_known(program_, measured_.fair)));
  }

  // Once under the kernel, and simulated.
  void run() {
    let_newly_idle_cpus_forget();
    const KernelTimes real = run_under_kernel(program_, amount_);
    measured_.kernel.push_back(
        numbers({real.cpu.begin(), real.cpu.end()}, {real.end.begin(), real.end.end()}, 0));
    const std::int64_t offset =
        std::uniform_int_distribution<std::int64_t>(1, most_offset)(random_);
    const Recording recording = recording_of(program_, real, has_end_, length_, offset, random_);
    for (const bool round_robin : {false, true}) {
      TimesOfThreads times(program_.parts.size(), offset + length_);
      if (const auto end =
              simulation::simulate(recording, machine_for(program_, round_robin), times);
          !end)
        fmt::print(stderr, "{}\n", end.error().text());
      (round_robin ? measured_.in_turns : measured_.fair)
          .push_back(numbers(times.cpu(), times.end(), offset));
    }
  }

 private:
  // Shares of the CPU time or, with an end, when each thread ended, in seconds.
  [[nodiscard]] std::vector<double> numbers(const std::vector<double>& cpu,
                                            const std::vector<double>& end,
                                            std::int64_t start) const {
    if (!has_end_)
      return as_shares(cpu);
    std::vector<double> seconds;
    for (const double one : end)
      seconds.push_back((one - static_cast<double>(start)) / nanoseconds_a_second);
    return seconds;
  }

  Program program_;
  std::int64_t length_;
  bool has_end_;
  Amount amount_;
  std::mt19937 random_{1};
  Measured measured_;
};

// In rounds, a run of each that wants one: what a machine favours, it does for minutes.
void run_all(std::vector<Experiment>& experiments, std::size_t least_runs) {
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (Experiment& experiment : experiments) {
      if (!experiment.wants_run(least_runs))
        continue;
      experiment.run();
      goes_on = true;
    }
  }
}

struct Summary {
  double mean = 0;
  double least = 0;
  double most = 0;
};

Summary summary_of(const std::vector<double>& values) {
  Summary summary{0, values.front(), values.front()};
  for (const double value : values) {
    summary.mean += value / static_cast<double>(values.size());
    summary.least = std::min(summary.least, value);
    summary.most = std::max(summary.most, value);
  }
  return summary;
}

// Of the threads from `first` on of each run, in order, the one in that place.
std::vector<double> in_place(const Runs& runs, std::size_t first, std::size_t count,
                             std::size_t place) {
  std::vector<double> values;
  for (std::vector<double> run : runs) {
    const auto begin = run.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, begin + static_cast<std::ptrdiff_t>(count));
    values.push_back(begin[static_cast<std::ptrdiff_t>(place)]);
  }
  return values;
}

class Table {
 public:
  explicit Table(bool shares) : shares_(shares) {
    fmt::print("\n{:<40}{:>8} {:<16}{:>8}{:>9}{:>9}{:>9}\n",
               shares ? "share of the CPU time" : "when it ended, in s", "kernel", "(its runs)",
               "linux", "off", "in turns", "off");
  }

  void add(const Program& program, const Measured& measured) {
    fmt::print("{}, {} CPU{}, {} runs\n", program.name, program.cpus, program.cpus == 1 ? "" : "s",
               measured.kernel.size());
    for (std::size_t first = 0; first < program.parts.size();) {
      const std::string& name = program.parts[first].name;
      const std::size_t end = end_of_kind(program, first);
      const std::size_t count = end - first;
      row(count == 1 ? name : fmt::format("{}, mean of {}", name, count), false,
          of_kind(measured.kernel, first, count), of_kind(measured.fair, first, count),
          of_kind(measured.in_turns, first, count));
      for (std::size_t place = 0; count > 1 && place < count; ++place)
        row(fmt::format("  {} of {}", place + 1, count), true,
            in_place(measured.kernel, first, count, place),
            in_place(measured.fair, first, count, place),
            in_place(measured.in_turns, first, count, place));
      first = end;
    }
    if (!shares_)
      row("the program", false,
          in_place(measured.kernel, 0, program.parts.size(), program.parts.size() - 1),
          in_place(measured.fair, 0, program.parts.size(), program.parts.size() - 1),
          in_place(measured.in_turns, 0, program.parts.size(), program.parts.size() - 1));
  }

  [[nodiscard]] std::uint32_t wrong() const { return wrong_; }
  [[nodiscard]] std::uint32_t wrong_in_turns() const { return wrong_in_turns_; }

 private:
  [[nodiscard]] std::string text(double value) const {
    return shares_ ? fmt::format("{:.1f}%", 100 * value) : fmt::format("{:.3f}", value);
  }

  void row(const std::string& name, bool one_of_equals, const std::vector<double>& kernel,
           const std::vector<double>& fair, const std::vector<double>& in_turns) {
    const Summary real = summary_of(kernel);
    const auto off = [&](const std::vector<double>& simulated, std::uint32_t& count) {
      const double mean = summary_of(simulated).mean;
      const double error = mean / real.mean - 1;
      const bool is_chance = one_of_equals && real.least <= mean && mean <= real.most;
      const bool is_wrong = std::abs(error) > tolerance && !is_chance;
      count += is_wrong ? 1U : 0U;
      return fmt::format("{:>8} {:>+7.1f}%{}", text(mean), 100 * error, is_wrong ? "!" : " ");
    };
    const std::string range = fmt::format("({} to {})", text(real.least), text(real.most));
    const std::string linux_text = off(fair, wrong_);
    fmt::print("  {:<38}{:>8} {:<16}{}{}\n", name, text(real.mean), range, linux_text,
               off(in_turns, wrong_in_turns_));
  }

  bool shares_;
  std::uint32_t wrong_ = 0;
  std::uint32_t wrong_in_turns_ = 0;
};

std::vector<Program> programs() {
  const Part hog{"hog"};
  const auto nice = [](std::int32_t value) {
    return Part{.name = fmt::format("hog, nice {}", value), .nice = value};
  };
  const Part sleeper{.name = "sleeper", .work = 1'000'000, .sleep = 5'000'000};
  const Part ping{.name = "ping", .work = 200'000, .nice = 0, .partner = 3, .has_first_turn = true};
  const Part pong{.name = "pong", .work = 100'000, .nice = 0, .partner = 2};
  std::vector<Program> programs;
  for (const std::uint32_t cpus : {1U, 2U}) {
    programs.push_back({"hogs of one weight", cpus, {hog, hog, hog}});
    programs.push_back({"hogs of different weights", cpus, {nice(0), nice(0), nice(3), nice(5)}});
    programs.push_back({"sleepers among hogs", cpus, {hog, hog, sleeper, sleeper}});
    programs.push_back({"ping-pong beside hogs", cpus, {hog, hog, ping, pong}});
    programs.push_back({"many hogs", cpus, {hog, hog, hog, hog, hog, hog, hog}});
  }
  return programs;
}

void warn_of_groups() {
  std::ifstream file("/proc/sys/kernel/sched_autogroup_enabled");
  if (int enabled = 0; file >> enabled && enabled != 0)
    fmt::print(stderr,
               "warning: the kernel schedules by autogroups, which linux does not model; "
               "sysctl kernel.sched_autogroup_enabled=0 ends that\n");
}

}  // namespace
}  // namespace longpole

int main(int argc, char** argv) {
  using namespace longpole;
  constexpr long most_seconds = 3600;
  constexpr long most_runs = 1000;
  const long seconds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 2;
  const long runs = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 7;
  const std::string_view wanted = argc > 3 ? argv[3] : "";
  std::vector<Program> chosen = programs();
  std::erase_if(chosen,
                [&](const Program& one) { return one.name.find(wanted) == std::string::npos; });
  if (argc > 4 || seconds < 1 || seconds > most_seconds || runs < 1 || runs > most_runs ||
      chosen.empty()) {
    fmt::print(stderr,
               "usage: scheduler_validation [SECONDS [RUNS [PART OF A NAME]]]; names are:\n");
    std::vector<Program> named = programs();  // each for one CPU and for two
    std::erase_if(named, [](const Program& one) { return one.cpus != 1; });
    for (const Program& program : named)
      fmt::print(stderr, "  {}\n", program.name);
    return 2;
  }
  warn_of_groups();
  std::vector<Experiment> experiments;
  for (const bool has_end : {false, true}) {
    for (const Program& program : chosen)
      experiments.emplace_back(program, seconds * nanoseconds_a_second, has_end);
  }
  run_all(experiments, static_cast<std::size_t>(runs));
  std::uint32_t wrong = 0;
  std::uint32_t wrong_in_turns = 0;
  for (const bool has_end : {false, true}) {
    Table table(!has_end);
    for (const Experiment& experiment : experiments) {
      if (experiment.has_end() == has_end)
        table.add(experiment.program(), experiment.measured());
    }
    wrong += table.wrong();
    wrong_in_turns += table.wrong_in_turns();
  }
  fmt::print("\nmore than {:.0f}% off: linux {}, round robin {}\n", 100 * tolerance, wrong,
             wrong_in_turns);
  return wrong == 0 && wrong_in_turns > 0 ? 0 : 1;
}
