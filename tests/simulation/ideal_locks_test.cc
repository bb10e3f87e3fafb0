// Locks, with a CPU for each thread.
#include "ideal_example.h"

namespace longpole::simulation {
namespace {

class IdealLocks : public IdealTest {};

TEST_P(IdealLocks, RunsAsWritten) {
  expect_it_runs_as_written();
}

INSTANTIATE_TEST_SUITE_P(
    Locks, IdealLocks,
    testing::Values(
        IdealCase{"HandedOverInOrderOfArrival", R"(
thread A
  lock M
  run f 5
  unlock M
thread B
  run f 2
  lock M
  run f 5
  unlock M
thread C
  run f 1
  lock M
  run f 5
  unlock M
)",
                  R"(A: lock@0 run 0-5 unlock@5 end@5
B: run 0-2 lock@2 run 10-15 unlock@15 end@15
C: run 0-1 lock@1 run 5-10 unlock@10 end@10
)"},
        IdealCase{"TiesInThreadOrder", R"(
thread A
  lock M
  run f 1
  unlock M
thread B
  lock M
  run f 1
  unlock M
)",
                  R"(A: lock@0 run 0-1 unlock@1 end@1
B: lock@0 run 1-2 unlock@2 end@2
)"},
        IdealCase{"TryAndTimedOperations", R"(
thread A
  lock M
  run f 4
  unlock M
thread B
  run f 1
  trylock M busy
  run f 1
  trylock M ok
  run f 1
  unlock M
thread C
  run f 1
  timedlock M 2 timeout
  run f 4
  timedlock M 9 ok
  unlock M
)",
                  R"(A: lock@0 run 0-4 unlock@4 end@4
B: run 0-1 trylock@1 run 1-2 trylock@2 run 4-5 unlock@5 end@5
C: run 0-1 timedlock@1 timedlock 1~3 run 3-7 timedlock@7 unlock@7 end@7
)"},
        // B's try is the one that fails in a real run: it gives way, and A follows.
        IdealCase{"TriesForEachOthersLocks", R"(
thread A
  lock M
  run f 1
  trylock N ok
  run f 2
  unlock N
  unlock M
thread B
  lock N
  run f 1
  trylock M ok
  run f 2
  unlock M
  run f 1
  unlock N
)",
                  R"(A: lock@0 run 0-1 trylock@1 run 4-6 unlock@6 unlock@6 end@6
B: lock@0 run 0-1 trylock@1 run 1-3 unlock@3 run 3-4 unlock@4 end@4
)"},
        // C, that closes the ring, tries nothing; and D has M only when A has undone it.
        IdealCase{"TriesInARing", R"(
thread A
  lock M
  run f 1
  trylock N ok
  run f 2
  unlock N
  run f 1
  unlock M
thread B
  lock N
  run f 2
  lock O
  run f 1
  unlock O
  unlock N
thread C
  lock O
  run f 3
  lock M
  run f 1
  unlock M
  unlock O
thread D
  run f 1
  lock N
  run f 1
  unlock N
)",
                  R"(A: lock@0 run 0-1 trylock@1 run 3-5 unlock@5 run 5-6 unlock@6 end@6
B: lock@0 run 0-2 lock@2 run 7-8 unlock@8 unlock@8 end@8
C: lock@0 run 0-3 lock@3 run 6-7 unlock@7 unlock@7 end@7
D: run 0-1 lock@1 run 8-9 unlock@9 end@9
)"},
        IdealCase{"ATryInARingWithAMutexThatIsTakenBackAfterAWait", R"(
thread A
  lock N
  lock M
  cwait C M
  unlock M
  unlock N
thread B
  run f 1
  lock M
  trylock N ok
  run f 2
  unlock N
  unlock M
thread C
  run f 3
  signal C
)",
                  R"(A: lock@0 lock@0 cwait@0 unlock@5 unlock@5 end@5
B: run 0-1 lock@1 trylock@1 run 3-5 unlock@5 unlock@5 end@5
C: run 0-3 signal@3 end@3
)"},
        IdealCase{"RecursiveUse", R"(
thread A
  lock M
  lock M
  run f 1
  unlock M
  run f 1
  unlock M
thread B
  lock M
  run f 1
  unlock M
)",
                  R"(A: lock@0 lock@0 run 0-1 unlock@1 run 1-2 unlock@2 end@2
B: lock@0 run 2-3 unlock@3 end@3
)"},
        IdealCase{"UnlockOfWhatNobodyHolds", R"(
thread A
  unlock M
  lock M
  run f 1
  unlock M
  rwunlock L
  wrlock L
thread B
  lock M
  unlock M
)",
                  R"(A: unlock@0 lock@0 run 0-1 unlock@1 rwunlock@1 wrlock@1 end@1
B: lock@0 unlock@1 end@1
)"},
        IdealCase{"UnlockByAnotherThanTheHolder", R"(
thread A
  lock M
  run f 1
  lock M2
thread B
  run f 3
  unlock M
thread C
  run f 1
  lock M
  run f 1
  unlock M
)",
                  R"(A: lock@0 run 0-1 lock@1 end@1
B: run 0-3 unlock@3 end@3
C: run 0-1 lock@1 run 3-4 unlock@4 end@4
)"},
        IdealCase{"UnlockByAnotherBeforeTheLock", R"(
thread A
  run f 2
  lock M
thread B
  run f 1
  unlock M
thread C
  run f 3
  lock M
  unlock M
)",
                  R"(A: run 0-2 lock@2 end@2
B: run 0-1 unlock@1 end@1
C: run 0-3 lock@3 unlock@3 end@3
)"},
        IdealCase{"ALockThatIsKeptForEver", R"(
thread A
  lock M
thread B
  run f 1
  lock M
)",
                  R"(A: lock@0 end@0
B: run 0-1 lock@1
deadlock at 1: B lock since 1
)"},
        IdealCase{"LocksInOppositeOrder", R"(
thread A
  lock M
  run f 2
  lock N
  unlock N
  unlock M
thread B
  lock N
  run f 1
  lock M
  unlock M
  unlock N
thread C
  run f 9
)",
                  R"(A: lock@0 run 0-2 lock@2
B: lock@0 run 0-1 lock@1
C: run 0-9 end@9
deadlock at 2: A lock since 2 B lock since 1
)"},
        IdealCase{"ATryBesideARingOfOthers", R"(
thread A
  lock M
  run f 2
  lock N
thread B
  lock N
  run f 1
  lock M
thread C
  run f 3
  trylock M ok
)",
                  R"(A: lock@0 run 0-2 lock@2
B: lock@0 run 0-1 lock@1
C: run 0-3 trylock@3
deadlock at 3: A lock since 2 B lock since 1 C trylock since 3
)"},
        IdealCase{"ReadersShareAndWritersDoNot", R"(
thread A
  rdlock L
  run f 4
  rwunlock L
thread B
  run f 1
  rdlock L
  run f 4
  rwunlock L
thread C
  run f 2
  wrlock L
  run f 1
  rwunlock L
thread D
  run f 3
  rdlock L
  run f 1
  rwunlock L
thread E
  run f 3
  rdlock L
  run f 2
  rwunlock L
)",
                  R"(A: rdlock@0 run 0-4 rwunlock@4 end@4
B: run 0-1 rdlock@1 run 1-5 rwunlock@5 end@5
C: run 0-2 wrlock@2 run 5-6 rwunlock@6 end@6
D: run 0-3 rdlock@3 run 6-7 rwunlock@7 end@7
E: run 0-3 rdlock@3 run 6-8 rwunlock@8 end@8
)"},
        IdealCase{"AReaderMayReadAgainPastAWaitingWriter", R"(
thread A
  rdlock L
  run f 2
  rdlock L
  run f 1
  rwunlock L
  rwunlock L
thread B
  run f 1
  wrlock L
  rwunlock L
)",
                  R"(A: rdlock@0 run 0-2 rdlock@2 run 2-3 rwunlock@3 rwunlock@3 end@3
B: run 0-1 wrlock@1 rwunlock@3 end@3
)"}),
    name_of_case);

}  // namespace
}  // namespace longpole::simulation
