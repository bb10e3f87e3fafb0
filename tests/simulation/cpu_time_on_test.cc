// What a program saves of its CPU time where fewer threads take turns on a CPU.
#include <gtest/gtest.h>

#include <chrono>

#include "simulation/machine.h"
#include "simulation/simulate.h"
#include "simulation/simulator.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

using std::chrono::milliseconds;

RunInfo saving() {
  RunInfo run;
  run.cpu_time_on = {{2, 800}, {8, 600}};
  return run;
}

TEST(CpuTimeOn, IsAsRecordedOnOneCpu) {
  EXPECT_EQ(cpu_time_on(saving(), 1), 1);
  EXPECT_EQ(cpu_time_on({}, 16), 1);
}

TEST(CpuTimeOn, LiesBetweenThoseOfFewerAndOfMore) {
  EXPECT_DOUBLE_EQ(cpu_time_on(saving(), 2), 0.8);
  EXPECT_DOUBLE_EQ(cpu_time_on(saving(), 4), 0.7);
  EXPECT_DOUBLE_EQ(cpu_time_on(saving(), 8), 0.6);
  EXPECT_DOUBLE_EQ(cpu_time_on(saving(), 1024), 0.6);
}

TEST(CpuTimeOn, MakesTheCpusFasterThanTheyAre) {
  Machine machine;
  machine.cpus = 2;
  EXPECT_EQ(speeds_on(machine, {}), std::vector<std::uint32_t>{});
  EXPECT_EQ(speeds_on(machine, saving()), (std::vector<std::uint32_t>{1250, 1250}));
  machine.speeds = {500, fastest_speed};
  EXPECT_EQ(speeds_on(machine, saving()), (std::vector<std::uint32_t>{625, fastest_speed}));
}

TEST(CpuTimeOn, MakesTheCpusSlowerWhereTheyTakeEachOthersMemory) {
  RunInfo run;
  run.cpu_time_on = {{2, 1250}};
  Machine machine;
  machine.cpus = 2;
  EXPECT_EQ(speeds_on(machine, run), (std::vector<std::uint32_t>{800, 800}));
  run.cpu_time_on = {{2, most_cpu_time_thousandths}};
  machine.speeds = {500, slowest_speed};
  EXPECT_EQ(speeds_on(machine, run), (std::vector<std::uint32_t>{50, slowest_speed}));
}

TEST(CpuTimeOn, ShortensComputingAndNoSleep) {
  auto recording = read_program(
      "thread main\n  create A\n  run f 10\n  join A\nthread A\n  run f 10\n  sleep 10\n", "test");
  ASSERT_TRUE(recording) << recording.error().text();
  recording->run.cpu_time_on = {{2, 500}};
  Machine machine;
  machine.scheduler = SchedulerKind::fifo;
  for (const auto& [cpus, total] :
       {std::pair(1U, milliseconds(30)), std::pair(2U, milliseconds(15))}) {
    machine.cpus = cpus;
    EXPECT_EQ(simulate(*recording, machine)->end.total, total);
  }
}

}  // namespace
}  // namespace longpole::simulation
