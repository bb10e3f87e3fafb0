// Switches of the recorded run: what they took is in the recorded CPU times of one CPU, and is taken out of those where
// the machine charges what its own switches take.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "example.h"

namespace longpole::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// On one CPU, where a switch takes 1 ms: A computes 2 ms and yields, so does B, then both compute 2 ms again.
constexpr const char* by_turns = R"(
cost context-switch 1
2 A yield cpu=2
5 B yield cpu=2
8 A end cpu=3
11 B end cpu=3
)";

TEST(RecordedSwitches, ComeAgainOnAsManyCpus) {
  EXPECT_EQ(total(by_turns, fifo(1)), milliseconds(11));
}

TEST(RecordedSwitches, DoNotComeWhereEachThreadHasACpu) {
  EXPECT_EQ(total(by_turns, fifo(2)), milliseconds(4));
}

TEST(RecordedSwitches, TakeWhatTheMachineSays) {
  Machine machine = fifo(1);
  machine.switch_cost = Nanoseconds{};
  EXPECT_EQ(total(by_turns, machine), milliseconds(8));
  machine.switch_cost = milliseconds(2);
  EXPECT_EQ(total(by_turns, machine), milliseconds(14));
}

// Which thread was switched to cannot be told there.
TEST(RecordedSwitches, RemainInWhatSeveralCpusRecorded) {
  const std::string text = std::string("cpus 2") + by_turns;
  EXPECT_EQ(total(text, fifo(1)), milliseconds(10));
  EXPECT_EQ(total(text, fifo(2)), milliseconds(5));
}

TEST(RecordedSwitches, AreNoneWhereAThreadWentOn) {
  EXPECT_EQ(total("cost context-switch 1\n2 A yield cpu=2\n5 A end cpu=3\n", fifo(1)),
            milliseconds(5));
  // A millisecond was something else: of recording, or of the kernel.
  EXPECT_EQ(total("cost context-switch 1\n2 A yield cpu=2\n6 A end cpu=3\n", fifo(1)),
            milliseconds(5));
}

TEST(RecordedSwitches, TakeNoMoreThanWasRecorded) {
  EXPECT_EQ(total("cost context-switch 1\n2 A yield cpu=2\n6 A end cpu=0.5\n", fifo(1)),
            milliseconds(2));
}

// What turns took is in the records, and taken out already.
TEST(RecordedSwitches, AreNoneWhereAThreadHadItsTurnInLockstep) {
  EXPECT_EQ(total("notice lockstep 2 \"Recorded in lockstep.\"" + std::string(by_turns), fifo(1)),
            milliseconds(2 + 2 + 3 + 3) + 3 * milliseconds(1));
}

// CPU times of single events are known roughly: one that is shorter than its switch makes another one too long.
TEST(RecordedSwitches, ThatTookMoreThanWasRecordedAreTakenOutOfWhatFollows) {
  EXPECT_EQ(
      total("cost context-switch 1\n2 A yield cpu=2\n6 A yield cpu=0.5\n9 A end cpu=3\n", fifo(1)),
      milliseconds(2) + milliseconds(3) - microseconds(500));
}

// Where what a switch takes was measured too high, it does not pile up.
TEST(RecordedSwitches, AreTakenOutOfWhatFollowsAHundredTimesAtMost) {
  std::string text = "cost context-switch 1\n2 A yield cpu=2\n";
  int time = 2;
  for (int i = 0; i < 200; ++i)
    text += fmt::format("{} A yield cpu=0\n", time += 3);
  text += fmt::format("{} A end cpu=300\n", time + 300);
  EXPECT_EQ(total(text, fifo(1)), milliseconds(2 + 300 - 100));
}

}  // namespace
}  // namespace longpole::simulation
