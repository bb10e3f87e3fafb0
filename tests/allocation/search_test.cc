// The searches for a binding on small programs, where all bindings can be looked at.
#include "allocation/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "allocation/bound_parameters.h"
#include "allocation/local_search.h"
#include "analysis/forecast.h"
#include "given.h"
#include "paper_programs.h"
#include "random_program.h"
#include "simulation/simulate.h"
#include "storage/load.h"
#include "trace/program_text.h"

namespace longpole::allocation {
namespace {

using simulation::Machine;
using simulation::SchedulerKind;
using std::chrono::milliseconds;

SearchResult find(TestBench& bench, Algorithm algorithm, const SearchOptions& options = {}) {
  auto result = search(bench, algorithm, options);
  EXPECT_TRUE(result.has_value());
  return *std::move(result);
}

Trial test_one(TestBench& bench, const Binding& binding) {
  auto trials = bench.test({&binding, 1});
  EXPECT_TRUE(trials.has_value());
  return trials->front();
}

// All bindings, without those that differ in nothing that counts.
std::set<Binding> all_bindings(const TestBench& bench) {
  std::set<Binding> all;
  Binding binding(bench.recording().threads.size(), 0);
  for (;;) {
    all.insert(bench.canonical(binding));
    std::size_t at = 0;
    while (at < binding.size() && ++binding[at] == bench.cpus())
      binding[at++] = 0;
    if (at == binding.size())
      return all;
  }
}

TEST(Binding, WithoutSimulation) {
  EXPECT_EQ(block_binding(7, 3), (Binding{0, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(block_binding(2, 3), (Binding{0, 1}));
  EXPECT_EQ(round_robin_binding(5, 3), (Binding{0, 1, 2, 0, 1}));
  EXPECT_EQ(
      bin_packed_binding(
          {milliseconds(1003), milliseconds(1000), milliseconds(1001), milliseconds(1002)}, 2),
      (Binding{0, 0, 1, 1}));
}

TEST(Binding, WhatDiffersInNothingThatCountsIsOne) {
  Machine machine = machine_of(4);
  EXPECT_EQ(Interchangeable(machine).canonical({3, 1, 3, 0, 9}), (Binding{0, 1, 0, 2, 9}));
  machine.nodes = {0, 0, 1, 1};
  EXPECT_EQ(Interchangeable(machine).canonical({3, 1, 2}), (Binding{0, 2, 1}));
  machine.nodes = {0, 1, 1, 1};
  EXPECT_EQ(Interchangeable(machine).canonical({3, 0, 2}), (Binding{1, 0, 2}));
  machine.speeds = {1000, 1000, 1000, 500};
  EXPECT_EQ(Interchangeable(machine).canonical({3, 0, 2}), (Binding{3, 0, 2}));
}

TEST(Search, PaperFourSection3) {
  const auto recording = storage::load_recording(LONGPOLE_GOLDEN "/allocation-four.prog");
  ASSERT_TRUE(recording.has_value());
  for (const SchedulerKind scheduler : {SchedulerKind::linux_fair, SchedulerKind::fifo}) {
    TestBench bench(*recording, machine_of(2, scheduler), 2);
    EXPECT_EQ(find(bench, Algorithm::binpack).trial.total, milliseconds(4006));
    const SearchResult simple = find(bench, Algorithm::sga);
    EXPECT_EQ(simple.trial.total, milliseconds(2005));
    EXPECT_EQ(simple.binding, (Binding{0, 1, 1, 0}));  // T1 and T4 together
    EXPECT_EQ(simple.tests, 6U);                       // P(P + 1)/2 − 1 + P(T − P)
    EXPECT_EQ(find(bench, Algorithm::c_sga).tests, 7U);
  }
}

// What the bench predicts is what `simulate` says of the same binding, which differs from what it tests.
TEST(TestBench, PredictsTheMiddleOfWhatChanceCanDo) {
  bool differs = false;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Recording read_from_text = read(analysis::random_program(seed));
    read_from_text.run.costs.wake_up = std::chrono::microseconds(30);
    const auto recording = std::make_shared<const Recording>(std::move(read_from_text));
    const analysis::Forecaster forecaster(recording);
    analysis::Computer computer{analysis::Computer::Kind::machine,
                                machine_of(2, SchedulerKind::linux_fair)};
    TestBench bench(*recording, computer.machine, 2);
    const Binding binding =
        bench.canonical(block_binding(recording->threads.size(), computer.machine.cpus));
    const auto unbound = bench.predict_unbound();
    const auto forecast_unbound = forecaster.on(computer, {});
    for (const std::uint32_t cpu : binding)
      computer.machine.threads.emplace_back().cpu = cpu;
    const auto bound = bench.predict(binding);
    const auto forecast = forecaster.on(computer, {});
    ASSERT_TRUE(unbound && forecast_unbound && bound && forecast);
    EXPECT_EQ(unbound->deadlocks, forecast_unbound->deadlock.has_value()) << seed;
    EXPECT_EQ(bound->deadlocks, forecast->deadlock.has_value()) << seed;
    if (!unbound->deadlocks) {
      EXPECT_EQ(static_cast<double>(unbound->total.count()), forecast_unbound->total_ns) << seed;
    }
    if (!bound->deadlocks) {
      EXPECT_EQ(static_cast<double>(bound->total.count()), forecast->total_ns) << seed;
      EXPECT_LE(bound->spread->least, bound->total) << seed;
      EXPECT_GE(bound->spread->most, bound->total) << seed;
      differs |= bench.test({&binding, 1})->front().total != bound->total;
    }
  }
  EXPECT_TRUE(differs);
}

TEST(TestBench, AgreesWithTheForecastOfTheSameMachine) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto recording = std::make_shared<const Recording>(read(analysis::random_program(seed)));
    const analysis::Forecaster forecaster(recording);
    for (const SchedulerKind scheduler : {SchedulerKind::linux_fair, SchedulerKind::fifo}) {
      for (const std::int64_t latency : {0, 300'000}) {
        Machine machine = machine_of(3, scheduler);
        machine.latency = Nanoseconds{latency};
        if (seed % 2 == 0) {
          machine.nodes = {0, 0, 1};
          machine.node_latency = Nanoseconds{4 * latency};
        }
        TestBench bench(*recording, machine, 2);
        Random random(seed);
        std::vector<Binding> bindings(4, Binding(recording->threads.size()));
        for (Binding& binding : bindings) {
          for (std::uint32_t& cpu : binding)
            cpu = static_cast<std::uint32_t>(below(random, 3));
        }
        const auto trials = bench.test(bindings, TestBench::Delays::yes);
        ASSERT_TRUE(trials.has_value());
        for (std::size_t i = 0; i < bindings.size(); ++i) {
          analysis::Computer computer{analysis::Computer::Kind::machine, machine};
          for (const std::uint32_t cpu : bench.canonical(bindings[i]))
            computer.machine.threads.emplace_back().cpu = cpu;
          const auto forecast = forecaster.on(computer, {});
          ASSERT_TRUE(forecast.has_value());
          EXPECT_EQ((*trials)[i].deadlocks, forecast->deadlock.has_value()) << seed;
          if (!forecast->deadlock) {
            EXPECT_EQ(static_cast<double>((*trials)[i].total.count()), forecast->total_ns) << seed;
            EXPECT_EQ((*trials)[i].model, forecast->model) << seed;
          }
        }
      }
    }
  }
}

TEST(TestBench, ProgramsThatStandStillDirectlyAreTestedByAnotherModel) {
  const auto recording = storage::load_recording(LONGPOLE_GOLDEN "/model-q.rec");
  ASSERT_TRUE(recording.has_value());
  const auto threads = static_cast<std::uint32_t>(recording->threads.size());
  TestBench bench(*recording, machine_of(threads, SchedulerKind::fifo), 1);
  const Trial trial = test_one(bench, round_robin_binding(threads, threads));
  EXPECT_EQ(trial.model, simulation::Model::client_server);
  EXPECT_EQ(trial.total, milliseconds(10));
}

TEST(TestBench, SignalsTakeLongerBetweenNodes) {
  const Recording recording = read(
      "thread A\n  run a 1\n  post S\n"
      "thread B\n  wait S\n  run b 1\n");
  Machine machine = machine_of(4);
  machine.latency = milliseconds(1);
  machine.nodes = {0, 0, 1, 1};
  machine.node_latency = milliseconds(5);
  TestBench bench(recording, machine, 1);
  EXPECT_EQ(test_one(bench, {0, 0}).total, milliseconds(2));
  EXPECT_EQ(test_one(bench, {0, 1}).total, milliseconds(3));
  EXPECT_EQ(test_one(bench, {0, 2}).total, milliseconds(7));
  EXPECT_EQ(find(bench, Algorithm::guided).binding, (Binding{0, 0}));
}

TEST(TestBench, SaysWhatHeldUpTheEnd) {
  // On one CPU in fifo order: A, then B, which C on the other CPU waits for.
  const Recording recording = read(
      "thread A\n  run a 3\n"
      "thread B\n  run b 1\n  post S\n"
      "thread C\n  wait S\n  run c 1\n");
  Machine machine = machine_of(2, SchedulerKind::fifo);
  machine.latency = milliseconds(2);
  TestBench bench(recording, machine, 1);
  const Binding binding{0, 0, 1};
  const auto trials = bench.test({&binding, 1}, TestBench::Delays::yes);
  ASSERT_TRUE(trials.has_value());
  EXPECT_EQ(trials->front().total, milliseconds(7));
  ASSERT_TRUE(trials->front().delays.has_value());
  const std::vector<Delay>& delays = *trials->front().delays;
  ASSERT_EQ(delays.size(), 2U);
  EXPECT_EQ(delays[0].thread, 1U);
  EXPECT_EQ(delays[0].culprit, 0U);
  EXPECT_EQ(delays[0].time, milliseconds(3));
  EXPECT_FALSE(delays[0].by_latency);
  EXPECT_EQ(delays[1].thread, 2U);
  EXPECT_EQ(delays[1].culprit, 1U);
  EXPECT_EQ(delays[1].time, milliseconds(2));
  EXPECT_TRUE(delays[1].by_latency);
}

// What `allocate` says of a binding that takes longer than the bound: a better one exists.
TEST(Search, SomeBindingIsAsFastAsTheBound) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const Recording recording =
        read(seed % 2 == 0 ? paper_program(5, seed) : analysis::random_program(seed));
    const simulation::Schedule ideal = simulation::simulate_ideal(recording);
    for (const SchedulerKind scheduler : {SchedulerKind::linux_fair, SchedulerKind::fifo}) {
      for (const std::int64_t latency : {0, 300'000}) {
        Machine machine = machine_of(seed % 3 == 0 ? 3 : 2, scheduler);
        machine.latency = Nanoseconds{latency};
        machine.wake_up = Nanoseconds{latency / 3};
        const auto bound = surely_reached(recording, ideal, machine);
        if (!bound)
          continue;
        TestBench bench(recording, machine, 1);
        Nanoseconds least = Nanoseconds::max();
        for (const Binding& binding : all_bindings(bench))
          least = std::min(least, test_one(bench, binding).total);
        EXPECT_LE(least.count(), *bound) << seed;
      }
    }
  }
}

// Each of the two signals finds its waiter's CPU idle.
TEST(Search, TheBoundKnowsThatIdleCpusWakeUpLate) {
  const Recording recording = read(
      "thread A\n  run a 2\n  post S\n  run a 1\n  wait T\n"
      "thread B\n  run b 1\n  wait S\n  run b 2\n  post T\n");
  const simulation::Schedule ideal = simulation::simulate_ideal(recording);
  for (const bool late : {false, true}) {
    Machine machine = machine_of(2);
    machine.wake_up = late ? std::chrono::microseconds(500) : Nanoseconds{};
    TestBench bench(recording, machine, 1);
    const milliseconds total(late ? 5 : 4);
    EXPECT_EQ(find(bench, Algorithm::guided).trial.total, total);
    EXPECT_EQ(surely_reached(recording, ideal, machine), Rational(Nanoseconds(total).count()));
  }
}

TEST(Search, EndsWhenNothingIsLeftAndFindsTheBest) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Recording recording = read(paper_program(5, seed));
    TestBench bench(recording, machine_of(3), 2);
    const std::set<Binding> all = all_bindings(bench);
    EXPECT_EQ(all.size(), 41U);  // partitions of 5 threads into up to 3 sets
    Nanoseconds least = Nanoseconds::max();
    for (const Binding& binding : all)
      least = std::min(least, test_one(bench, binding).total);
    EXPECT_EQ(bench.simulated(), all.size());
    for (const Algorithm algorithm : {Algorithm::dynamic_start, Algorithm::guided}) {
      const SearchResult result = find(bench, algorithm, {.tests = 10'000, .seed = seed});
      EXPECT_EQ(result.trial.total, least) << name_of(algorithm);
      EXPECT_LE(result.tests, all.size()) << name_of(algorithm);
    }
    const SearchResult greedy = find(bench, Algorithm::greedy, {.tests = 10'000, .patience = 0});
    EXPECT_LE(greedy.tests, all.size());
  }
}

TEST(Search, TheNumberOfWorkersMakesNoDifference) {
  const Recording recording = read(paper_program(12, 3));
  for (const Algorithm algorithm :
       {Algorithm::sga, Algorithm::greedy, Algorithm::dynamic_start, Algorithm::guided}) {
    std::vector<SearchResult> results;
    for (const unsigned workers : {1U, 2U, 5U}) {
      TestBench bench(recording, machine_of(4), workers);
      results.push_back(find(bench, algorithm, {.tests = 150, .seed = 7}));
    }
    for (const SearchResult& result : results) {
      EXPECT_EQ(result.binding, results.front().binding) << name_of(algorithm);
      EXPECT_EQ(result.tests, results.front().tests) << name_of(algorithm);
      EXPECT_EQ(result.improvements.size(), results.front().improvements.size());
    }
  }
}

TEST(Search, NeverTestsABindingTwice) {
  const Recording recording = read(paper_program(10, 5));
  for (const Algorithm algorithm :
       {Algorithm::greedy, Algorithm::dynamic_start, Algorithm::guided}) {
    TestBench bench(recording, machine_of(3), 1);
    const SearchResult result = find(bench, algorithm, {.tests = 200});
    EXPECT_EQ(bench.simulated(), result.tests) << name_of(algorithm);
  }
}

TEST(Search, SomeAreNeverWorseThanOthers) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Recording recording = read(paper_program(8, seed));
    TestBench bench(recording, machine_of(3), 1);
    const auto total = [&](Algorithm algorithm) {
      return find(bench, algorithm, {.tests = 60}).trial.total;
    };
    EXPECT_LE(total(Algorithm::c_sga), total(Algorithm::binpack));
    EXPECT_LE(total(Algorithm::c_sga), total(Algorithm::sga));
    EXPECT_LE(total(Algorithm::greedy), total(Algorithm::binpack));
    for (const Algorithm plain : {Algorithm::block, Algorithm::round_robin, Algorithm::binpack})
      EXPECT_LE(total(Algorithm::guided), total(plain));
  }
}

TEST(Search, StopsAfterSoManyTestsWithoutGain) {
  const Recording recording = read(paper_program(16, 2));
  TestBench bench(recording, machine_of(4), 2);
  const SearchResult result = find(bench, Algorithm::greedy, {.tests = 100'000, .patience = 30});
  EXPECT_EQ(result.tests, result.improvements.back().tests + 30);
}

TEST(Search, AStopRequestLeavesTheBestSoFar) {
  const Recording recording = read(paper_program(12, 1));
  for (std::size_t i = 0; i < algorithm_count; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    TestBench bench(recording, machine_of(4), 2);
    std::stop_source stop;
    SearchOptions options{.tests = 100'000, .patience = 0, .stop = stop.get_token()};
    options.progress = [&](const SearchResult& so_far) {
      if (so_far.tests >= 10)
        stop.request_stop();
    };
    const SearchResult result = find(bench, algorithm, options);
    EXPECT_EQ(result.binding.size(), 12U) << name_of(algorithm);
    EXPECT_THAT(result.binding, testing::Each(testing::Lt(4U))) << name_of(algorithm);
    EXPECT_LE(result.tests, 60U) << name_of(algorithm);
    EXPECT_EQ(result.trial.total, test_one(bench, result.binding).total) << name_of(algorithm);
  }
}

TEST(Search, SaysWhenThereAreTooManyShadowCpus) {
  Recording recording = read(paper_program(8, 1));
  TestBench bench(recording, machine_of(simulation::most_cpus - 2), 1);
  const auto found = search(bench, Algorithm::sga, {});
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::limit);
  EXPECT_THAT(found.error().why, testing::HasSubstr("not placed yet"));
}

}  // namespace
}  // namespace longpole::allocation
