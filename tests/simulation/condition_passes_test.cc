// Threads that found done what they would have waited for.
#include "simulation/condition_passes.h"

#include <gtest/gtest.h>

#include "machine_table.h"
#include "schedule_table.h"
#include "simulation/condition_pairs.h"
#include "simulation/simulate.h"
#include "trace/recording_text.h"

namespace longpole::simulation {
namespace {

Recording recording_of(const std::string& text) {
  auto recording = read_recording_text(text, "test");
  EXPECT_TRUE(recording) << recording.error().text();
  return std::move(*recording);
}

std::string table_of_recording(const std::string& text) {
  const Recording recording = recording_of(text);
  return schedule_table(recording, simulate_ideal(recording));
}

// By the line of each thread's locks: "W 2 for 2 of main", a pass a word.
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

// On one CPU the worker had not come to wait for its second task when it was given.
constexpr const char* worker = R"(
0  main create W
0  W    lock M
0  W    cwait C M took=2 from main
2  main lock M cpu=2
2  main signal C woke=1
2  main unlock M
2  W    unlock M cpu=0
10 main lock M cpu=8
10 main signal C woke=0
10 main unlock M
11 W    lock M cpu=1
11 W    unlock M
12 W    end cpu=1
12 main end
)";

TEST(ConditionPasses, AWorkerDoesNotBeginATaskBeforeItIsGiven) {
  EXPECT_EQ(table_of_recording(worker),
            R"(main: create@0 lock 0-2 signal@2 unlock@2 lock 2-10 signal@10 unlock@10 end@10
W: lock@0 cwait@0 unlock@2 lock 2-3 unlock@10 end 10-11
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
W: lock@0, cwait@0, blocked 0-2 by main, cwait@2, unlock@2, cpu1 2-3 lock, blocked 3-10 by main, lock@10, unlock@10, cpu1 10-11 end
)");
}

TEST(ConditionPasses, WhatHasBeenGivenIsTakenAtOnce) {
  std::string text = worker;
  text.replace(text.find("11 W    lock M cpu=1"), 20, "19 W    lock M cpu=9");
  text.replace(text.find("11 W    unlock M"), 16, "19 W    unlock M");
  text.replace(text.find("12 W    end cpu=1"), 17, "20 W    end cpu=1");
  text.replace(text.find("12 main end"), 11, "20 main end");
  EXPECT_EQ(table_of_recording(text),
            R"(main: create@0 lock 0-2 signal@2 unlock@2 lock 2-10 signal@10 unlock@10 end@10
W: lock@0 cwait@0 unlock@2 lock 2-11 unlock@11 end 11-12
)");
}

// It takes the second task while main is about to say that it is there.
TEST(ConditionPasses, ATaskIsThereWhenItsMutexIsLeft) {
  EXPECT_EQ(passes(R"(
0  main create W
0  W    lock M
0  W    cwait C M took=2 from main
2  main lock M cpu=2
2  main unlock M
2  main signal C woke=1
2  W    unlock M
5  main lock M cpu=3
5  main unlock M
6  W    lock M cpu=1
6  W    unlock M
7  main signal C woke=0 cpu=1
7  main end
7  W    end
)"),
            "W 3 for 2 of main");
}

// Of several that were made meanwhile it asks for the first, and not for its own.
TEST(ConditionPasses, AreForTheFirstThatAnotherMadeSinceTheMutexWasLeft) {
  EXPECT_EQ(passes(R"(
0  main create W
0  main lock M
0  main signal C woke=0
0  main unlock M
0  W    lock M
0  W    cwait C M took=2 from main
2  main lock M cpu=2
2  main signal C woke=1
2  main unlock M
2  W    unlock M
2  W    signal C woke=0
5  main lock M cpu=3
5  main signal C woke=0
5  main unlock M
6  main lock M cpu=1
6  main signal C woke=0
6  main unlock M
7  W    lock M cpu=1
7  W    unlock M
7  main end
7  W    end
)"),
            "W 4 for 3 of main");
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
  std::string text = worker;
  text.replace(text.find("12 W    end"), 11, R"(12 W    lock M
12 W    cwait D M took=0 from main
12 main signal D woke=1
12 W    unlock M
12 W    end)");
  EXPECT_EQ(passes(worker), "W 3 for 2 of main");
  EXPECT_EQ(passes(text), "");
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
