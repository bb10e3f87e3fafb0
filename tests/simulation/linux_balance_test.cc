// How the `linux` scheduler moves equal threads from CPU to CPU over a longer time, as context-switch records of
// Linux 6.18 show it: scheduler_examples_test.cc holds what comes out move by move.
#include <gmock/gmock.h>

#include <map>
#include <vector>

#include "simulation/simulator.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

using testing::Each;
using testing::Ge;
using testing::Le;

// When threads took up on another CPU than before, and when each ended, in milliseconds.
class Moves final : public StretchConsumer {
 public:
  void add(const Stretch& stretch) override {
    if (!stretch.running())
      return;
    const auto [place, is_new] = cpu_.try_emplace(stretch.thread, stretch.cpu);
    if (!is_new && place->second != stretch.cpu)
      at.push_back(stretch.start.count() / 1'000'000);
    place->second = stretch.cpu;
    end[stretch.thread] = stretch.end.count() / 1'000'000;
  }
  std::vector<std::int64_t> at;
  std::map<std::uint32_t, std::int64_t> end;

 private:
  std::map<std::uint32_t, std::uint32_t> cpu_;
};

Moves moves_of(const std::string& program, std::uint32_t cpus) {
  const Expected<Recording> recording = read_program(program, "test");
  EXPECT_TRUE(recording) << recording.error().text();
  Machine machine;
  machine.cpus = cpus;
  Moves moves;
  EXPECT_TRUE(simulate(*recording, machine, moves));
  return moves;
}

// In records of 12 s of three threads that compute all the time on two CPUs, 79 moves: 88 to 172 ms apart but
// for eight.
TEST(LinuxBalance, OneOfThreeThreadsChangesCpuAboutSevenTimesASecond) {
  const Moves moves =
      moves_of("thread A\n  run f 4000\nthread B\n  run f 4000\nthread C\n  run f 4000\n", 2);
  std::vector<std::int64_t> apart;
  for (std::size_t i = 1; i < moves.at.size() && moves.at[i] < 5000; ++i)
    apart.push_back(moves.at[i] - moves.at[i - 1]);
  EXPECT_THAT(apart, Each(Ge(80)));
  EXPECT_THAT(apart, Each(Le(180)));
  EXPECT_GE(apart.size(), 30U);
}

// Whoever is moved is in turn alone and beside another, so nobody is left far behind.
TEST(LinuxBalance, ThreeEqualThreadsGetOnAlike) {
  const Moves moves =
      moves_of("thread A\n  run f 4000\nthread B\n  run f 4000\nthread C\n  run f 4000\n", 2);
  for (const auto& [thread, end] : moves.end) {
    EXPECT_GE(end, 5500);
    EXPECT_LE(end, 6200);
  }
}

// Two of nice 0 and 3, two of 0 and 5 are within the sixth that a look lets pass: records show no move.
TEST(LinuxBalance, LeavesWhatIsNearlyEven) {
  const Recording recording = *read_program(
      "thread A\n  run f 1000\nthread B\n  run f 1000\nthread C\n  run f 1000\nthread D\n  run f "
      "1000\n",
      "test");
  Machine machine;
  machine.cpus = 2;
  for (const std::int32_t nice : {0, 0, 3, 5}) {
    ThreadSettings settings;
    settings.nice = nice;
    machine.threads.push_back(settings);
  }
  Moves moves;
  ASSERT_TRUE(simulate(recording, machine, moves));
  for (const std::int64_t at : moves.at)
    EXPECT_GE(at, 1300);
}

}  // namespace
}  // namespace longpole::simulation
