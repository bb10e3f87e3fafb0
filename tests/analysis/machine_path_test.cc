// The critical path through runs on machines, where waiting for a CPU is an edge like any other.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>

#include "analysis/concurrency_classes.h"
#include "analysis/forecast.h"
#include "analysis/path.h"
#include "programs.h"
#include "random_program.h"

namespace longpole::analysis {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const Execution> run_on(const Recording& recording, const char* scheduler,
                                        std::uint32_t cpus, Nanoseconds wake_up = {}) {
  Computer computer = computer_named(scheduler).value();
  computer.machine.cpus = cpus;
  computer.machine.wake_up = wake_up;
  const Forecaster forecaster(std::make_shared<const Recording>(recording));
  return forecaster.execute(computer, {}).value().execution;
}

double ms(Nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

// {"A 0-4", "B 4-7 has the CPU of A", "C 7-8 by post S of B", …}.
std::vector<std::string> steps_of(const Execution& run) {
  std::vector<std::string> lines;
  const auto name = [&](ThreadId id) { return run.recording().threads[id.index()].name; };
  for (const PathStep& step : machine_path(run)) {
    lines.push_back(fmt::format("{} {:g}-{:g}", name(step.thread), ms(step.start), ms(step.end)));
    if (step.cpu_from.known())
      lines.back() += " has the CPU of " + name(step.cpu_from);
    if (step.woken_by.known())
      lines.back() += " let go by " + name(step.woken_by);
  }
  return lines;
}

std::vector<std::string> stretches_of(const Execution& run) {
  constexpr std::array names = {"cruise", "overhead", "blocking", "impact"};
  std::vector<std::string> lines;
  for (const PathStretch& stretch : classify_path(run).stretches)
    lines.push_back(fmt::format(
        "{} {:g}-{:g} {}", run.recording().threads[stretch.thread.index()].name, ms(stretch.start),
        ms(stretch.end), names[static_cast<std::size_t>(stretch.kind)]));
  return lines;
}

std::vector<std::string> levels_of(const ConcurrencyReport& report) {
  std::vector<std::string> lines;
  for (const ConcurrencyLevel& level : report.levels)
    lines.push_back(fmt::format("{}+{} {:g}", level.running, level.runnable, level.time_ns / 1e6));
  return lines;
}

TEST(MachinePath, PassesToWhoWaitedForTheCpu) {
  const Recording recording = read_text(R"(
thread A priority=2
  run f 4
thread B priority=1
  run g 3
)");
  const auto run = run_on(recording, "fifo", 1);
  EXPECT_THAT(steps_of(*run), ElementsAre("A 0-4", "B 4-7 has the CPU of A"));
  // Not A alone: with a second CPU, B would not have waited.
  EXPECT_THAT(stretches_of(*run), ElementsAre("A 0-4 cruise", "B 4-7 cruise"));
  const ConcurrencyReport report = classify_concurrency(*run);
  EXPECT_THAT(levels_of(report), ElementsAre("1+0 3", "1+1 4"));
  EXPECT_THAT(report.classes(), ElementsAre(0, 3e6, 0, 0, 4e6));
}

TEST(MachinePath, TellsALockFromACpu) {
  const Recording recording = read_text(R"(
thread A priority=3
  lock M
  run f 4
  unlock M
thread B priority=2
  run g 1
  lock M
  run h 4
  unlock M
thread C priority=1
  run i 9
)");
  const auto run = run_on(recording, "fifo", 2);
  // At 4 B is let go and takes the CPU from C, which goes on where A has ended.
  EXPECT_THAT(steps_of(*run), ElementsAre("B 0-1", "C 1-4 has the CPU of B", "C 4-10"));
  // What holds the program up is the lock once C is done elsewhere.
  const auto on_three = run_on(recording, "fifo", 3);
  EXPECT_THAT(steps_of(*on_three), ElementsAre("C 0-9"));
  const auto on_one = run_on(recording, "fifo", 1);
  EXPECT_THAT(steps_of(*on_one),
              ElementsAre("A 0-4", "B 4-5 has the CPU of A", "B 5-9", "C 9-18 has the CPU of B"));
}

TEST(MachinePath, ImpactAndOverheadAreAsInTheArticle) {
  const Recording recording = read_text(R"(
thread A
  lock M
  run f 4
  unlock M
  run e 1
thread B
  run g 1
  lock M
  run h 4
  unlock M
)");
  const auto run = run_on(recording, "fifo", 2, std::chrono::milliseconds(1));
  EXPECT_THAT(stretches_of(*run),
              ElementsAre("A 0-1 cruise", "A 1-4 impact", "B 4-5 overhead", "B 5-9 cruise"));
  const ConcurrencyReport report = classify_concurrency(*run);
  ASSERT_EQ(report.objects.size(), 1U);
  EXPECT_EQ(report.objects[0].impact_ns, 3e6);
  EXPECT_EQ(report.critical_path()[static_cast<std::size_t>(PathClass::overhead)], 1e6);
}

TEST(MachinePath, HasNoGapsInRandomPrograms) {
  std::size_t passages = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Recording recording = read_text(random_program(seed));
    for (const char* scheduler : {"linux", "fifo"}) {
      for (const std::uint32_t cpus : {1U, 2U, 3U}) {
        const auto run = run_on(recording, scheduler, cpus);
        Nanoseconds at{};
        for (const PathStep& step : machine_path(*run)) {
          EXPECT_EQ(step.start, at) << seed << scheduler << cpus;
          at = step.end;
          passages += step.cpu_from.known() ? 1U : 0U;
          Nanoseconds there{};
          run->spans(step.thread.value, step.start, [&](const Span& span) {
            if (span.start >= step.end)
              return false;
            const bool off = span.state != SpanState::running;
            if (off != step.running && span.is_of_part)
              there += std::min(span.end, step.end) - std::max(span.start, step.start);
            return true;
          });
          EXPECT_EQ(there, step.end - step.start) << seed << scheduler << cpus;
        }
        EXPECT_EQ(at, run->total());

        Nanoseconds end{};
        for (const PathStretch& stretch : classify_path(*run).stretches) {
          EXPECT_EQ(stretch.start, end);
          EXPECT_NE(stretch.kind, PathClass::overhead);
          end = stretch.end;
        }
        EXPECT_EQ(end, run->total());

        const ConcurrencyReport report = classify_concurrency(*run);
        EXPECT_EQ(report.total_ns, static_cast<double>(run->total().count()));
        SpanTimes expected{};
        for (std::uint32_t t = 0; t < run->thread_count(); ++t)
          run->spans(t, Nanoseconds{-1}, [&](const Span& span) {
            expected[static_cast<std::size_t>(span.state)] += span.end - span.start;
            return true;
          });
        double running = 0;
        double runnable = 0;
        for (const ConcurrencyLevel& level : report.levels) {
          EXPECT_LE(level.running, cpus);
          running += level.running * level.time_ns;
          runnable += level.runnable * level.time_ns;
        }
        EXPECT_EQ(running, static_cast<double>(expected[0].count()));
        EXPECT_EQ(runnable, static_cast<double>(expected[1].count()));
      }
    }
  }
  EXPECT_GT(passages, 500U);
}

// With a CPU for each thread it is the path of the ideal execution, under which nobody waits for one.
TEST(MachinePath, IsTheIdealOnEnoughCpus) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Recording recording = read_text(random_program(seed));
    for (Thread& thread : recording.threads)
      thread.bound_to.reset();
    const auto run = run_on(recording, "fifo", 64);
    for (const PathStep& step : machine_path(*run))
      EXPECT_FALSE(step.cpu_from.known());
    for (const ConcurrencyLevel& level : classify_concurrency(*run).levels)
      EXPECT_EQ(level.runnable, 0U);
  }
}

}  // namespace
}  // namespace longpole::analysis
