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

}  // namespace
}  // namespace longpole::simulation
