// Threads of `linux` that use little of a CPU, where the kernel packs them (HostCosts::packed_use).
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

#include "simulation/simulate.h"
#include "simulation/simulator.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds as_traced{700};

Machine packing(milliseconds of_second, std::vector<ThreadSettings> threads = {}) {
  Machine machine;
  machine.cpus = 2;
  machine.tick = milliseconds(4);
  machine.wake_up = Nanoseconds(1);
  machine.packed_use = of_second;
  machine.threads = std::move(threads);
  return machine;
}

SimulatedRun run_on(const std::string& program, const Machine& machine) {
  return *simulate(*read_program(program, "test"), machine);
}

// Where each thread computed last, as in "0 1".
std::string last_cpus(const std::string& program, const Machine& machine) {
  std::map<std::uint32_t, std::uint32_t> cpus;
  for (const Stretch& stretch : run_on(program, machine).stretches) {
    if (stretch.running())
      cpus[stretch.thread] = stretch.cpu;
  }
  std::string text;
  for (const auto& [thread, cpu] : cpus)
    text += (text.empty() ? "" : " ") + std::to_string(cpu);
  return text;
}

// Half of a CPU is expected of it at first, and 0.30 here.
constexpr const char* uses_little = R"(  run f 1us
  sleep 100
  run f 1us
  sleep 100
  run f 1us
)";

// A computes, sleeps so often that it used next to nothing of late, and wakes B, which computes as long as A does then.
std::string wakes(const std::string& computes, int sleeps) {
  std::string program = "thread A\n  run f " + computes + "\n";
  for (int i = 0; i < sleeps; ++i)
    program += "  sleep 100\n  run f 1us\n";
  return program + "  post S\n  run f 2\nthread B\n" + uses_little + "  wait S\n  run f 2\n";
}

TEST(Packing, PutsAThreadBesideWhoWokeIt) {
  EXPECT_EQ(last_cpus(wakes("1us", 3), packing(as_traced)), "0 0");
  EXPECT_EQ(last_cpus(wakes("1us", 3), packing({})), "0 1");
}

// At 60 ms A has used 0.86 of its CPU of late. Of that 0.51 are left as it goes to sleep for the third time, 0.29 at the fifth.
TEST(Packing, ExpectsWhatWasUsedOfLate) {
  EXPECT_EQ(last_cpus(wakes("60", 3), packing(as_traced)), "0 1");
  EXPECT_EQ(last_cpus(wakes("60", 3), packing(milliseconds(950))), "0 0");
  EXPECT_EQ(last_cpus(wakes("60", 5), packing(as_traced)), "0 0");
}

// After 30 ms without a pause A has used 0.46 of its CPU of late, after 60 ms 0.71, whatever it used as it went to sleep.
TEST(Packing, KnowsWhatIsUsedNow) {
  const auto computes = [](const std::string& before) {
    return "thread A\n" + std::string(uses_little) + "  sleep 100\n  run f " + before +
           "\n  post S\n  run f 2\nthread B\n" + uses_little + "  wait S\n  run f 2\n";
  };
  EXPECT_EQ(last_cpus(computes("30"), packing(as_traced)), "0 0");
  EXPECT_EQ(last_cpus(computes("60"), packing(as_traced)), "0 1");
}

TEST(Packing, LetsNoThreadJoinTwo) {
  const std::string waits = std::string("  wait S\n  run f 2\n");
  EXPECT_EQ(last_cpus("thread A\n  run f 1us\n  sleep 100\n" + std::string(uses_little) +
                          "  post S\n  post S\n  run f 2\nthread B\n" + uses_little + waits +
                          "thread C\n" + uses_little + waits,
                      packing(as_traced)),
            "0 0 1");
}

TEST(Packing, LeavesBoundAndRealTimeThreads) {
  EXPECT_EQ(last_cpus(wakes("1us", 3), packing(as_traced, {{}, {.cpu = 1}})), "0 1");
  EXPECT_EQ(last_cpus(wakes("1us", 3), packing(as_traced, {{.priority = 1}})), "0 1");
}

// That is not known to use anything.
TEST(Packing, PutsANewThreadBesideItsCreator) {
  const std::string creates =
      "thread A\n" + std::string(uses_little) + "  create N\n  run f 2\nthread N\n  run f 2\n";
  EXPECT_EQ(last_cpus(creates, packing(as_traced)), "0 0");
  EXPECT_EQ(last_cpus(creates, packing({})), "0 1");
}

TEST(Packing, IsCounted) {
  EXPECT_EQ(run_on(wakes("1us", 3), packing(as_traced)).end.packed, 1U);
  EXPECT_EQ(run_on(wakes("1us", 3), packing({})).end.packed, 0U);
}

}  // namespace
}  // namespace longpole::simulation
