// The three simulation models (thesis, Paper VIII), a CPU for each thread.
#include "simulation/models.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "../analysis/random_program.h"
#include "../trace/random_recording.h"
#include "machine_table.h"
#include "schedule_table.h"
#include "simulation/simulate.h"
#include "trace/program_text.h"
#include "trace/recording_text.h"

namespace longpole::simulation {
namespace {

Recording golden(const std::string& name) {
  std::ifstream file(std::string(LONGPOLE_GOLDEN "/") + name);
  std::stringstream text;
  text << file.rdbuf();
  return *read_recording_text(text.str(), name);
}

Schedule ideal(const Recording& recording, const Models& models) {
  const std::optional<WaitFors> pairs = pair_waits(recording, models);
  return simulate_ideal(recording, &*pairs);
}

std::string table(const Recording& recording, Model model) {
  return schedule_table(recording, ideal(recording, {model}));
}

// Two CPUs under fixed priorities, P1 and P2 bound to the first, P3 and P4 to the second.
std::string table_of_p(Model model) {
  const Recording recording = golden("model-p.rec");
  Machine machine;
  machine.scheduler = SchedulerKind::fifo;
  machine.cpus = 2;
  for (const std::uint32_t cpu : {0U, 0U, 1U, 1U})
    machine.threads.emplace_back().cpu = cpu;
  const std::optional<WaitFors> pairs = pair_waits(recording, {model});
  return machine_table(recording, *simulate(recording, machine, &*pairs));
}

// Figure 2: P1 takes P3's message at 3 and P2's at 7.
TEST(PaperP, Direct) {
  EXPECT_EQ(
      table_of_p(Model::direct),
      R"(P1: create@0, cpu0 0-1 create, cpu0 1-3 receive, cpu0 3-4 create, cpu0 4-5 receive, blocked 5-7 by P2, cpu0 7-9 end
P2: runnable 0-5 after P1, cpu0 5-7 send, runnable 7-9 after P1, cpu0 9-10 end
P3: blocked 0-1 by P1, cpu1 1-3 send, cpu1 3-6 end
P4: blocked 0-4 by P1, runnable 4-6 after P3, cpu1 6-9 end
)");
}

TEST(PaperP, ClientServer) {
  EXPECT_EQ(
      table_of_p(Model::client_server),
      R"(P1: create@0, cpu0 0-1 create, cpu0 1-3 receive, cpu0 3-5 end, blocked 5-7 by P2, cpu0 7-8 create, cpu0 8-9 receive
P2: runnable 0-5 after P1, cpu0 5-7 send, runnable 7-9 after P1, cpu0 9-10 end
P3: blocked 0-1 by P1, cpu1 1-3 send, cpu1 3-6 end
P4: blocked 0-8 by P1, cpu1 8-11 end
)");
}

TEST(PaperP, Strict) {
  EXPECT_EQ(
      table_of_p(Model::strict),
      R"(P1: create@0, cpu0 0-1 create, cpu0 1-3 receive, blocked 3-5 by P2, cpu0 5-6 create, cpu0 6-7 receive, cpu0 7-9 end
P2: runnable 0-3 after P1, cpu0 3-5 send, runnable 5-9 after P1, cpu0 9-10 end
P3: blocked 0-1 by P1, cpu1 1-3 send, blocked 3-7 by P1, cpu1 7-10 end
P4: blocked 0-6 by P1, cpu1 6-7 cut, runnable 7-10 after P3, cpu1 10-12 end
)");
}

// Figure 5: P1 sends to the wrong thread at 5, P2 to nobody at 7.
TEST(PaperQ, Direct) {
  EXPECT_EQ(table(golden("model-q.rec"), Model::direct),
            R"(P1: create@0 create 0-1 receive 1-2 send 3-5
P2: send 0-7
P3: send 1-3 receive 3-4
deadlock at 7: P1 send since 5 P2 send since 7 P3 receive since 4
)");
}

// Figure 7: P1 takes P3's message first. It is over at 10, at the end of what P2's message began.
TEST(PaperQ, ClientServer) {
  EXPECT_EQ(table(golden("model-q.rec"), Model::client_server),
            R"(P1: create@0 create 0-1 receive 1-2 send 3-5 end 5-6 send 7-9 receive 9-10
P2: send 0-7 receive 7-8 end 9-10
P3: send 1-3 receive 3-4 end 5-6
)");
}

TEST(PaperQ, Strict) {
  EXPECT_EQ(table(golden("model-q.rec"), Model::strict),
            R"(P1: create@0 create 0-1 receive 1-2 send 7-9 receive 9-10 send 10-12 end 12-13
P2: send 0-7 receive 7-8 end 9-10
P3: send 1-3 receive 10-11 end 12-13
)");
}

TEST(PaperR, DirectAndClientServerStandStill) {
  EXPECT_EQ(ideal(golden("model-r.rec"), {Model::direct}).deadlock->threads.size(), 4U);
  // Figure 10: P1 sends to P2, who is not waiting, and is not there when P2 sends.
  EXPECT_EQ(table(golden("model-r.rec"), Model::client_server),
            R"(P1: create@0 create 0-1 create 1-2 receive 2-3 send 4-6 end 6-7 send 8-10
P2: send 0-12
P3: send 1-8 receive 8-9
P4: send 2-4 receive 4-5 end 6-7
deadlock at 12: P1 send since 10 P2 send since 12 P3 receive since 9
)");
}

// Figure 12.
TEST(PaperR, Strict) {
  const Schedule schedule = ideal(golden("model-r.rec"), {Model::strict});
  EXPECT_FALSE(schedule.deadlock);
  EXPECT_EQ(schedule.total, std::chrono::milliseconds(21));
}

// Written by hand; on one CPU A comes first everywhere. B is first where nobody minds.
struct Case {
  std::string name;
  std::string program;
  std::string direct;
  std::string strict;
};

void PrintTo(const Case& test, std::ostream* out) {
  *out << test.name;
}

class Programs : public testing::TestWithParam<Case> {};

TEST_P(Programs, RunAsTheModelSays) {
  const Recording recording =
      with_known_condition_counts(*read_program(GetParam().program, "test"));
  EXPECT_EQ(table(recording, Model::direct), GetParam().direct);
  EXPECT_EQ(table(recording, Model::strict), GetParam().strict);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Programs,
    testing::Values(Case{"Lock", R"(
thread A priority=2
  run f 3
  lock M
  run f 1
  unlock M
thread B priority=1
  run f 1
  lock M
  run f 1
  unlock M
)",
                         R"(A: run 0-3 lock@3 run 3-4 unlock@4 end@4
B: run 0-1 lock@1 run 1-2 unlock@2 end@2
)",
                         R"(A: run 0-3 lock@3 run 3-4 unlock@4 end@4
B: run 0-1 lock@1 run 4-5 unlock@5 end@5
)"},
                    Case{"WriterAfterBothReaders", R"(
thread A priority=3
  run f 3
  rdlock L
  run f 1
  rwunlock L
thread B priority=2
  run f 5
  rdlock L
  run f 1
  rwunlock L
thread D priority=1
  run f 1
  wrlock L
  rwunlock L
)",
                         R"(A: run 0-3 rdlock@3 run 3-4 rwunlock@4 end@4
B: run 0-5 rdlock@5 run 5-6 rwunlock@6 end@6
D: run 0-1 wrlock@1 rwunlock@1 end@1
)",
                         R"(A: run 0-3 rdlock@3 run 3-4 rwunlock@4 end@4
B: run 0-5 rdlock@5 run 5-6 rwunlock@6 end@6
D: run 0-1 wrlock@1 rwunlock@6 end@6
)"},
                    // The k-th wait is for the k-th post: A's for that of D, who comes later here.
                    Case{"Semaphore", R"(
thread A priority=4
  wait S
  run f 1
thread B priority=3
  wait S
  run f 1
thread D priority=2
  run f 5
  post S
thread E priority=1
  run f 1
  post S
)",
                         R"(A: wait@0 run 1-2 end@2
B: wait@0 run 5-6 end@6
D: run 0-5 post@5 end@5
E: run 0-1 post@1 end@1
)",
                         R"(A: wait@0 run 5-6 end@6
B: wait@0 run 1-2 end@2
D: run 0-5 post@5 end@5
E: run 0-1 post@1 end@1
)"},
                    // On one CPU B took up the mutex again before D did.
                    Case{"ConditionAndItsMutex", R"(
thread B priority=3
  lock M
  cwait C M
  run f 1
  unlock M
thread D priority=1
  run f 1
  lock M
  signal C
  unlock M
  run f 4
  lock M
  unlock M
thread E priority=2
  run f 9
)",
                         R"(B: lock@0 cwait@0 run 1-2 unlock@2 end@2
D: run 0-1 lock@1 signal@1 unlock@1 run 1-5 lock@5 unlock@5 end@5
E: run 0-9 end@9
)",
                         R"(B: lock@0 cwait@0 run 1-2 unlock@2 end@2
D: run 0-1 lock@1 signal@1 unlock@1 run 1-5 lock@5 unlock@5 end@5
E: run 0-9 end@9
)"},
                    // Four users of a barrier of two: A and B met on one CPU, then D and E.
                    Case{"BarrierByThoseWhoMet", R"(
thread A priority=4
  run f 5
  barrier B 2
thread B priority=3
  run f 1
  barrier B 2
thread D priority=2
  run f 1
  barrier B 2
thread E priority=1
  run f 5
  barrier B 2
)",
                         R"(A: run 0-5 barrier@5 end@5
B: run 0-1 barrier@1 end@1
D: run 0-1 barrier@1 end@1
E: run 0-5 barrier@5 end@5
)",
                         R"(A: run 0-5 barrier@5 end@5
B: run 0-1 barrier@1 end@5
D: run 0-1 barrier@1 end@5
E: run 0-5 barrier@5 end@5
)"}),
    [](const auto& test) { return test.param.name; });

TEST(Models, OfOneObjectAlone) {
  const Recording recording = *read_program(R"(
thread A priority=2
  run f 3
  lock M
  unlock M
  lock N
  unlock N
thread B priority=1
  run f 1
  lock N
  unlock N
  lock M
  unlock M
)",
                                            "test");
  const auto end_of_b = [&](const Models& models) {
    return ideal(recording, models).segments.back().end / std::chrono::milliseconds(1);
  };
  EXPECT_EQ(end_of_b({}), 1);
  EXPECT_EQ(end_of_b({Model::strict}), 3);
  EXPECT_EQ(end_of_b({Model::direct, {{ObjectId{0}, Model::strict}}}), 3);
  EXPECT_EQ(end_of_b({Model::strict, {{ObjectId{0}, Model::direct}, {ObjectId{1}, Model::direct}}}),
            1);
}

// W's wait for D is its first of those that are not strict.
TEST(Models, OfOneConditionAlone) {
  const Recording recording = *read_recording_text(R"(
0  W lock M
0  W cwait C M took=5 from P
5  P signal C woke=1
5  W unlock M cpu=0
5  W lock N
5  W cwait D N took=5 from Q
10 Q signal D woke=1
10 W unlock N cpu=0
)",
                                                   "test");
  for (std::uint32_t i = 0; i < recording.objects.size(); ++i) {
    EXPECT_EQ(schedule_table(recording,
                             ideal(recording, {Model::direct, {{ObjectId{i}, Model::strict}}})),
              R"(W: lock@0 cwait@0 unlock@5 lock@5 cwait@5 unlock@5 end@5
P: signal 0-5 end@5
Q: signal 0-5 end@5
)") << recording.objects[i].name;
  }
}

// In order of arrival A waits for C, C for B and B for A; as the one CPU ran them, C reads past B.
TEST(Models, AReaderThatWouldDeadlockBehindAWriterGoesPastIt) {
  const Recording recording = *read_program(R"(
thread A
  rdlock L
  wait S
  rwunlock L
thread B
  run f 1
  wrlock L
  rwunlock L
thread C
  run f 2
  rdlock L
  rwunlock L
  post S
)",
                                            "test");
  const Schedule schedule = simulate_ideal(recording);
  EXPECT_FALSE(schedule.deadlock);
  EXPECT_EQ(schedule.total, std::chrono::milliseconds(2));
}

TEST(Models, AConditionGoesWithItsMutex) {
  const Recording recording = *read_program(R"(
thread A
  lock M
  cwait C M
  unlock M
thread B
  lock N
  lock M
  signal C
  unlock M
)",
                                            "test");
  ASSERT_EQ(recording.objects.size(), 3U);
  for (const char* const chosen : {"M", "C"}) {
    Models models;
    for (std::uint32_t i = 0; i < 3; ++i) {
      if (recording.objects[i].name == chosen)
        models.objects.push_back({ObjectId{i}, Model::strict});
    }
    const std::vector<Model> of = models_of_objects(recording, models);
    for (std::uint32_t i = 0; i < 3; ++i)
      EXPECT_EQ(of[i] == Model::strict, recording.objects[i].name != "N") << chosen;
  }
}

TEST(Models, AreNotToBeHadOfAProgramThatStandsStill) {
  const Recording recording = *read_program(R"(
thread A
  wait S
)",
                                            "test");
  EXPECT_TRUE(pair_waits(recording, {Model::direct}));
  EXPECT_FALSE(pair_waits(recording, {Model::strict}));
}

// A server that asks for its clients in turn, and clients that come in another one. It may take
// them as they come, but keeps to itself what it does with a lock in hand.
TEST(ClientServer, TakesRequestsAsTheyCome) {
  const Recording recording = *read_program(R"(
thread server priority=1
  wait first
  lock M
  wait second
  run f 1
  unlock M
  wait third
  run f 4
thread A priority=2
  run f 6
  post first
thread B priority=2
  run f 7
  post second
thread D priority=2
  run f 1
  post third
)",
                                            "test");
  EXPECT_EQ(table(recording, Model::client_server),
            R"(server: wait@0 run 1-5 end@5 lock@6 wait@6 run 7-8 unlock@8 wait@8
A: run 0-6 post@6 end@6
B: run 0-7 post@7 end@7
D: run 0-1 post@1 end@1
)");
}

Nanoseconds computing(const Schedule& schedule) {
  Nanoseconds sum{};
  for (const Segment& segment : schedule.segments)
    sum += segment.end - segment.start;
  return sum;
}

// In the order of the recording all goes on: strict never stands still, and nothing gets lost.
TEST(Models, OfRandomPrograms) {
  std::size_t simulated = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const auto program = read_program(analysis::random_program(seed), "random");
    ASSERT_TRUE(program);
    const Recording recording = with_known_condition_counts(*program);
    const std::optional<WaitFors> pairs = pair_waits(recording, {Model::strict});
    const Schedule direct = simulate_ideal(recording);
    if (!pairs)
      continue;
    const Schedule strict = simulate_ideal(recording, &*pairs);
    // Where a cancellation strikes is a question of time.
    const bool cancels = analysis::random_program(seed).find("cancel") != std::string::npos;
    ASSERT_TRUE(cancels || !strict.deadlock) << seed << "\n" << analysis::random_program(seed);
    const Schedule server = ideal(recording, {Model::client_server});
    if (direct.deadlock || server.deadlock)
      continue;
    ++simulated;
    if (!cancels) {
      EXPECT_EQ(computing(direct), computing(strict)) << seed;
      EXPECT_EQ(computing(direct), computing(server)) << seed;
    }
  }
  EXPECT_GT(simulated, 500U);
}

// Recordings of things that no program could have done: never a crash, never an endless loop.
// It was being cancelled by itself when the recording ended.
TEST(Models, AThreadThatCancelsItselfStandsStill) {
  Recording recording = *read_program("thread A\n  run f 1\n  cancel A\n", "test");
  recording.run.source = Source::kernel;
  recording.threads[0].events.pop_back();
  recording.threads[0].events.back().outcome = Outcome::unfinished;
  const Schedule schedule = simulate_ideal(recording);
  EXPECT_FALSE(schedule.deadlock);
  EXPECT_EQ(schedule.segments.size(), 2U);
  EXPECT_EQ(schedule.total, std::chrono::milliseconds(1));
}

TEST(Models, OfRandomRecordings) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    const Recording recording = tests::random_recording(seed);
    for (const Model model : {Model::direct, Model::client_server, Model::strict}) {
      const std::optional<WaitFors> pairs = pair_waits(recording, {model});
      if (pairs)
        static_cast<void>(simulate_ideal(recording, &*pairs));
    }
  }
}

}  // namespace
}  // namespace longpole::simulation
