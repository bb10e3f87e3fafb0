// Threads that found done what they would have waited for.
#include "simulation/condition_passes.h"

#include <gtest/gtest.h>

#include "../trace/worker_recording.h"
#include "machine_table.h"
#include "schedule_table.h"
#include "simulation/condition_pairs.h"
#include "simulation/simulate.h"
#include "trace/recording_text.h"

namespace longpole::simulation {
namespace {

Recording recording_of(const std::string& text) {
  auto recording = read_recording_text(text, "test");
  if (!recording) {
    ADD_FAILURE() << recording.error().text() << "\n" << text;
    return {};
  }
  return *std::move(recording);
}

std::string table_of_recording(const std::string& text) {
  const Recording recording = recording_of(text);
  return schedule_table(recording, simulate_ideal(recording));
}

// "W 3 for 2 of main": the third event of W, behind its first, for main's second notification.
std::string passes(const std::string& text) {
  const Recording recording = recording_of(text);
  const ConditionPairs pairs(recording);
  std::string found;
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    for (const Pass& pass : pairs.passes(t)) {
      if (!found.empty())
        found += ", ";
      found += recording.threads[t].name + " " + std::to_string(pass.event) + " for " +
               std::to_string(pass.found.count) + " of " +
               recording.threads[pass.found.by.index()].name;
    }
  }
  return found;
}

std::string with(std::string text, const std::string& before, const std::string& now) {
  const std::size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return text.replace(at, before.size(), now);
}

constexpr const char* worker = worker_that_finds_its_task;

TEST(ConditionPasses, AWorkerDoesNotBeginATaskBeforeItIsGiven) {
  EXPECT_EQ(table_of_recording(worker),
            R"(main: create@0 lock 0-2 signal@2 unlock@2 lock 2-10 signal@10 unlock@10 end@10
W: lock@0 cwait@0 unlock@2 lock 2-3 unlock@10 end 10-14
)");
}

// There who is woken tries again for its mutex, when it has a CPU.
TEST(ConditionPasses, OnTwoCpusNeither) {
  const Recording recording = recording_of(worker);
  Machine machine;
  machine.cpus = 2;
  const auto run = simulate(recording, machine);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(
      machine_table(recording, *run),
      R"(main: create@0, cpu0 0-2 lock, signal@2, unlock@2, cpu0 2-10 lock, signal@10, unlock@10, end@10
W: lock@0, cwait@0, blocked 0-2 by main, cwait@2, unlock@2, cpu1 2-3 lock, blocked 3-10 by main, lock@10, unlock@10, cpu1 10-14 end
)");
}

TEST(ConditionPasses, WhatHasBeenGivenIsTakenAtOnce) {
  std::string text = with(worker, "11 W    lock M cpu=1", "19 W    lock M cpu=9");
  text = with(text, "11 W    unlock M", "19 W    unlock M");
  text = with(text, "15 W    end cpu=4", "23 W    end cpu=4");
  EXPECT_EQ(table_of_recording(with(text, "15 main end", "23 main end")),
            R"(main: create@0 lock 0-2 signal@2 unlock@2 lock 2-10 signal@10 unlock@10 end@10
W: lock@0 cwait@0 unlock@2 lock 2-11 unlock@11 end 11-15
)");
}

// It takes the second task while main is about to say that it is there.
TEST(ConditionPasses, ATaskIsThereWhenItsMutexIsLeft) {
  const std::string text = with(worker, "10 main signal C woke=0\n", "");
  EXPECT_EQ(passes(text), "");
  EXPECT_EQ(passes(with(text, "15 main end", "15 main signal C woke=0\n15 main end")),
            "W 3 for 2 of main");
}

// Of several that were made meanwhile it asks for the first, and not for its own.
TEST(ConditionPasses, AreForTheFirstThatAnotherMadeSinceTheMutexWasLeft) {
  std::string text = with(worker, "0  W    lock M", "0  main signal C woke=0\n0  W    lock M");
  text = with(text, "2  W    unlock M cpu=0", "2  W    unlock M cpu=0\n2  W    signal C woke=0");
  text = with(text, "10 main unlock M", "10 main signal C woke=0\n10 main unlock M");
  EXPECT_EQ(passes(text), "W 4 for 3 of main");
}

// main fills a store, whose keeper takes from it again and again: what it takes now may have been put there long ago.
std::string store(int taken) {
  std::string text = R"(
0 main create W
0 W    lock M
0 W    cwait C M took=2 from main
2 main lock M cpu=2
2 main signal C woke=1
2 main unlock M
2 W    unlock M
3 main lock M cpu=1
3 main signal C woke=0
3 main unlock M
)";
  for (int i = 0; i < taken; ++i)
    text += "4 W lock M cpu=0\n4 W unlock M\n";
  return text + "5 main end\n5 W end\n";
}

TEST(ConditionPasses, AreNoneOfWhoGoesOnWithoutNotificationsToo) {
  EXPECT_EQ(passes(store(1)), "W 3 for 2 of main");
  EXPECT_EQ(passes(store(2)), "");
}

TEST(ConditionPasses, AreNoneWhereAMutexServesTwoConditionsOfTheThread) {
  EXPECT_EQ(passes(worker), "W 3 for 2 of main");
  EXPECT_EQ(passes(with(worker, "15 W    end", R"(15 W    lock M
15 W    cwait D M took=0 from main
15 main signal D woke=1
15 W    unlock M
15 W    end)")),
            "");
}

TEST(ConditionPasses, AreNoneOfWhoNeverWaits) {
  EXPECT_EQ(passes(R"(
0 main create W
0 main create V
0 V    lock M
0 V    cwait C M took=1 from main
1 main lock M cpu=1
1 main signal C woke=1
1 main unlock M
1 V    unlock M
1 W    lock M
1 W    unlock M
1 W    end
1 V    end
1 main end
)"),
            "");
}

}  // namespace
}  // namespace longpole::simulation
