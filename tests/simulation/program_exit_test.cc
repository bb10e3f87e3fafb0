// Where main returns or somebody calls exit(), the program ends, whatever its threads are at.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "../analysis/random_program.h"
#include "machine_table.h"
#include "schedule_rules.h"
#include "schedule_table.h"
#include "simulation/simulate.h"
#include "trace/program_text.h"
#include "trace/recording_text.h"

namespace longpole::simulation {
namespace {

constexpr const char* outlived = R"(
thread main
  create computes
  create sleeps
  create waits
  run f 3
  exit
thread computes
  run g 10
thread sleeps
  run h 1
  sleep 10
thread waits
  wait S
)";

TEST(ProgramExit, CutsShortWhateverIsAtWork) {
  EXPECT_EQ(ideal_table(outlived), R"(main: create@0 create@0 create@0 run 0-3 exit@3 end@3
computes: cut 0-3
sleeps: run 0-1 sleep@1 cut 1~3
waits: wait@0
)");
  Machine machine;
  machine.scheduler = SchedulerKind::fifo;
  machine.cpus = 2;
  EXPECT_EQ(machine_table(outlived, machine),
            R"(main: create@0, create@0, create@0, cpu0 0-3 run, exit@3, end@3
computes: cpu1 0-3 cut
sleeps:
waits:
)");
}

TEST(ProgramExit, WeighsWhatLeadsToItAlone) {
  const Recording recording = *read_program(outlived, "test");
  const Schedule schedule = simulate_ideal(recording);
  EXPECT_EQ(schedule.total, std::chrono::milliseconds(3));
  // Three threads at once to 1, two to 3; one at a time, all of that.
  EXPECT_TRUE(shared_completion_times_cpus(concurrency(schedule), 1) == 7'000'000);
  EXPECT_EQ(concurrency(schedule).back().running, 0U);
}

TEST(ProgramExit, ComesAtTheSameTimeUnderEveryScheduler) {
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Recording recording = with_known_condition_counts(
        *read_program(analysis::random_program(seed, analysis::Exits::some), "random"));
    for (Thread& thread : recording.threads)
      thread.bound_to.reset();
    const Schedule ideal = simulate_ideal(recording, nullptr);
    for (const Segment& segment : ideal.segments)
      cut += segment.cut ? 1U : 0U;
    for (const SchedulerKind scheduler : all_schedulers) {
      Machine machine;
      machine.scheduler = scheduler;
      machine.cpus = static_cast<std::uint32_t>(recording.threads.size());
      machine.hand_off = HandOff::ordered;
      const std::string where = fmt::format("seed {}, {}", seed, name_of(scheduler));
      const SimulatedRun run = *simulate(recording, machine);
      ASSERT_EQ(run.end.total, ideal.total) << where;
      ASSERT_EQ(run.stretches.size(), ideal.segments.size()) << where;
      ASSERT_EQ(run.end.deadlock.has_value(), ideal.deadlock.has_value()) << where;
      machine.cpus = 2;
      ASSERT_EQ(broken_rule(recording, machine, *simulate(recording, machine)), "") << where;
    }
  }
  EXPECT_GT(cut, 30U);
}

Nanoseconds total_of(const std::string& text) {
  return simulate_ideal(*read_recording_text(text, "test")).total;
}

// On one CPU: main waited for nobody that the recording knows of.
TEST(ProgramExit, WaitsForWhoHadEndedBeforeInTheRecordedRun) {
  const std::string ended_before = R"(0 main create T
8 T end
10 main exit
10 main end
)";
  EXPECT_EQ(total_of(ended_before), std::chrono::milliseconds(8));
  const std::string outlives = R"(0 main create T
8 T yield
10 main exit
10 main end
11 T end
)";
  EXPECT_EQ(total_of(outlives), std::chrono::milliseconds(2));
  const std::string waits_for_ever = R"(0 main create T
8 T wait S unfinished
9 T end
10 main exit
10 main end
)";
  EXPECT_EQ(total_of(waits_for_ever), std::chrono::milliseconds(1));
}

TEST(ProgramExit, IsNotThatOfMainAlone) {
  EXPECT_EQ(total_of("0 main create T\n2 main end\n10 T end\n"), std::chrono::milliseconds(8));
}

}  // namespace
}  // namespace longpole::simulation
