// Conditions of recordings that say who ended which wait.
#include "simulation/condition_pairs.h"

#include <gtest/gtest.h>

#include "schedule_table.h"
#include "simulation/simulate.h"
#include "trace/recording_text.h"

namespace longpole::simulation {
namespace {

std::string table(const std::string& text) {
  const auto recording = read_recording_text(text, "test");
  if (!recording)
    return recording.error().text();
  return schedule_table(*recording, simulate_ideal(*recording));
}

// As pigz waits for its threads: whoever is done says so to a list, and main joins him with the list
// locked. In the recording A was done first; with a CPU each it is B. Were B's broadcast taken for
// A's, main would join A and never let it at the list.
TEST(ConditionPairs, AWaitIsForTheNotificationThatEndedItInTheRecording) {
  EXPECT_EQ(table(R"(
0  main create A
0  main create B
0  main lock M
0  main cwait C M took=6 from A
6  A    lock M cpu=6
6  A    broadcast C woke=1
6  A    unlock M
6  A    end
6  main join A
6  main cwait C M took=1 from B
7  B    lock M cpu=1
7  B    broadcast C woke=1
7  B    unlock M
7  B    end
7  main join B
7  main unlock M
7  main end
)"),
            R"(main: create@0 create@0 lock@0 cwait@0 join@6 cwait@6 join@6 unlock@6 end@6
A: lock 0-6 broadcast@6 unlock@6 end@6
B: lock 0-1 broadcast@1 unlock@1 end@1
)");
}

// Idle workers of a pool that wait at once: each is for the signal that ended its own wait, be it the first to
// come or not. Three find their task after 10, 20 and 30; the last to come was woken before the second.
constexpr const char* workers = R"(
0  W1 lock M
0  W1 cwait C M took=10 from P
0  W2 lock M
0  W2 cwait C M took=30 from P
0  W3 lock M
0  W3 cwait C M took=20 from P
10 P  signal C woke=1
10 W1 unlock M
20 P  signal C woke=1
20 W3 unlock M cpu=0
30 P  signal C woke=1
30 W2 unlock M cpu=0
30 W2 end
)";

TEST(ConditionPairs, EachWaitOfSeveralIsForItsOwnSignal) {
  EXPECT_EQ(table(workers),
            R"(W1: lock@0 cwait@0 unlock@10 end@10
P: signal 0-10 signal 10-20 signal 20-30 end@30
W2: lock@0 cwait@0 unlock@30 end@30
W3: lock@0 cwait@0 unlock@20 end@20
)");
}

TEST(ConditionPairs, ASignalOfUnknownEffectEndsOneWait) {
  std::string text = workers;
  for (std::size_t at; (at = text.find(" woke=1")) != std::string::npos;)
    text.erase(at, 7);
  EXPECT_EQ(table(text), table(workers));
}

// Consumers that were all woken, of whom one found nothing and waited again. With a CPU each, B comes
// to wait when both broadcasts have been; nobody waits for it.
TEST(ConditionPairs, ABroadcastDoesNotWaitForConsumersOfAQueue) {
  EXPECT_EQ(table(R"(
0  main create A
0  main create B
0  A    lock M
0  A    cwait C M took=6 from main
4  B    lock M cpu=4
4  B    cwait C M took=2 from main
6  main broadcast C woke=2 cpu=2
6  B    cwait C M took=3 from main
6  A    unlock M
9  main broadcast C woke=1 cpu=0
9  A    end cpu=3
9  main end
9  B    unlock M
9  B    end
)"),
            R"(main: create@0 create@0 broadcast 0-2 broadcast@2 end@2
A: lock@0 cwait@0 unlock@2 end 2-5
B: lock 0-4 cwait@4 cwait@4 unlock@4 end@4
)");
}

// A was woken for nothing at 2, when the only broadcast so far was long over, and waits again. With a CPU
// each, main's second broadcast comes before B's wait, and does not wait for it.
TEST(ConditionPairs, AWaitThatEndsForNothingLastsForNothing) {
  EXPECT_EQ(
      table(R"(
0  main create A
0  main create B
0  main lock M
0  main broadcast C woke=0
0  main unlock M
1  A    lock M cpu=1
1  A    cwait C M took=1
2  A    cwait C M took=10 from main
5  B    lock M cpu=3
5  B    cwait C M took=7 from main
12 main lock M cpu=2
12 main broadcast C woke=2
12 main unlock M
12 A    unlock M
12 A    end
12 B    unlock M
12 B    end
12 main end
)"),
      R"(main: create@0 create@0 lock@0 broadcast@0 unlock@0 lock 0-2 broadcast@2 unlock@2 end@2
A: lock 0-1 cwait@1 cwait@1 unlock@2 end@2
B: lock 0-3 cwait@3 unlock@3 end@3
)");
}

// Nobody is known to have woken A, but a signal that woke nobody was made meanwhile.
TEST(ConditionPairs, AWaitThatNobodyIsKnownToHaveEndedIsForTheLastNotificationMeanwhile) {
  EXPECT_EQ(table(R"(
0  main create A
0  A    lock M
0  A    cwait C M took=4
3  main signal C woke=0 cpu=3
4  main signal C woke=0 cpu=1
4  A    cwait C M took=3 from main
7  main signal C woke=1 cpu=3
7  main end
7  A    unlock M
7  A    end
)"),
            R"(main: create@0 signal 0-3 signal 3-4 signal 4-7 end@7
A: lock@0 cwait@0 cwait@4 unlock@7 end@7
)");
}

// Three threads and a barrier made of a condition. D was last in the recording and is first here.
TEST(ConditionPairs, ABarrierStaysABarrier) {
  EXPECT_EQ(table(R"(
5  A lock M cpu=5
5  A cwait C M took=9 from D
12 B lock M cpu=7
12 B cwait C M took=2 from D
14 D lock M cpu=2
14 D broadcast C woke=2
14 D unlock M
15 D end cpu=1
15 B unlock M
16 B end cpu=1
16 A unlock M
17 A end cpu=1
)"),
            R"(A: lock 0-5 cwait@5 unlock@7 end 7-8
D: lock 0-2 broadcast@2 unlock@7 end 7-8
B: lock 0-7 cwait@7 unlock@7 end 7-8
)");
}

// main asks every 4 ms whether A is done; on the one CPU that took it 11 ms, beside B.
constexpr const char* polling = R"(
0   main create A
0   main create B
0   main lock M
0   main ctimedwait C M 4 timeout
2   A    run f 2
4   B    run f 2
4.5 main ctimedwait C M 4 timeout cpu=0.5
6.5 A    run f 2
8.5 B    run f 2
9   main ctimedwait C M 4 ok cpu=0.5 from A
11  A    lock M cpu=2
11  A    signal C woke=1
11  A    unlock M
11  A    end
13  B    end cpu=2
13  main unlock M
14  main end cpu=1
)";

// With a CPU each, A is done at 6: the first turn takes its time, the second is cut short, the wait
// after it is over at once.
TEST(ConditionPairs, ATimedWaitEndsWithWhatEndedItsLoop) {
  EXPECT_EQ(
      table(polling),
      R"(main: create@0 create@0 lock@0 ctimedwait@0 ctimedwait 0~4 ctimedwait 4-4.5 ctimedwait 6-6.5 unlock@6.5 end 6.5-7.5
A: run 0-2 run 2-4 lock 4-6 signal@6 unlock@6 end@6
B: run 0-2 run 2-4 end 4-6
)");
}

TEST(ConditionPairs, PollingDoesNotMakeOneCpuSlowerThanItWas) {
  const auto recording = read_recording_text(polling, "test");
  const auto steps = concurrency(simulate_ideal(*recording));
  EXPECT_TRUE(shared_completion_times_cpus(steps, 1) == 14'000'000);
}

// A is done before main asks for the first time.
TEST(ConditionPairs, ATimedWaitForWhatHasBeenTakesNoTime) {
  EXPECT_EQ(table(R"(
0   main create A
0   main lock M cpu=3
3   main ctimedwait C M 4 timeout cpu=0
7   main ctimedwait C M 4 timeout cpu=1
11  A    signal C woke=1 cpu=2
11  A    end
11  main ctimedwait C M 4 ok from A cpu=0
12  main end cpu=1
)"),
            R"(main: create@0 lock 0-3 ctimedwait@3 ctimedwait 3-4 ctimedwait@4 end 4-5
A: signal 0-2 end@2
)");
}

// The last turn timed out while A was about to signal; main found the predicate true when it looked.
TEST(ConditionPairs, ALoopThatNoWaitEndedEndsWithTheNextNotification) {
  EXPECT_EQ(table(R"(
0   main create A
0   main lock M
0   main ctimedwait C M 4 timeout
5   main unlock M cpu=1
5   main run f 1
6   A    signal C woke=0 cpu=1
6   A    end
6   main end
)"),
            R"(main: create@0 lock@0 ctimedwait@0 unlock 1-2 run 2-3 end@3
A: signal 0-1 end@1
)");
}

TEST(ConditionPairs, ATimedWaitThatNobodyNotifiesIsADelay) {
  EXPECT_EQ(table(R"(
0   main lock M
0   main ctimedwait C M 4 timeout
1   A    run f 1
1   A    end
4   main unlock M
4   main end cpu=0
)"),
            R"(main: lock@0 ctimedwait@0 ctimedwait 0~4 unlock@4 end@4
A: run 0-1 end@1
)");
}

// Woken at 2, it has to wait for the mutex till 3.
TEST(ConditionPairs, AWaitCutShortTakesItsMutexAgain) {
  const auto recording = read_recording_text(R"(
0 main create A
0 main create B
0 main lock M
0 main ctimedwait C M 4 timeout
0 B    lock M
3 B    unlock M
3 B    end
4 main ctimedwait C M 9 ok cpu=0 from A
5 A    signal C woke=1 cpu=2
5 A    end
5 main unlock M
6 main end
)",
                                             "test");
  for (const Model model : {Model::direct, Model::strict}) {
    const auto pairs = pair_waits(*recording, {model});
    EXPECT_EQ(schedule_table(*recording, simulate_ideal(*recording, &*pairs)),
              R"(main: create@0 create@0 lock@0 ctimedwait@0 ctimedwait@3 unlock@3 end 3-4
A: signal 0-2 end@2
B: lock@0 unlock 0-3 end@3
)") << name_of(model);
  }
}

}  // namespace
}  // namespace longpole::simulation
