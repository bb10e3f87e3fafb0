#include "analysis/critical_path.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <iostream>
#include <set>

#include "brute_force.h"
#include "programs.h"
#include "random_program.h"
#include "simulation/simulate.h"
#include "trace/event_forms.h"

namespace longpole::analysis {
namespace {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using simulation::TimesCpus;

// The weights of the stretches of computing, by thread: {"1 a 1", "1 b 1", …}.
std::vector<std::string> weights_of(const Recording& recording, std::uint32_t cpus) {
  const Schedule schedule = simulation::simulate_ideal(recording);
  const Weights weights = extended_critical_path(schedule, cpus);
  std::vector<std::string> lines;
  for (SegmentIndex s = 0; s < schedule.segments.size(); ++s) {
    const Thread& thread = recording.threads[schedule.segments[s].thread.index()];
    const Event& event = thread.events[schedule.segments[s].event];
    if (event.kind != EventKind::run)
      continue;
    const StackId place = recording.profiles[event.profile.index()].entries[0].stack;
    const Function& function =
        recording.functions[recording.stacks[place.index()].function.index()];
    lines.push_back(fmt::format("{} {} {:.4g}", thread.name, function.name, weights.weight(s)));
  }
  return lines;
}

TimesCpus completion(const Schedule& schedule, std::uint32_t cpus) {
  return simulation::shared_completion_times_cpus(simulation::concurrency(schedule), cpus);
}

TimesCpus weighted_length(const Schedule& schedule, const Weights& weights) {
  TimesCpus sum = 0;
  for (SegmentIndex s = 0; s < schedule.segments.size(); ++s)
    sum += TimesCpus{weights.scaled[s]} *
           (schedule.segments[s].end - schedule.segments[s].start).count();
  return sum;
}

// Thesis, Paper VI, Figures 4 to 6.
TEST(CriticalPath, Figure4) {
  const Recording recording = read_golden("ecp-figure4.prog");
  const Schedule schedule = simulation::simulate_ideal(recording);
  EXPECT_EQ(schedule.total, std::chrono::milliseconds(11));
  EXPECT_TRUE(completion(schedule, 2) == 2 * 12'000'000);
  EXPECT_THAT(
      weights_of(recording, 2),
      testing::ElementsAre("1 a 1", "1 b 1", "1 c 0", "1 e 0.5", "1 i 0.5", "2 c 0", "2 g 0.5",
                           "2 d 0", "3 d 0", "3 g 1", "3 h 1", "3 a 0.5", "3 f 1"));
  EXPECT_THAT(weights_of(recording, 3),
              testing::ElementsAre("1 a 1", "1 b 1", "1 c 0", "1 e 0", "1 i 0", "2 c 0", "2 g 0",
                                   "2 d 0", "3 d 0", "3 g 1", "3 h 1", "3 a 1", "3 f 1"));
}

// Figure 7: thread 1's s, on three CPUs and on two.
TEST(CriticalPath, Figure7WeighsMoreThanOne) {
  const Recording recording = read_golden("weight-above-one.prog");
  EXPECT_EQ(weights_of(recording, 3).front(), "1 s 1.333");
  EXPECT_EQ(weights_of(recording, 2).front(), "1 s 1");
}

// Figure 8.
TEST(CriticalPath, Figure8WeighsLessThanNothing) {
  EXPECT_EQ(weights_of(read_golden("weight-negative.prog"), 3).front(), "1 s -0.3333");
}

// With a CPU for each thread there is one path, of weight one; on one CPU everything has it.
TEST(CriticalPath, OnOneCpuEverythingHasWeightOne) {
  for (const std::string& line : weights_of(read_golden("ecp-figure4.prog"), 1))
    EXPECT_TRUE(line.ends_with(" 1")) << line;
}

TEST(CriticalPath, OfNothingIsNothing) {
  EXPECT_TRUE(extended_critical_path(Schedule{}, 4).scaled.empty());
}

// What a statement of the grammar is: its word, and the outcome where it has to name one.
std::string statement(const Event& event) {
  const EventForm& form = event_form(event.kind);
  std::string text(form.word);
  if (form.outcome == OutcomeForm::tried || form.outcome == OutcomeForm::timed)
    text.append(" ").append(outcome_word(event.outcome));
  return text;
}

// One per segment with length: above one, below zero, zero, the rest.
struct Census {
  std::size_t above_one = 0;
  std::size_t below_zero = 0;
  std::size_t zero = 0;
  std::size_t others = 0;
  void count(std::int64_t scaled, std::uint32_t cpus) {
    if (scaled > cpus)
      ++above_one;
    else if (scaled < 0)
      ++below_zero;
    else if (scaled == 0)
      ++zero;
    else
      ++others;
  }
};

constexpr std::array cpu_counts{1U, 2U, 3U, 4U, 7U};

TEST(CriticalPath, SweepEqualsBruteForceOnRandomPrograms) {
  constexpr std::size_t wanted = 600;
  std::set<std::string> used;
  Census census;
  std::size_t checked = 0;
  std::size_t stood_still = 0;
  std::size_t coincided = 0;
  for (std::uint64_t seed = 0; checked < wanted; ++seed) {
    ASSERT_LT(seed, 10 * wanted) << "only " << checked << " programs run to their end";
    const std::string text = random_program(seed, Exits::some);
    const Recording recording = read_text(text);
    const Schedule schedule = simulation::simulate_ideal(recording);
    if (!events_are_apart(schedule)) {
      ++coincided;
      continue;
    }
    for (const std::uint32_t cpus : cpu_counts) {
      const Weights weights = extended_critical_path(schedule, cpus);
      ASSERT_TRUE(weighted_length(schedule, weights) == completion(schedule, cpus))
          << cpus << " CPUs:\n"
          << text;
    }
    if (schedule.deadlock) {
      ++stood_still;
      continue;
    }
    ++checked;
    for (const Segment& segment : schedule.segments)
      used.insert(statement(recording.threads[segment.thread.index()].events[segment.event]));
    for (const std::uint32_t cpus : cpu_counts) {
      const Weights weights = extended_critical_path(schedule, cpus);
      for (SegmentIndex s = 0; s < schedule.segments.size(); ++s) {
        if (schedule.segments[s].start == schedule.segments[s].end)
          continue;
        census.count(weights.scaled[s], cpus);
        ASSERT_TRUE(brute_force_weight(recording, schedule, s, cpus) == weights.scaled[s])
            << "segment " << s << " on " << cpus << " CPUs: the sweep says " << weights.scaled[s]
            << ":\n"
            << text;
      }
    }
  }
  std::cout << checked << " programs (" << stood_still << " that stand still and " << coincided
            << " with coinciding events left out), weights: " << census.above_one << " above one, "
            << census.below_zero << " below zero, " << census.zero << " zero, " << census.others
            << " others\n";
  EXPECT_GT(census.above_one, 0U);
  EXPECT_GT(census.below_zero, 0U);
  EXPECT_GT(census.zero, 0U);

  std::set<std::string> grammar;
  for (std::size_t kind = 0; kind < event_kind_count; ++kind) {
    for (std::size_t outcome = 0; outcome < outcome_count; ++outcome) {
      Event event;
      event.kind = static_cast<EventKind>(kind);
      event.outcome = static_cast<Outcome>(outcome);
      const bool in_programs =
          event.outcome != Outcome::failed && event.outcome != Outcome::unfinished;
      if (in_programs && event_form(event.kind).allows(event.outcome))
        grammar.insert(statement(event));
    }
  }
  EXPECT_EQ(used, grammar);
}

}  // namespace
}  // namespace longpole::analysis
