#include "analysis/study.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "analysis/forecast.h"
#include "programs.h"
#include "random_program.h"
#include "rows.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

FunctionRow function_at(const Study& study, const std::string& name, std::uint32_t cpus,
                        Scheduler scheduler = Scheduler::shared) {
  return row_of(study, study.functions(cpus, scheduler, WithHeadroom::no), name);
}

// Thesis, Paper VI, Figure 1: all functions take one unit. On three CPUs a counts for two, c and d
// for one, b for nothing; on one CPU b counts for three.
TEST(Study, Figure1) {
  const Study study = study_of(read_golden("figure1.prog"));
  const auto critical = [&](std::uint32_t cpus) {
    std::vector<double> values;
    for (const char* name : {"a", "b", "c", "d"})
      values.push_back(ms(function_at(study, name, cpus).critical_self_ns));
    return values;
  };
  EXPECT_THAT(critical(3), ElementsAre(2, 0, 1, 1));
  EXPECT_THAT(critical(1), ElementsAre(2, 3, 1, 1));
  EXPECT_EQ(function_at(study, "b", 3).calls, 3U);
  EXPECT_EQ(function_at(study, "b", 3).critical_calls, 0U);
  EXPECT_EQ(function_at(study, "a", 3).critical_calls, 2U);
  EXPECT_EQ(study.functions(1, Scheduler::shared, WithHeadroom::no).rows.front().calls, 3U);
}

TEST(Study, PredictsWhatThePaperCounts) {
  const Study study = study_of(read_golden("ecp-figure4.prog"));
  EXPECT_EQ(study.predict(2, Scheduler::shared).total_ns, 12e6);
  EXPECT_EQ(study.predict(3, Scheduler::shared).total_ns, 11e6);
  EXPECT_EQ(study.predict(1000, Scheduler::shared).total_ns, 11e6);
  EXPECT_EQ(study.predict(1, Scheduler::shared).total_ns, 20e6);
  EXPECT_DOUBLE_EQ(study.predict(2, Scheduler::shared).speedup, 20.0 / 12);
  const Prediction ideal = study.predict(1, Scheduler::ideal);
  EXPECT_EQ(ideal.total_ns, 11e6);
  EXPECT_EQ(ideal.cpus, 1U);
  EXPECT_EQ(ideal.speedup, 1);
  EXPECT_FALSE(ideal.deadlock);
}

// Under `ideal` everything is as with a CPU for each thread.
TEST(Study, IdealIsSharedWithEnoughCpus) {
  const Study study = study_of(read_golden("weight-above-one.prog"));
  const auto ideal = study.functions(1, Scheduler::ideal, WithHeadroom::no);
  const auto enough = study.functions(4, Scheduler::shared, WithHeadroom::no);
  EXPECT_EQ(ideal.cpus, 1U);
  EXPECT_EQ(ideal.total_ns, enough.total_ns);
  ASSERT_EQ(ideal.rows.size(), enough.rows.size());
  for (std::size_t i = 0; i < ideal.rows.size(); ++i) {
    EXPECT_EQ(ideal.rows[i].function, enough.rows[i].function);
    EXPECT_EQ(ideal.rows[i].critical_self_ns, enough.rows[i].critical_self_ns);
    EXPECT_EQ(ideal.rows[i].normalized_self_ns, enough.rows[i].normalized_self_ns);
  }
}

// DESIGN section 5: thread 2's g of Figure 4, from 2 to 3 ms, weighs 0.5 on two CPUs.
TEST(Study, SegmentsStandWhereTheyRunIdeally) {
  const Study study = study_of(read_golden("ecp-figure4.prog"));
  const auto table = study.segments(2, Scheduler::shared);
  std::vector<std::string> rows;
  for (const SegmentRow& row : table.rows)
    rows.push_back(fmt::format("{} {} {:g}-{:g} {:g}",
                               study.recording().threads[row.thread.index()].name,
                               study.recording().functions[row.function.index()].name,
                               ms(row.start_ns), ms(row.end_ns), row.weight));
  EXPECT_THAT(rows, ElementsAre("1 a 0-1 1", "1 b 1-5 1", "1 c 5-6 0", "1 e 7-8 0.5", "1 i 8-9 0.5",
                                "2 c 1-2 0", "2 g 2-3 0.5", "2 d 8-10 0", "3 d 2-4 0", "3 g 5-6 1",
                                "3 h 6-7 1", "3 a 7-8 0.5", "3 f 8-11 1"));
  double weighed = 0;
  for (const SegmentRow& row : table.rows)
    weighed += row.weight * (row.end_ns - row.start_ns);
  EXPECT_EQ(weighed, table.total_ns);
}

TEST(Study, WaitingIsALineOfItsOwn) {
  const Study study = study_of(read_text(R"(
thread A
  run f 2
  sleep 5
  run g 1
thread B
  run h 3
)"));
  const auto table = study.functions(2, Scheduler::shared, WithHeadroom::no);
  EXPECT_EQ(table.total_ns, 8e6);
  EXPECT_EQ(table.waiting_ns, 5e6);
  EXPECT_EQ(row_of(study, table, "f").critical_self_ns, 2e6);
  EXPECT_EQ(row_of(study, table, "f").critical_share, 0.25);
  EXPECT_EQ(row_of(study, table, "h").critical_self_ns, 0);
  const auto segments = study.segments(2, Scheduler::shared);
  ASSERT_EQ(segments.rows.size(), 4U);
  EXPECT_FALSE(segments.rows[1].running);
  EXPECT_FALSE(segments.rows[1].function.known());
}

// Ideally main exits at 10, in the third call of b; on one CPU bg, of higher priority, makes all ten before. The same of
// lines, which are functions here.
TEST(Study, WhatAMachineDoesBeforeAnExitThatIsIdeallyEarlierIsNoWaiting) {
  std::string text = "thread main\n  create bg\n  run m 10\n  exit\nthread bg priority=1\n";
  for (int i = 0; i < 10; ++i)
    text += i < 3 ? "  run b 4\n" : "  run late 4\n";
  const auto recording = std::make_shared<const Recording>(read_text(text));
  const Study study(recording);
  Computer computer = computer_named("fifo").value();
  const auto run = Forecaster(recording).execute(computer, {}).value().execution;
  const Table<FunctionRow> table = study.functions(*run);
  EXPECT_EQ(table.total_ns, 50e6);
  EXPECT_EQ(table.waiting_ns, 0);
  EXPECT_EQ(row_of(study, table, "b").critical_self_ns, 12e6);
  EXPECT_EQ(row_of(study, table, "late").critical_self_ns, 28e6);
  EXPECT_EQ(row_of(study, table, "m").critical_self_ns, 10e6);
  EXPECT_EQ(study.lines(*run).waiting_ns, 0);

  const ThreadId main{0};
  const Table<FunctionRow> of_main = study.functions(*run, *study.choose({&main, 1}));
  ASSERT_EQ(of_main.rows.size(), 1U);
  EXPECT_EQ(of_main.rows[0].critical_self_ns, 10e6);
}

// Ideally main exits before bg has begun; on one CPU bg goes first. It is not of the chosen threads all the same.
TEST(Study, AThreadThatIdeallyDoesNothingIsChosenOrNot) {
  const auto recording = std::make_shared<const Recording>(
      read_text("thread main\n  create bg\n  exit\nthread bg priority=1\n  run b 4\n"));
  const Study study(recording);
  const auto run =
      Forecaster(recording).execute(computer_named("fifo").value(), {}).value().execution;
  for (const std::uint32_t chosen : {0U, 1U}) {
    const ThreadId thread{chosen};
    const Table<FunctionRow> table = study.functions(*run, *study.choose({&thread, 1}));
    EXPECT_EQ(table.waiting_ns, 0);
    EXPECT_EQ(table.rows.size(), chosen);
  }
}

// Shares of all functions, or of all lines, and of waiting add up to the whole.
TEST(Study, SharesAddUp) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Study study = study_of(read_text(random_program(seed)));
    for (const std::uint32_t cpus : {1U, 2U, 3U, 8U}) {
      const auto functions = study.functions(cpus, Scheduler::shared, WithHeadroom::no);
      const auto lines = study.lines(cpus, Scheduler::shared);
      double of_functions = functions.waiting_ns;
      double normalized = 0;
      for (const FunctionRow& row : functions.rows) {
        of_functions += row.critical_self_ns;
        normalized += row.normalized_self_ns;
      }
      double of_lines = lines.waiting_ns;
      for (const LineRow& row : lines.rows)
        of_lines += row.critical_ns;
      EXPECT_THAT(of_functions, DoubleNear(functions.total_ns, 1e-9 * functions.total_ns));
      EXPECT_THAT(of_lines, DoubleNear(lines.total_ns, 1e-9 * lines.total_ns));

      // Quartz: the whole is the time during which any CPU was busy.
      double busy = 0;
      const auto steps = simulation::concurrency(study.ideal());
      for (std::size_t i = 1; i < steps.size(); ++i) {
        if (steps[i - 1].running > 0)
          busy += static_cast<double>((steps[i].time - steps[i - 1].time).count()) *
                  std::max(1.0, static_cast<double>(steps[i - 1].running) / cpus);
      }
      EXPECT_THAT(normalized, DoubleNear(busy, 1e-9 * busy));
    }
  }
}

// Invariants of random programs: never faster than with a CPU for each thread; on one CPU, when
// nothing sleeps, all work one after the other.
TEST(Study, PredictionsKeepTheirBounds) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Study study = study_of(read_text(random_program(seed)));
    const double ideal = study.predict(1, Scheduler::ideal).total_ns;
    double before = study.predict(1, Scheduler::shared).total_ns;
    double work = 0;
    for (const simulation::Segment& segment : study.ideal().segments)
      work += segment.running ? static_cast<double>((segment.end - segment.start).count()) : 0;
    double idle = 0;
    const auto steps = simulation::concurrency(study.ideal());
    for (std::size_t i = 1; i < steps.size(); ++i)
      idle += steps[i - 1].running == 0
                  ? static_cast<double>((steps[i].time - steps[i - 1].time).count())
                  : 0;
    EXPECT_EQ(before, work + idle);
    for (const std::uint32_t cpus : {2U, 3U, 4U, 64U}) {
      const double total = study.predict(cpus, Scheduler::shared).total_ns;
      EXPECT_GE(total, ideal);
      EXPECT_LE(total, before);
      before = total;
    }
  }
}

TEST(Study, NestedAndRecursiveFunctionsAreCountedOnce) {
  const Study study = study_of(read_text(R"(
thread A
  enter outer
  run leaf 1
  enter outer
  run leaf 2
  leave outer
  leave outer
  run leaf 4
)"));
  const FunctionRow outer = function_at(study, "outer", 1);
  EXPECT_EQ(outer.self_ns, 0);
  EXPECT_EQ(outer.total_ns, 3e6);
  EXPECT_EQ(outer.critical_total_ns, 3e6);
  EXPECT_EQ(outer.calls, 2U);
  EXPECT_EQ(outer.critical_calls, 2U);
  const FunctionRow leaf = function_at(study, "leaf", 1);
  EXPECT_EQ(leaf.self_ns, 7e6);
  EXPECT_EQ(leaf.total_ns, 7e6);
  EXPECT_EQ(leaf.calls, 3U);
}

// An entry that is followed by a wait, or left before anything is computed, is not on the path.
TEST(Study, AnEntryIsOnThePathWhenItsFirstStretchIs) {
  const Study study = study_of(read_text(R"(
thread A
  enter waits
  sleep 1
  run f 1
  leave waits
  enter empty
  leave empty
  run f 1
thread B
  enter idle
  run f 500us
  leave idle
)"));
  EXPECT_EQ(function_at(study, "waits", 2).calls, 1U);
  EXPECT_EQ(function_at(study, "waits", 2).critical_calls, 0U);
  EXPECT_EQ(function_at(study, "empty", 2).calls, 1U);
  EXPECT_EQ(function_at(study, "empty", 2).critical_calls, 0U);
  EXPECT_EQ(function_at(study, "idle", 2).critical_calls, 0U);
  EXPECT_EQ(function_at(study, "idle", 1).critical_calls, 0U);  // A sleeps meanwhile
  EXPECT_EQ(function_at(study, "f", 2).critical_calls, 2U);
}

// That a thread starts in `work` says nothing of how often others call it: here main does, too.
TEST(Study, CallsThatNobodyRecordedAreNotKnown) {
  Recording recording;
  recording.run.source = Source::portable;
  recording.functions = {{"main", FileId::none(), 0, 0, {}}, {"work", FileId::none(), 0, 0, {}}};
  recording.stacks = {{StackId::none(), FunctionId{0}, FileId::none(), 0, false},
                      {StackId{0}, FunctionId{1}, FileId::none(), 0, false},
                      {StackId::none(), FunctionId{1}, FileId::none(), 0, false}};
  recording.profiles = {{false, {{StackId{1}, 5}}}, {false, {{StackId{2}, 5}}}};
  const auto computes = [](std::uint32_t profile) {
    return Event{.cpu = std::chrono::milliseconds(5),
                 .profile = ProfileId{profile},
                 .kind = EventKind::thread_end};
  };
  recording.threads = {
      Thread{.name = "main", .events = {computes(0)}},
      Thread{.name = "T", .start_function = FunctionId{1}, .events = {computes(1)}}};
  const FunctionRow work = function_at(study_of(std::move(recording)), "work", 2);
  EXPECT_EQ(work.self_ns, 10e6);
  EXPECT_EQ(work.calls, std::nullopt);
  EXPECT_EQ(work.critical_calls, std::nullopt);
}

// Quartz, section 3.1: what threads do is done on behalf of who created them.
TEST(Study, NormalizedTotalTakesInCreatedThreads) {
  const Study study = study_of(read_text(R"(
thread main
  run start 1
  enter outer
  create A
  create B
  run own 4
  leave outer
thread A
  run work 4
thread B
  enter outer
  run work 2
  leave outer
)"));
  // From 1 to 3 all three run, from 3 to 5 two of them, on two CPUs.
  EXPECT_DOUBLE_EQ(function_at(study, "start", 2).normalized_self_ns, 1e6);
  EXPECT_DOUBLE_EQ(function_at(study, "own", 2).normalized_self_ns, 2e6);
  EXPECT_DOUBLE_EQ(function_at(study, "work", 2).normalized_self_ns, 3e6);
  EXPECT_DOUBLE_EQ(function_at(study, "outer", 2).normalized_total_ns, 5e6);
  EXPECT_DOUBLE_EQ(function_at(study, "outer", 2).total_ns, 6e6);
}

// Two threads meet every round; `slow` computes 100, `fast` 80. A fifth less, and they are even.
TEST(Study, HeadroomIsWhereAnotherTakesTheLead) {
  std::string slow = "thread A\n";
  std::string fast = "thread B\n";
  for (int round = 0; round < 10; ++round) {
    slow += "  run slow 100\n  barrier B 2\n";
    fast += "  run fast 80\n  barrier B 2\n";
  }
  const Study study = study_of(read_text(slow + fast));
  const auto table = study.functions(2, Scheduler::shared, WithHeadroom::yes);
  ASSERT_TRUE(row_of(study, table, "slow").headroom);
  EXPECT_NEAR(*row_of(study, table, "slow").headroom, 0.20, 1e-4);
  EXPECT_EQ(study.recording().functions[row_of(study, table, "slow").next_leader.index()].name,
            "fast");
  EXPECT_EQ(row_of(study, table, "fast").headroom, 0);
  // On one CPU the two are just added up.
  const auto one = study.functions(1, Scheduler::shared, WithHeadroom::yes);
  EXPECT_NEAR(*row_of(study, one, "slow").headroom, 0.20, 1e-4);
  const auto ideal = study.functions(1, Scheduler::ideal, WithHeadroom::yes);
  EXPECT_NEAR(*row_of(study, ideal, "slow").headroom, 0.20, 1e-4);
}

// Figure 1 again: b leads on one CPU, a on more.
TEST(Study, LeadsChangeHands) {
  const Study study = study_of(read_golden("figure1.prog"));
  const std::vector<Lead> leads = study.leads(64);
  ASSERT_EQ(leads.size(), 2U);
  EXPECT_EQ(study.recording().functions[leads[0].function.index()].name, "b");
  EXPECT_EQ(leads[0].to_cpus, 1U);
  EXPECT_EQ(study.recording().functions[leads[1].function.index()].name, "a");
  EXPECT_EQ(leads[1].from_cpus, 2U);
  EXPECT_EQ(leads[1].to_cpus, 64U);
}

TEST(Study, HeadroomIsNoneWhereNoOtherCanLead) {
  const Study study = study_of(read_text(R"(
thread A
  run f 5
)"));
  const auto table = study.functions(1, Scheduler::shared, WithHeadroom::yes);
  EXPECT_FALSE(row_of(study, table, "f").headroom);
}

TEST(Study, RowsAreOrderedByWeightThenName) {
  const Study study = study_of(read_text(R"(
thread A
  run light 1
  run zebra 2
  run ant 2
)"));
  const auto table = study.functions(1, Scheduler::shared, WithHeadroom::no);
  std::vector<std::string> names;
  for (const FunctionRow& row : table.rows)
    names.push_back(study.recording().functions[row.function.index()].name);
  EXPECT_THAT(names, ElementsAre("ant", "zebra", "light"));
}

TEST(Study, ADeadlockIsAnswered) {
  const Study study = study_of(read_text(R"(
thread A
  run f 2
  wait S
  run f 5
)"));
  const Prediction prediction = study.predict(1, Scheduler::shared);
  ASSERT_TRUE(prediction.deadlock);
  EXPECT_EQ(prediction.deadlock->threads.size(), 1U);
  EXPECT_EQ(prediction.total_ns, 2e6);
  EXPECT_EQ(function_at(study, "f", 1).self_ns, 2e6);
}

TEST(Study, OfAnEmptyProgram) {
  const Study study = study_of(Recording{});
  EXPECT_EQ(study.predict(4, Scheduler::shared).total_ns, 0);
  EXPECT_EQ(study.predict(4, Scheduler::shared).speedup, 1);
  EXPECT_TRUE(study.functions(4, Scheduler::ideal, WithHeadroom::yes).rows.empty());
  EXPECT_TRUE(study.lines(4, Scheduler::shared).rows.empty());
  EXPECT_TRUE(study.segments(4, Scheduler::shared).rows.empty());
}

TEST(Study, MayBeAskedFromManyThreads) {
  const Study study = study_of(read_text(random_program(7)));
  const auto ask = [&](std::uint32_t cpus) {
    double sum = 0;
    for (const LineRow& row : study.lines(cpus, Scheduler::shared).rows)
      sum += row.critical_ns;
    return sum;
  };
  std::vector<double> alone;
  for (std::uint32_t cpus = 1; cpus <= 100; ++cpus)
    alone.push_back(ask(cpus));
  const Study asked = study_of(read_text(random_program(7)));
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint32_t cpus = 1; cpus <= 100; ++cpus) {
        double sum = 0;
        for (const LineRow& row : asked.lines(cpus, Scheduler::shared).rows)
          sum += row.critical_ns;
        EXPECT_EQ(sum, alone[cpus - 1]);
      }
    });
  for (std::thread& thread : threads)
    thread.join();
}

// A recording of a real program: samples in system code are charged to the user's line that called
// it, as are those in the recorder's hooks, and lines are those of the places, not of the functions.
TEST(Study, SamplesAreChargedToTheUsersOwnCode) {
  Recording recording;
  recording.run.source = Source::kernel;
  recording.modules = {{"/home/me/sorter", "", true},
                       {"/usr/lib/libc.so.6", "", false},
                       {"/opt/longpole/lib/liblongpole-recorder.so", "", true}};
  recording.files = {{"/home/me/sorter.cc", "", false},
                     {"/usr/include/c++/12/algorithm", "", true},
                     {"/opt/longpole/recorder/io_hooks.cc", "", false}};
  const ModuleId program{0};
  const ModuleId libc{1};
  const FileId source{0};
  const FileId header{1};
  recording.functions = {{"worker", source, 10, 20, program},
                         {"std::sort", header, 100, 200, program},
                         {"memcpy", FileId::none(), 0, 0, libc},
                         {"start_thread", FileId::none(), 0, 0, libc},
                         {"helper", source, 30, 40, program},
                         {"longpole::recorder::hook", FileId{2}, 1, 9, ModuleId{2}}};
  const auto frame = [&](StackId caller, std::uint32_t function, FileId file, std::uint32_t line) {
    recording.stacks.push_back({caller, FunctionId{function}, file, line, false});
    return StackId{static_cast<std::uint32_t>(recording.stacks.size() - 1)};
  };
  const StackId start = frame(StackId::none(), 3, FileId::none(), 0);
  const StackId line12 = frame(start, 0, source, 12);
  const StackId sort = frame(line12, 1, header, 150);
  const StackId line13 = frame(start, 0, source, 13);
  const StackId hook = frame(line13, 5, FileId{2}, 7);
  const StackId copy = frame(hook, 2, FileId::none(), 0);
  const StackId line14 = frame(start, 0, source, 14);
  const StackId line31 = frame(line14, 4, source, 31);
  const StackId lost = frame(StackId::none(), 2, FileId::none(), 0);
  recording.profiles = {{false, {{sort, 5}, {copy, 1}, {line31, 2}, {lost, 2}}}};
  Event work{.cpu = std::chrono::milliseconds(10), .profile = ProfileId{0}};
  work.kind = EventKind::yield;
  Event end{.cpu = std::chrono::milliseconds(3)};
  end.kind = EventKind::thread_end;
  recording.threads = {{"T1", FunctionId{0}, ThreadId::none(), {}, {}, {work, work, end}}};
  ASSERT_TRUE(validate(recording).has_value()) << validate(recording).error().text();

  const Study study = study_of(recording);
  const auto lines = study.lines(1, Scheduler::shared);
  std::vector<std::string> rows;
  for (const LineRow& row : lines.rows)
    rows.push_back(fmt::format(
        "{}:{} {} {:g} {}", row.file.known() ? study.recording().files[row.file.index()].path : "?",
        row.line,
        row.function.known() ? study.recording().functions[row.function.index()].name : "?",
        ms(row.critical_ns), row.samples));
  EXPECT_THAT(rows,
              ElementsAre("/home/me/sorter.cc:12 worker 10 5", "/home/me/sorter.cc:31 helper 4 2",
                          "?:0 memcpy 4 2", "?:0 ? 3 0", "/home/me/sorter.cc:13 worker 2 1"));

  const auto functions = study.functions(1, Scheduler::shared, WithHeadroom::no);
  std::vector<std::string> names;
  for (const FunctionRow& row : functions.rows)
    names.push_back(row.function.known() ? study.recording().functions[row.function.index()].name
                                         : "?");
  // start_thread has time below it only; std::sort's went to its caller.
  EXPECT_THAT(names, ElementsAre("worker", "helper", "memcpy", "?"));
  const FunctionRow worker = row_of(study, functions, "worker");
  EXPECT_EQ(worker.self_ns, 12e6);
  EXPECT_EQ(worker.total_ns, 16e6);
  EXPECT_EQ(worker.samples, 6U);
  EXPECT_EQ(worker.calls, std::nullopt);  // a thread starts there, and others may call it
  EXPECT_EQ(worker.critical_calls, std::nullopt);
  EXPECT_EQ(row_of(study, functions, "helper").calls, std::nullopt);
  EXPECT_EQ(row_of(study, functions, "helper").critical_calls, std::nullopt);

  const auto headroom = study.functions(1, Scheduler::shared, WithHeadroom::yes);
  // 12·(1−r) = 4
  EXPECT_NEAR(*row_of(study, headroom, "worker").headroom, 2.0 / 3, 1e-4);
}

}  // namespace
}  // namespace longpole::analysis
