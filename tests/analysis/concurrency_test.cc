#include "analysis/concurrency_classes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>

#include "../trace/worker_recording.h"
#include "programs.h"
#include "random_program.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using testing::DoubleNear;
using testing::ElementsAre;

double ms(Nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

// {"T1 0-1 cruise", "T2 4-6 impact on T3 by L", …}.
std::vector<std::string> path_of(const Recording& recording, const Schedule& schedule) {
  constexpr std::array names = {"cruise", "overhead", "blocking", "impact"};
  const ClassifiedPath path = classify_path(recording, schedule);
  std::vector<std::string> lines;
  for (const PathStretch& stretch : path.stretches) {
    std::string line = fmt::format(
        "{} {:g}-{:g} {}", recording.threads[stretch.thread.index()].name, ms(stretch.start),
        ms(stretch.end), names[static_cast<std::size_t>(stretch.kind)]);
    if (stretch.passage != no_passage) {
      const PathPassage& passage = path.passages[stretch.passage];
      line += " on " + recording.threads[passage.to.index()].name;
      if (passage.object.known())
        line += " by " + recording.objects[passage.object.index()].name;
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> path_of(const std::string& program) {
  const Recording recording = read_text(program);
  return path_of(recording, simulation::simulate_ideal(recording));
}

ConcurrencyReport report_on(const Recording& recording, std::uint32_t cpus, Scheduler scheduler) {
  return classify_concurrency(recording, simulation::simulate_ideal(recording), cpus, scheduler);
}

// {"1+0 9", …}: running, runnable, milliseconds.
std::vector<std::string> levels_of(const ConcurrencyReport& report) {
  std::vector<std::string> lines;
  for (const ConcurrencyLevel& level : report.levels)
    lines.push_back(fmt::format("{}+{} {:g}", level.running, level.runnable, level.time_ns / 1e6));
  return lines;
}

// The article's Figure 1, in which it takes no time to let a thread go.
TEST(Concurrency, IntelsExampleWithoutOverhead) {
  const Recording recording = read_golden("thread-profiler.prog");
  EXPECT_THAT(
      path_of(recording, simulation::simulate_ideal(recording)),
      ElementsAre("T1 0-1 cruise", "T2 1-4 cruise", "T2 4-6 impact on T3 by L", "T3 6-8 cruise",
                  "T3 8-9 blocking", "T3 9-11 cruise", "T3 11-14 impact on T1", "T1 14-16 cruise"));

  const ConcurrencyReport timeline = report_on(recording, 2, Scheduler::ideal);
  EXPECT_THAT(levels_of(timeline), ElementsAre("1+0 9", "2+0 5", "3+0 2"));
  EXPECT_THAT(timeline.classes(), ElementsAre(0, 9e6, 0, 5e6, 2e6));
  EXPECT_THAT(timeline.critical_path(), ElementsAre(10e6, 0, 1e6, 5e6));
  EXPECT_THAT(timeline.crossed[static_cast<std::size_t>(ConcurrencyClass::serial)],
              ElementsAre(3e6, 0, 1e6, 5e6));
  EXPECT_THAT(timeline.crossed[static_cast<std::size_t>(ConcurrencyClass::parallel)],
              ElementsAre(5e6, 0, 0, 0));
  // On four CPUs two and three threads are too few.
  EXPECT_THAT(report_on(recording, 4, Scheduler::ideal).classes(), ElementsAre(0, 9e6, 7e6, 0, 0));
  // Where three threads share two CPUs, one of them waits, and it takes half as long again.
  EXPECT_THAT(levels_of(report_on(recording, 2, Scheduler::shared)),
              ElementsAre("1+0 9", "2+0 5", "2+1 3"));

  ASSERT_EQ(timeline.objects.size(), 2U);
  EXPECT_FALSE(timeline.objects[0].object.known());
  EXPECT_EQ(timeline.objects[0].impact_ns, 3e6);
  EXPECT_EQ(recording.objects[timeline.objects[1].object.index()].name, "L");
  EXPECT_EQ(timeline.objects[1].impact_ns, 2e6);
  EXPECT_EQ(timeline.objects[1].times, 1U);
  ASSERT_EQ(timeline.threads.size(), 2U);
  EXPECT_EQ(timeline.threads[0].delays, ThreadId{2});
  EXPECT_EQ(timeline.threads[0].delayed, ThreadId{0});
  EXPECT_EQ(timeline.threads[1].impact_ns, 2e6);
}

// The article's Figure 1 and Table 1 to the letter, with a schedule written by hand: E1 and E2, E5
// and E6, E10 and E11 are apart.
class IntelsExample : public testing::Test {
 protected:
  IntelsExample() : recording_(read_golden("thread-profiler.prog")) {
    const Schedule ideal = simulation::simulate_ideal(recording_);
    schedule_.thread_begin = ideal.thread_begin;
    for (const Segment& segment : ideal.segments) {
      Segment moved = segment;
      moved.start = Nanoseconds{moment(segment.start, segment.thread)};
      moved.end = Nanoseconds{moment(segment.end, segment.thread)};
      moved.running_after = 0;
      schedule_.segments.push_back(moved);
    }
    schedule_.by_end = ideal.by_end;
    std::stable_sort(schedule_.by_end.begin(), schedule_.by_end.end(),
                     [&](SegmentIndex a, SegmentIndex b) {
                       return schedule_.segments[a].end < schedule_.segments[b].end;
                     });
    for (const SegmentIndex at : schedule_.by_end) {
      const Nanoseconds now = schedule_.segments[at].end;
      const auto running = std::count_if(
          schedule_.segments.begin(), schedule_.segments.end(), [&](const Segment& other) {
            return other.running && other.start <= now && now < other.end;
          });
      schedule_.segments[at].running_after = static_cast<std::uint32_t>(running) & 0xffU;
    }
    schedule_.running_at_start = 1;
    schedule_.total = schedule_.segments[schedule_.by_end.back()].end;
  }

  // E0 to E12 at 0, 10, 20, …, from where they are without overhead. Three of them are the first of a
  // pair, for the thread that lets another go, or the second, for the one that is let go.
  static std::int64_t moment(Nanoseconds time, ThreadId thread) {
    constexpr ThreadId t1{0};
    constexpr ThreadId t3{2};
    switch (time / std::chrono::milliseconds(1)) {
      case 1:
        return thread == t1 ? 10 : 20;
      case 3:
        return 30;
      case 4:
        return 40;
      case 6:
        return thread == t3 ? 60 : 50;
      case 8:
        return 70;
      case 9:
        return 80;
      case 11:
        return 90;
      case 14:
        return thread == t3 ? 100 : 110;
      case 16:
        return 120;
      default:
        return 0;
    }
  }

  Recording recording_;
  Schedule schedule_;
};

TEST_F(IntelsExample, HasTheClassesOfThePath) {
  std::vector<std::string> kinds;
  for (const PathStretch& stretch : classify_path(recording_, schedule_).stretches)
    kinds.push_back(fmt::format("E{}-E{} {} {}", stretch.start.count() / 10,
                                stretch.end.count() / 10,
                                recording_.threads[stretch.thread.index()].name,
                                std::array{"cruise", "overhead", "blocking",
                                           "impact"}[static_cast<std::size_t>(stretch.kind)]));
  EXPECT_THAT(kinds, ElementsAre("E0-E1 T1 cruise", "E1-E2 T2 overhead", "E2-E4 T2 cruise",
                                 "E4-E5 T2 impact", "E5-E6 T3 overhead", "E6-E7 T3 cruise",
                                 "E7-E8 T3 blocking", "E8-E9 T3 cruise", "E9-E10 T3 impact",
                                 "E10-E11 T1 overhead", "E11-E12 T1 cruise"));
}

TEST_F(IntelsExample, HasTheLevelsOfTable1) {
  const ConcurrencyReport report = classify_concurrency(recording_, schedule_, 2, Scheduler::ideal);
  // Level 0: E11. Level 1: E1, E2, E5, E6, E8, E10, E12. Level 2: E4, E7, E9. Level 3: E3.
  std::vector<std::string> levels;
  for (const ConcurrencyLevel& level : report.levels)
    levels.push_back(fmt::format("{}: {}", level.running + level.runnable, level.time_ns / 10));
  EXPECT_THAT(levels, ElementsAre("0: 1", "1: 7", "2: 3", "3: 1"));
  // Figure 3: overhead with no thread and with one; impact with one.
  EXPECT_THAT(report.levels[0].path_ns, ElementsAre(0, 10, 0, 0));
  EXPECT_THAT(report.levels[1].path_ns, ElementsAre(20, 20, 10, 20));
  EXPECT_THAT(report.levels[2].path_ns, ElementsAre(30, 0, 0, 0));
  EXPECT_THAT(report.levels[3].path_ns, ElementsAre(10, 0, 0, 0));
}

TEST(Concurrency, ClassesAreForTheChosenCpus) {
  EXPECT_EQ(concurrency_class(0, 1), ConcurrencyClass::idle);
  EXPECT_EQ(concurrency_class(1, 1), ConcurrencyClass::serial);
  EXPECT_EQ(concurrency_class(2, 1), ConcurrencyClass::oversubscribed);
  EXPECT_EQ(concurrency_class(1, 8), ConcurrencyClass::serial);
  EXPECT_EQ(concurrency_class(2, 8), ConcurrencyClass::undersubscribed);
  EXPECT_EQ(concurrency_class(7, 8), ConcurrencyClass::undersubscribed);
  EXPECT_EQ(concurrency_class(8, 8), ConcurrencyClass::parallel);
  EXPECT_EQ(concurrency_class(9, 8), ConcurrencyClass::oversubscribed);
}

// A loop of joins waits for all its threads, whichever it names first.
TEST(Concurrency, TheOrderOfJoinsDoesNotMatter) {
  for (const char* joins : {"  join A\n  join B\n", "  join B\n  join A\n"}) {
    EXPECT_THAT(path_of(std::string("thread main\n  create A\n  create B\n") + joins +
                        "thread A\n  run f 3\nthread B\n  run f 5\n"),
                ElementsAre("B 0-3 cruise", "B 3-5 impact on main"));
  }
  // What is computed between two joins could go on without the second.
  EXPECT_THAT(path_of(R"(
thread main
  create A
  create B
  join B
  run between 1
  join A
thread A
  run f 3
thread B
  run f 5
)"),
              ElementsAre("B 0-2 cruise", "B 2-5 impact on main", "main 5-6 cruise"));
}

TEST(Concurrency, TheLastAtABarrierIsAloneOnlyAfterAllOthers) {
  EXPECT_THAT(path_of(R"(
thread A
  run a 1
  barrier B 3
  run a 9
thread B
  run b 4
  barrier B 3
thread C
  run c 6
  barrier B 3
)"),
              ElementsAre("C 0-4 cruise", "C 4-6 impact on A by B", "A 6-15 cruise"));
}

// The same with a condition: A comes first and is the first to have the mutex back, B comes second.
TEST(Concurrency, ABarrierBuiltOnAConditionIsOneToo) {
  EXPECT_THAT(path_of(R"(
thread A
  run a 1
  lock M
  cwait C M
  unlock M
  run a 9
thread B
  run b 4
  lock M
  cwait C M
  unlock M
thread C
  run c 6
  lock M
  broadcast C
  run c 2
  unlock M
)"),
              ElementsAre("C 0-4 cruise", "C 4-8 impact on A by C", "A 8-17 cruise"));
}

TEST(Concurrency, WhoeverSignalsIsWaitedForFromTheBeginning) {
  EXPECT_THAT(path_of(R"(
thread A
  run a 1
  lock M
  cwait C M
  unlock M
  run a 9
thread B
  run b 4
  lock M
  run b 2
  signal C
  run b 1
  unlock M
)"),
              ElementsAre("B 0-1 cruise", "B 1-7 impact on A by C", "A 7-16 cruise"));
}

// In the recording it found done what it waits for here.
TEST(Concurrency, WhoeverGivesATaskIsWaitedForBeforeItIsTaken) {
  const Recording recording = read_recording(worker_that_finds_its_task);
  EXPECT_THAT(path_of(recording, simulation::simulate_ideal(recording)),
              ElementsAre("main 0-3 cruise", "main 3-10 impact on W by C", "W 10-14 cruise"));
}

// Woken at 4, A finds its mutex taken by C, from 4 to 10.
TEST(Concurrency, WhoeverOnlyHoldsTheMutexIsWaitedForFromThenOn) {
  EXPECT_THAT(path_of(R"(
thread A
  run a 1
  lock M
  cwait C M
  unlock M
  run a 9
thread B
  run b 3
  lock M
  signal C
  run b 1
  unlock M
thread C
  run c 2
  lock M
  run c 8
  unlock M
)"),
              ElementsAre("C 0-3 cruise", "C 3-10 impact on B by M", "B 10-11 impact on A by C",
                          "A 11-20 cruise"));
  EXPECT_THAT(path_of(R"(
thread A
  run a 1
  lock M
  cwait C M
  unlock M
  run a 9
thread B
  run b 3
  signal C
thread C
  run c 2
  lock M
  run c 8
  unlock M
)"),
              ElementsAre("C 0-2 cruise", "C 2-10 impact on A by M", "A 10-19 cruise"));
}

TEST(Concurrency, TheLastReaderIsAloneWhenTheOthersHaveLeft) {
  EXPECT_THAT(path_of(R"(
thread A
  rdlock L
  run a 4
  rwunlock L
thread B
  rdlock L
  run b 6
  rwunlock L
thread W
  run w 1
  wrlock L
  run w 9
  rwunlock L
)"),
              ElementsAre("B 0-4 cruise", "B 4-6 impact on W by L", "W 6-15 cruise"));
}

TEST(Concurrency, WhoBeginsWasNotDelayed) {
  EXPECT_THAT(path_of(R"(
thread main
  run f 2
  create A
thread A
  run g 3
  sleep 1
)"),
              ElementsAre("main 0-2 cruise", "A 2-5 cruise", "A 5-6 blocking"));
}

TEST(Concurrency, OfNothingIsNothing) {
  const ConcurrencyReport report = report_on(Recording{}, 4, Scheduler::shared);
  EXPECT_EQ(report.total_ns, 0);
  EXPECT_TRUE(report.levels.empty());
}

// How long so many threads compute at once: count them in every piece between two moments at which
// anything happens.
std::vector<double> brute_force_levels(const Schedule& schedule) {
  std::vector<Nanoseconds> moments{Nanoseconds{}};
  for (const Segment& segment : schedule.segments)
    moments.push_back(segment.end);
  std::sort(moments.begin(), moments.end());
  std::vector<double> time;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    std::size_t running = 0;
    for (const Segment& segment : schedule.segments)
      running += segment.running && segment.start <= moments[i - 1] && moments[i] <= segment.end &&
                         segment.start != segment.end
                     ? 1U
                     : 0U;
    time.resize(std::max(time.size(), running + 1));
    time[running] += static_cast<double>((moments[i] - moments[i - 1]).count());
  }
  return time;
}

TEST(Concurrency, LevelsEqualBruteForceOnRandomPrograms) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Recording recording = read_text(random_program(seed));
    const Schedule schedule = simulation::simulate_ideal(recording);
    const std::vector<double> expected = brute_force_levels(schedule);
    for (const std::uint32_t cpus : {1U, 2U, 3U, 8U}) {
      const ConcurrencyReport report =
          classify_concurrency(recording, schedule, cpus, Scheduler::shared);
      double total = 0;
      for (const ConcurrencyLevel& level : report.levels) {
        const std::uint32_t active = level.running + level.runnable;
        EXPECT_EQ(level.running, std::min(active, cpus));
        ASSERT_LT(active, expected.size());
        const double stretched = expected[active] * std::max(1.0, double{1} * active / cpus);
        EXPECT_THAT(level.time_ns, DoubleNear(stretched, 1e-9 * stretched)) << seed;
        total += expected[active];
      }
      EXPECT_EQ(total, static_cast<double>(schedule.total.count())) << seed;
    }
  }
}

// The path has no gaps; who has it computes, and who is delayed does not.
TEST(Concurrency, StretchesAreWhatTheyAreCalledInRandomPrograms) {
  std::size_t impacts = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Recording recording = read_text(random_program(seed));
    const Schedule schedule = simulation::simulate_ideal(recording);
    const ClassifiedPath path = classify_path(recording, schedule);
    const auto covered = [&](ThreadId thread, Nanoseconds start, Nanoseconds end, bool running) {
      Nanoseconds sum{};
      for (SegmentIndex s = schedule.thread_begin[thread.index()];
           s < schedule.thread_begin[thread.index() + 1]; ++s) {
        const Segment& segment = schedule.segments[s];
        if (bool{segment.running} == running)
          sum +=
              std::max(std::min(end, segment.end) - std::max(start, segment.start), Nanoseconds{});
      }
      return sum;
    };
    Nanoseconds at{};
    for (const PathStretch& stretch : path.stretches) {
      EXPECT_EQ(stretch.start, at) << seed;
      at = stretch.end;
      EXPECT_NE(stretch.kind, PathClass::overhead);
      EXPECT_EQ(
          covered(stretch.thread, stretch.start, stretch.end, stretch.kind != PathClass::blocking),
          stretch.end - stretch.start)
          << seed;
      EXPECT_EQ(stretch.passage != no_passage, stretch.kind == PathClass::impact);
      if (stretch.kind != PathClass::impact)
        continue;
      ++impacts;
      const PathPassage& passage = path.passages[stretch.passage];
      EXPECT_EQ(passage.from, stretch.thread);
      EXPECT_GE(stretch.start, passage.alone_since);
      EXPECT_EQ(covered(passage.to, stretch.start, stretch.end, true), Nanoseconds{}) << seed;
    }
    EXPECT_EQ(at, schedule.total) << seed;
  }
  EXPECT_GT(impacts, 500U);
}

TEST(Concurrency, SumsHoldOnRandomPrograms) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Recording recording = read_text(random_program(seed));
    const Schedule schedule = simulation::simulate_ideal(recording);
    const auto steps = simulation::concurrency(schedule);
    for (const std::uint32_t cpus : {1U, 2U, 3U, 8U}) {
      const ConcurrencyReport report =
          classify_concurrency(recording, schedule, cpus, Scheduler::shared);
      const double total =
          static_cast<double>(simulation::shared_completion_times_cpus(steps, cpus)) / cpus;
      const auto near_total = DoubleNear(total, 1e-9 * total);
      const auto sum = [](const auto& values) {
        return std::accumulate(values.begin(), values.end(), 0.0);
      };
      EXPECT_THAT(report.total_ns, near_total);
      EXPECT_THAT(sum(report.classes()), near_total);
      EXPECT_THAT(sum(report.critical_path()), near_total);
      double impact = 0;
      for (const ObjectImpact& row : report.objects)
        impact += row.impact_ns;
      double by_thread = 0;
      for (const ThreadImpact& row : report.threads)
        by_thread += row.impact_ns;
      const double expected = report.critical_path()[static_cast<std::size_t>(PathClass::impact)];
      EXPECT_THAT(impact, DoubleNear(expected, 1e-9 * total));
      EXPECT_THAT(by_thread, DoubleNear(expected, 1e-9 * total));
    }
  }
}

}  // namespace
}  // namespace longpole::analysis
