#include "analysis/quartz.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>

#include "programs.h"
#include "rows.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

using simulation::Schedule;
using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;

QuartzReport quartz_of(const Recording& recording, std::uint32_t cpus,
                       Scheduler scheduler = Scheduler::shared) {
  const Schedule schedule = simulation::simulate_ideal(recording);
  return Quartz(recording, schedule).report(cpus, scheduler);
}

std::string calls_text(const std::optional<std::uint64_t>& calls) {
  return calls ? fmt::to_string(*calls) : "?";
}

// {"merge 2/5 x3 [4 1]", …}: normalized itself/in total in milliseconds, calls, terms of the total.
std::vector<std::string> rows_of(const Recording& recording, const QuartzReport& report) {
  std::vector<std::string> lines;
  for (const QuartzRow& row : report.rows) {
    std::vector<double> terms = row.total.terms_ns;
    for (double& term : terms)
      term /= 1e6;
    lines.push_back(fmt::format("{} {:g}/{:g} x{} [{:g}]", name_of(recording, row.entity),
                                row.self.normalized_ns / 1e6, row.total.normalized_ns / 1e6,
                                calls_text(row.calls), fmt::join(terms, " ")));
  }
  return lines;
}

// {"program 9", "  main 9", "    mutex 4 x2", …}: from the top down.
std::vector<std::string> tree_of(const Recording& recording, const QuartzReport& report) {
  std::vector<std::string> lines;
  const auto print = [&](const auto& self, std::size_t node, std::size_t depth) -> void {
    const QuartzNode& at = report.tree[node];
    lines.push_back(fmt::format("{:{}}{} {:g} x{}", "", 2 * depth, name_of(recording, at.entity),
                                at.normalized_ns / 1e6, calls_text(at.calls)));
    for (std::size_t child = node + 1; child < report.tree.size(); ++child) {
      if (report.tree[child].parent == node)
        self(self, child, depth + 1);
    }
  };
  print(print, 0, 0);
  return lines;
}

const QuartzRow& row_of(const Recording& recording, const QuartzReport& report,
                        const std::string& name) {
  for (const QuartzRow& row : report.rows) {
    if (name_of(recording, row.entity) == name)
      return row;
  }
  ADD_FAILURE() << "no row for " << name;
  return report.rows.front();
}

// From 0 to 1 main runs alone, to 3 all three threads, to 5 main and A, to 6 A. On two CPUs.
TEST(Quartz, EachStretchIsDividedByTheBusyCpus) {
  const Recording recording = read_text(R"(
thread main
  run start 1
  enter outer
  create A
  create B
  run own 4
  leave outer
thread A
  run work 5
thread B
  run work 2
)");
  const QuartzReport report = quartz_of(recording, 2);
  EXPECT_EQ(report.total_ns, 7e6);
  EXPECT_EQ(report.most_busy, 2U);
  EXPECT_FALSE(report.more_busy);
  EXPECT_THAT(rows_of(recording, report),
              ElementsAre("program 0/7 x? [2 5]", "thread main 3/7 x? [2 5]", "outer 0/6 x1 [1 5]",
                          "work 4/4 x2 [1 3]", "thread A 3/3 x? [1 2]", "own 2/2 x1 [0 2]",
                          "start 1/1 x1 [1 0]", "thread B 1/1 x? [0 1]"));
  EXPECT_THAT(
      tree_of(recording, report),
      ElementsAre("program 7 x?", "  outer 6 x1", "    work 4 x2", "    own 2 x1", "  start 1 x1"));
  // With a CPU for each, the stretch of three threads is a term of its own.
  EXPECT_THAT(rows_of(recording, quartz_of(recording, 2, Scheduler::ideal)),
              Contains("work 3.33333/3.33333 x2 [1 1 1.33333]"));
}

TEST(Quartz, StatesCarryHowManyCouldRunMeanwhile) {
  const Recording recording = read_text(R"(
thread A
  run a 4
  lock M
  run a 2
  unlock M
thread B
  run b 3
  lock M
  run b 3
  unlock M
thread C
  run c 2
)");
  // 0-2: A B C; 2-3: A B; 3-4: A, and B has M; 4-6: B, and A waits; 6-8: A.
  const QuartzReport report = quartz_of(recording, 2);
  const auto state = [&](const std::string& name, ThreadState which) {
    return row_of(recording, report, name).total.states.at(static_cast<std::size_t>(which));
  };
  EXPECT_THAT(state("thread A", ThreadState::busy).at_runnable, ElementsAre(0, 2e6, 2e6, 2e6));
  EXPECT_EQ(state("thread A", ThreadState::busy).average_runnable, 2);
  // Two of three run on two CPUs for 3 ms: each is ready for 1 ms of them.
  EXPECT_THAT(state("thread A", ThreadState::ready).at_runnable, ElementsAre(0, 0, 0, 1e6));
  EXPECT_EQ(state("thread A", ThreadState::ready).average_runnable, 3);
  EXPECT_THAT(state("M", ThreadState::blocked).at_runnable, ElementsAre(0, 2e6));
  EXPECT_EQ(state("M", ThreadState::busy).time_ns, 5e6);
  EXPECT_EQ(state("program", ThreadState::busy).time_ns, 14e6);
  EXPECT_EQ(state("program", ThreadState::ready).time_ns, 3e6);
  EXPECT_EQ(state("program", ThreadState::blocked).time_ns, 2e6);
}

// Waiting takes longer, too, where those who run share the CPUs.
TEST(Quartz, WaitingIsStretchedLikeTheRest) {
  const Recording recording = read_text(R"(
thread A
  run a 1
  sleep 2
  run a 1
thread B
  run b 3
thread C
  run c 3
)");
  const QuartzReport report = quartz_of(recording, 1);
  EXPECT_EQ(report.total_ns, 8e6);
  const StateTime& blocked = row_of(recording, report, "thread A")
                                 .self.states.at(static_cast<std::size_t>(ThreadState::blocked));
  EXPECT_THAT(blocked.at_runnable, ElementsAre(0, 0, 4e6));
  EXPECT_EQ(blocked.average_runnable, 2);
}

TEST(Quartz, ACriticalSectionIsChargedToItsLock) {
  const Recording recording = read_text(R"(
thread A
  enter worker
  run compute 4
  lock M
  run merge 2
  enter sort
  run swap 1
  leave sort
  unlock M
  run compute 1
  leave worker
)");
  const QuartzReport report = quartz_of(recording, 1);
  EXPECT_THAT(tree_of(recording, report),
              ElementsAre("program 8 x?", "  worker 8 x1", "    compute 5 x2", "    M 3 x1",
                          "      merge 2 x1", "      sort 1 x1", "        swap 1 x1"));
  EXPECT_EQ(row_of(recording, report, "M").total.normalized_ns, 3e6);
}

// A function that takes the lock and returns is not what the critical section belongs to; locks are
// undone in any order; while it waits for a condition a thread does not have the mutex.
TEST(Quartz, LocksStandWhereTheirHolderIs) {
  const Recording recording = read_text(R"(
thread A
  enter worker
  enter acquire
  lock M
  leave acquire
  lock N
  run both 2
  unlock M
  run one 1
  cwait C N
  run after 1
  unlock N
  leave worker
thread B
  run other 5
  signal C
)");
  const QuartzReport report = quartz_of(recording, 2, Scheduler::ideal);
  EXPECT_THAT(tree_of(recording, report),
              ElementsAre("program 6 x?", "  other 3.5 x1", "  worker 2.5 x1", "    N 1.5 x0",
                          "      after 1 x1", "      one 0.5 x1", "    M 1 x0", "      N 1 x1",
                          "        both 1 x1", "    acquire 0 x1", "      M 0 x1", "    C 0 x1"));
}

TEST(Quartz, RecursionIsCountedOnce) {
  const Recording recording = read_text(R"(
thread A
  enter f
  run leaf 1
  enter f
  run leaf 2
  enter g
  run leaf 4
  enter f
  run leaf 8
  leave f
  leave g
  leave f
  leave f
)");
  const QuartzReport report = quartz_of(recording, 1);
  EXPECT_THAT(rows_of(recording, report),
              ElementsAre("program 0/15 x? [15]", "f 0/15 x3 [15]", "leaf 15/15 x4 [15]",
                          "thread A 15/15 x? [15]", "g 0/12 x1 [12]"));
  // What the inner f does is done below it, not below g once more.
  std::vector<std::string> children;
  for (const QuartzChild& child : row_of(recording, report, "f").children)
    children.push_back(fmt::format("{} {:g} x{}", name_of(recording, report.rows[child.row].entity),
                                   child.normalized_ns / 1e6, calls_text(child.calls)));
  EXPECT_THAT(children, ElementsAre("leaf 11 x3", "g 4 x1"));
}

// A recording: the line that called a lock is in the call path, frames of the system are left out.
TEST(Quartz, CallPathsOfARecordingAreTheUsersOwn) {
  Recording recording;
  recording.run.source = Source::kernel;
  recording.files = {{"/home/me/sorter.cc", "", false}, {"/usr/include/mutex", "", true}};
  recording.functions = {{"main", FileId{0}, 1, 9, {}},
                         {"worker", FileId{0}, 10, 20, {}},
                         {"std::mutex::lock", FileId{1}, 5, 9, {}},
                         {"merge", FileId{0}, 30, 40, {}}};
  const auto frame = [&](StackId caller, std::uint32_t function, std::uint32_t line) {
    recording.stacks.push_back({caller, FunctionId{function}, FileId{0}, line, false});
    return StackId{static_cast<std::uint32_t>(recording.stacks.size() - 1)};
  };
  const StackId creates = frame(StackId::none(), 0, 5);
  const StackId takes = frame(frame(StackId::none(), 1, 12), 2, 6);
  const StackId merging = frame(frame(StackId::none(), 1, 13), 3, 31);
  const StackId working = frame(StackId::none(), 1, 11);
  recording.profiles = {{true, {{creates, 0}}}, {true, {{working, 0}}}, {true, {{merging, 0}}}};
  recording.objects = {{ObjectKind::mutex, "M", {}, 0}};
  const auto event = [](EventKind kind, std::uint32_t subject, int ms, std::uint32_t profile,
                        StackId site) {
    return Event{.cpu = std::chrono::milliseconds(ms),
                 .subject = subject,
                 .site = site,
                 .profile = ProfileId{profile},
                 .kind = kind};
  };
  recording.threads = {
      Thread{.name = "main",
             .events = {event(EventKind::thread_create, 1, 1, 0, creates),
                        event(EventKind::thread_join, 1, 0, 0, creates),
                        event(EventKind::thread_end, unknown_count, 1, 0, StackId::none())}},
      Thread{.name = "T",
             .start_function = FunctionId{1},
             .creator = ThreadId{0},
             .events = {event(EventKind::mutex_lock, 0, 4, 1, takes),
                        event(EventKind::mutex_unlock, 0, 3, 2, working),
                        event(EventKind::thread_end, unknown_count, 2, 1, StackId::none())}}};
  ASSERT_TRUE(validate(recording).has_value()) << validate(recording).error().text();
  const QuartzReport report = quartz_of(recording, 1);
  EXPECT_THAT(tree_of(recording, report),
              ElementsAre("program 11 x?", "  main 11 x?", "    worker 9 x1", "      M 3 x1",
                          "        merge 3 x?"));
  EXPECT_EQ(report.tree[2].self_normalized_ns, 6e6);
}

// A call comes with its line only: where samples say that its function is called from, it was.
TEST(Quartz, CallsAreWhereTheirFunctionsAreSampled) {
  Recording recording;
  recording.run.source = Source::portable;
  recording.files = {{"/home/me/sorter.cc", "", false}};
  for (const char* name : {"worker", "update", "add"})
    recording.functions.push_back({name, FileId{0}, 1, 9, {}});
  const auto frame = [&](StackId caller, std::uint32_t function) {
    recording.stacks.push_back({caller, FunctionId{function}, FileId{0}, 5, false});
    return StackId{static_cast<std::uint32_t>(recording.stacks.size() - 1)};
  };
  const StackId worker = frame(StackId::none(), 0);
  const StackId update = frame(worker, 1);
  const StackId add = frame(update, 2);
  const StackId call = frame(StackId::none(), 1);  // in update
  recording.profiles = {{false, {{worker, 3}}}, {false, {{update, 1}, {add, 1}}}};
  recording.objects = {{ObjectKind::mutex, "M", {}, 0}};
  const auto event = [](EventKind kind, int ms, std::uint32_t profile, StackId site) {
    return Event{.cpu = std::chrono::milliseconds(ms),
                 .subject = kind == EventKind::thread_end ? unknown_count : 0,
                 .site = site,
                 .profile = ProfileId{profile},
                 .kind = kind};
  };
  recording.threads = {Thread{.name = "main",
                              .start_function = FunctionId{0},
                              .events = {event(EventKind::mutex_lock, 4, 0, call),
                                         event(EventKind::mutex_unlock, 6, 1, call),
                                         event(EventKind::thread_end, 1, 0, StackId::none())}}};
  ASSERT_TRUE(validate(recording).has_value()) << validate(recording).error().text();
  EXPECT_THAT(tree_of(recording, quartz_of(recording, 1)),
              ElementsAre("program 11 x?", "  worker 11 x1", "    update 6 x?", "      M 6 x1",
                          "        add 3 x?"));
}

TEST(Quartz, OfNothingIsNothing) {
  const QuartzReport report = quartz_of(Recording{}, 4);
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows.front().total.normalized_ns, 0);
  EXPECT_TRUE(report.rows.front().total.terms_ns.empty());
}

// From 256 threads at once numbers are taken together; sums stay exact.
TEST(Quartz, VeryManyThreadsAreTakenTogether) {
  std::string program;
  for (int i = 1; i <= 300; ++i)
    program += fmt::format("thread T{}\n  run f {}\n", i, i);
  program += "thread waits\n  sleep 400\n";
  const Recording recording = read_text(program);
  for (const std::uint32_t cpus : {8U, 280U, 400U}) {
    const QuartzReport report = quartz_of(recording, cpus);
    EXPECT_TRUE(report.more_busy);
    EXPECT_EQ(report.most_busy, std::min(cpus, 256U));
    double elapsed = 0;
    double squares = 0;  // Σ elapsed · runnable
    for (int running = 1; running <= 300; ++running) {
      elapsed += 1e6 * std::max(1.0, double{1} * running / cpus);
      squares += 1e6 * std::max(1.0, double{1} * running / cpus) * running;
    }
    EXPECT_THAT(row_of(recording, report, "f").total.normalized_ns, DoubleNear(elapsed, 1));
    EXPECT_THAT(std::accumulate(report.rows[0].total.terms_ns.begin(),
                                report.rows[0].total.terms_ns.end(), 0.0),
                DoubleNear(elapsed, 1));
    EXPECT_THAT(report.total_ns, DoubleNear(elapsed + 100e6, 1));
    const StateTime& blocked = row_of(recording, report, "thread waits")
                                   .total.states.at(static_cast<std::size_t>(ThreadState::blocked));
    EXPECT_THAT(blocked.time_ns, DoubleNear(elapsed + 100e6, 1));
    EXPECT_THAT(blocked.average_runnable, DoubleNear(squares / (elapsed + 100e6), 1e-6));
  }
}

}  // namespace
}  // namespace longpole::analysis
