// What is recommended of all that the searches find, and what it owes to chance.
#include "allocation/recommendation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "allocation/disturbances.h"
#include "given.h"
#include "paper_programs.h"
#include "simulation/simulate.h"
#include "trace/program_text.h"

namespace longpole::allocation {
namespace {

using simulation::Machine;
using simulation::SchedulerKind;
using std::chrono::milliseconds;

Recommendation ask(TestBench& bench, const Inquiry& inquiry = {}) {
  auto answer = recommend(bench, simulation::simulate_ideal(bench.recording()), inquiry);
  EXPECT_TRUE(answer.has_value());
  return *std::move(answer);
}

// Apart, A and B come to the lock at the same moment. Where A has it first, both end soon; where B has,
// A waits for B, and for the signal. Together they take what they compute.
constexpr const char* tie =
    "thread A\n  run a 1\n  lock M\n  run b 1\n  unlock M\n  run c 20\n"
    "thread B\n  run d 1\n  lock M\n  run e 20\n  unlock M\n";

Machine slow_signals() {
  Machine machine = machine_of(2, SchedulerKind::fifo);
  machine.latency = milliseconds(10);
  return machine;
}

TEST(Disturbances, AreSmallAndTheSameEachTime) {
  Machine machine = machine_of(2);
  machine.speeds = {1000, 500};
  machine.switch_cost = Nanoseconds{1000};
  machine.primitive_cost.fill(Nanoseconds{100});
  HostCosts recorded;
  recorded.wake_up = Nanoseconds{5000};
  const std::vector<Disturbance> all = disturbances(machine, recorded);
  ASSERT_EQ(all.size(), disturbance_count);
  std::vector<std::int64_t> wake_ups;
  for (const auto& [one, speed_left] : all) {
    ASSERT_EQ(one.speeds.size(), 2U);
    EXPECT_GE(speed_left, 990U);
    EXPECT_THAT(one.speeds[0], testing::AllOf(testing::Ge(speed_left), testing::Le(1000U)));
    EXPECT_THAT(one.speeds[1], testing::AllOf(testing::Ge(speed_left / 2), testing::Le(500U)));
    EXPECT_LE(one.switch_cost.value(), Nanoseconds{2000});
    EXPECT_THAT(one.primitive_cost, testing::Each(testing::Le(Nanoseconds{200})));
    EXPECT_EQ(one.migration_cost, Nanoseconds{});
    ASSERT_TRUE(one.wake_up.has_value());
    EXPECT_LE(*one.wake_up, Nanoseconds{10'000});
    wake_ups.push_back(one.wake_up->count());
  }
  EXPECT_LT(*std::min_element(wake_ups.begin(), wake_ups.end()), 5000);
  EXPECT_GT(*std::max_element(wake_ups.begin(), wake_ups.end()), 5000);
  const std::vector<Disturbance> again = disturbances(machine, recorded);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i].machine.speeds, again[i].machine.speeds);
}

TEST(Disturbances, AreMachinesThatThereCanBe) {
  const Recording recording = read("thread A\n  run f 1\n");
  Machine machine = machine_of(2);
  machine.speeds = {1, 1000};
  machine.switch_cost = std::chrono::milliseconds(600);
  machine.primitive_cost.fill(std::chrono::seconds(1));
  for (const Disturbance& one : disturbances(machine, {}))
    EXPECT_TRUE(simulation::check(one.machine, recording).has_value());
}

TEST(Disturbances, EachOfTwoCpusIsTheSlowerOneSometimes) {
  bool first = false;
  bool second = false;
  for (const Disturbance& one : disturbances(machine_of(2), {})) {
    first |= one.machine.speeds[0] < one.machine.speeds[1];
    second |= one.machine.speeds[1] < one.machine.speeds[0];
  }
  EXPECT_TRUE(first && second);
}

TEST(Disturbances, WhatSlowerCpusExplainIsNoMoreThanTheUndisturbedTime) {
  // One after the other, on one CPU and on two: nothing can come in another order.
  const Recording recording = read(
      "thread A\n  run a 30\n  post S\n"
      "thread B\n  wait S\n  run b 50\n");
  TestBench bench(recording, machine_of(2), 1);
  for (const Binding& binding : {Binding{0, 0}, Binding{0, 1}}) {
    const auto trial = bench.disturb(binding);
    EXPECT_EQ(trial->spread->least, milliseconds(80));
    EXPECT_EQ(trial->at_worst(), milliseconds(80));
  }
}

TEST(TestBench, ASpreadIsOfTheMachineAndTheDisturbedOnes) {
  const Recording recording = read(tie);
  const Machine machine = slow_signals();
  TestBench bench(recording, machine, 2);
  const Binding binding{0, 1};
  const auto trial = bench.disturb(binding);
  ASSERT_TRUE(trial.has_value() && trial->spread.has_value());
  Nanoseconds least = trial->total;
  Nanoseconds most = trial->total;
  for (const Disturbance& one : disturbances(machine, recording.run.costs)) {
    TestBench other(recording, one.machine, 1);
    const Nanoseconds total = other.test({&binding, 1})->front().total;
    least = std::min(least, total);
    most = std::max(most, one.without_slowdown(total));
  }
  EXPECT_EQ(trial->spread->least, least);
  EXPECT_EQ(trial->spread->most, most);
  EXPECT_EQ(trial->at_worst(), most);
  EXPECT_GT(most, trial->total);
}

TEST(Recommendation, OwesNothingToWhichOfTwoThingsComesFirst) {
  const Recording recording = read(tie);
  TestBench bench(recording, slow_signals(), 1);
  const auto undisturbed = search(bench, Algorithm::guided, {});
  EXPECT_EQ(undisturbed->binding, (Binding{0, 1}));
  EXPECT_EQ(undisturbed->trial.total, milliseconds(32));

  const auto robust = search(bench, Algorithm::guided, {.robust = true});
  EXPECT_EQ(robust->binding, (Binding{0, 0}));
  EXPECT_EQ(robust->disturbed, 2U);

  const Recommendation answer = ask(bench);
  EXPECT_EQ(answer.found.result.binding, (Binding{0, 0}));
  EXPECT_EQ(answer.found.result.trial.total, milliseconds(43));
  EXPECT_EQ(answer.found.result.trial.spread->most, milliseconds(43));
  const auto greedy = std::find_if(answer.others.begin(), answer.others.end(), [](const auto& one) {
    return one.algorithm == Algorithm::greedy;
  });
  ASSERT_NE(greedy, answer.others.end());
  EXPECT_EQ(greedy->result.trial.total, milliseconds(32));
  EXPECT_GE(greedy->result.trial.spread->most, milliseconds(51));
}

TEST(Recommendation, IsTheFastestAtWorstOfAllThatSearched) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Recording recording = read(paper_program(12, seed));
    TestBench bench(recording, machine_of(3), 2);
    Inquiry inquiry;
    inquiry.search.tests = 60;
    const Recommendation answer = ask(bench, inquiry);
    EXPECT_EQ(answer.others.size(), algorithm_count - 1);
    for (const Recommendation::Found& other : answer.others) {
      EXPECT_NE(other.algorithm, answer.found.algorithm);
      EXPECT_GE(other.result.trial.at_worst(), answer.found.result.trial.at_worst());
    }
  }
}

TEST(Recommendation, IsThatOfTheAlgorithmThatWasAskedForWhateverOthersFind) {
  const Recording recording = read(paper_program(12, 1));
  TestBench bench(recording, machine_of(3), 1);
  Inquiry inquiry;
  inquiry.algorithms = {Algorithm::block, Algorithm::guided};
  inquiry.takes_fastest = false;
  const Recommendation answer = ask(bench, inquiry);
  EXPECT_EQ(answer.found.algorithm, Algorithm::block);
  ASSERT_EQ(answer.others.size(), 1U);
  EXPECT_LT(answer.others.front().result.trial.at_worst(), answer.found.result.trial.at_worst());
}

TEST(Recommendation, TheNumberOfWorkersMakesNoDifference) {
  const Recording recording = read(paper_program(12, 3));
  std::vector<Recommendation> answers;
  for (const unsigned workers : {1U, 2U, 5U}) {
    TestBench bench(recording, machine_of(4), workers);
    Inquiry inquiry;
    inquiry.search.tests = 150;
    answers.push_back(ask(bench, inquiry));
  }
  for (const Recommendation& answer : answers) {
    EXPECT_EQ(answer.found.result.binding, answers.front().found.result.binding);
    EXPECT_EQ(answer.found.result.tests, answers.front().found.result.tests);
    EXPECT_EQ(answer.found.result.disturbed, answers.front().found.result.disturbed);
  }
}

// The papers' studies count on it.
TEST(Recommendation, DisturbancesDoNotChangeThePapersSearches) {
  const Recording recording = read(paper_program(12, 4));
  TestBench used(recording, machine_of(3), 1);
  ask(used);
  TestBench fresh(recording, machine_of(3), 1);
  for (const Algorithm algorithm : {Algorithm::sga, Algorithm::greedy, Algorithm::dynamic_start}) {
    const auto after = search(used, algorithm, {.seed = 1});
    const auto alone = search(fresh, algorithm, {.seed = 1});
    EXPECT_EQ(after->binding, alone->binding) << name_of(algorithm);
    EXPECT_EQ(after->tests, alone->tests) << name_of(algorithm);
    EXPECT_EQ(after->disturbed, 0U) << name_of(algorithm);
  }
}

TEST(Recommendation, AStopRequestLeavesTheBestSoFar) {
  const Recording recording = read(paper_program(12, 1));
  for (const std::uint64_t most : {std::uint64_t{1}, std::uint64_t{40}, std::uint64_t{600}}) {
    TestBench bench(recording, machine_of(4), 2);
    std::stop_source stop;
    Inquiry inquiry;
    inquiry.search.tests = 500;
    inquiry.search.stop = stop.get_token();
    Nanoseconds best = Nanoseconds::max();
    double share = 0;
    inquiry.progress = [&](const Standing& standing) {
      best = standing.best.trial.at_worst();
      EXPECT_GE(standing.share, share);
      EXPECT_LE(standing.share, 1);
      share = standing.share;
      if (standing.tests >= most)
        stop.request_stop();
    };
    const Recommendation answer = ask(bench, inquiry);
    EXPECT_TRUE(answer.found.result.stopped) << most;
    EXPECT_LE(answer.found.result.trial.at_worst(), best) << most;
    EXPECT_EQ(answer.found.result.binding.size(), 12U) << most;
  }
}

TEST(Recommendation, OneSearchMayBeEndedAlone) {
  const Recording recording = read(paper_program(12, 1));
  TestBench bench(recording, machine_of(4), 1);
  std::stop_source stop;
  stop.request_stop();
  Inquiry inquiry;
  inquiry.search.tests = 50;
  inquiry.begin = [&](Algorithm algorithm) {
    return algorithm == Algorithm::greedy ? stop.get_token() : std::stop_token();
  };
  const Recommendation answer = ask(bench, inquiry);
  EXPECT_FALSE(answer.found.result.stopped);
  for (const Recommendation::Found& other : answer.others) {
    if (other.algorithm == Algorithm::greedy) {
      EXPECT_EQ(other.result.tests, 1U);
    } else if (other.algorithm == Algorithm::dynamic_start) {
      EXPECT_EQ(other.result.tests, 50U);
    }
  }
}

TEST(Recommendation, SearchesThatNeedMoreCpusThanThereAreAreLeftOut) {
  const Recording recording = read(paper_program(8, 1));
  TestBench bench(recording, machine_of(simulation::most_cpus - 2), 1);
  Inquiry inquiry;
  inquiry.search.tests = 5;
  const Recommendation answer = ask(bench, inquiry);
  for (const Recommendation::Found& other : answer.others)
    EXPECT_NE(other.algorithm, Algorithm::sga);
  inquiry.algorithms = {Algorithm::sga};
  EXPECT_FALSE(recommend(bench, simulation::simulate_ideal(recording), inquiry).has_value());
}

}  // namespace
}  // namespace longpole::allocation
