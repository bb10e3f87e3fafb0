// What must hold for every program on every machine, whoever schedules it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>

#include "../analysis/random_program.h"
#include "schedule_rules.h"
#include "simulation/simulate.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

constexpr std::uint64_t programs = 1000;
constexpr std::array schedulers = {SchedulerKind::linux_fair, SchedulerKind::fifo,
                                   SchedulerKind::linux_2_2, SchedulerKind::solaris};

Recording program(std::uint64_t seed) {
  return with_known_condition_counts(*read_program(analysis::random_program(seed), "random"));
}

SimulatedRun run_on(const Recording& recording, const Machine& machine) {
  auto run = simulate(recording, machine);
  EXPECT_TRUE(run) << run.error().text();
  return *std::move(run);
}

TEST(Machine, KeepsTheRules) {
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const Recording recording = program(seed);
    for (const SchedulerKind scheduler : schedulers) {
      for (const std::uint32_t cpus : {1U, 2U, 3U, 8U}) {
        Machine machine;
        machine.scheduler = scheduler;
        machine.cpus = cpus;
        const SimulatedRun run = run_on(recording, machine);
        ASSERT_EQ(broken_rule(recording, machine, run), "")
            << fmt::format("seed {}, {}, {} CPUs", seed, name_of(scheduler), cpus);
      }
    }
  }
}

TEST(Machine, IsTheIdealOneWithACpuForEachThread) {
  std::uint64_t finished = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    Recording recording = program(seed);
    for (Thread& thread : recording.threads)
      thread.bound_to.reset();
    const Schedule ideal = simulate_ideal(recording);
    finished += ideal.deadlock ? 0U : 1U;
    for (const SchedulerKind scheduler : schedulers) {
      Machine machine;
      machine.scheduler = scheduler;
      machine.cpus = static_cast<std::uint32_t>(recording.threads.size());
      machine.hand_off = HandOff::ordered;
      const SimulatedRun run = run_on(recording, machine);
      const std::string where = fmt::format("seed {}, {}", seed, name_of(scheduler));
      ASSERT_EQ(run.end.total, ideal.total) << where;
      ASSERT_EQ(run.stretches.size(), ideal.segments.size()) << where;
      ASSERT_EQ(run.end.preemptions, 0) << where;
      ASSERT_EQ(run.end.deadlock.has_value(), ideal.deadlock.has_value()) << where;
    }
  }
  EXPECT_GT(finished, programs / 2);
}

}  // namespace
}  // namespace longpole::simulation
