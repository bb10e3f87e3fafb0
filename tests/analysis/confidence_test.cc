// What is not known for sure widens the interval, each thing on its side.
#include "analysis/confidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "programs.h"

namespace longpole::analysis {
namespace {

// Two threads take turns by semaphores: every turn begins with a wake-up.
Recording recorded(const std::string& in_main = "") {
  Recording out = read_text("thread main\n  create other\n" + in_main + R"(
  run f 1
  post a
  wait b
  run f 1
  post a
  wait b
  run f 4
  join other
thread other
  wait a
  run g 1
  post b
  wait a
  run g 1
  post b
  run g 4
)");
  out.run.source = Source::kernel;
  out.run.elapsed = Nanoseconds{12'000'000};
  out.run.cpu_time = Nanoseconds{12'000'000};
  return out;
}

struct Found {
  double predicted;
  Interval interval;
};

Found found(const Recording& recording) {
  const auto shared = std::make_shared<const Recording>(recording);
  Computer computer{Computer::Kind::machine, {}};
  computer.machine.cpus = 2;
  const Forecaster forecaster(shared);
  const double on_one = forecaster.on(with_one_cpu(computer), {})->total_ns;
  const double total = forecaster.on(computer, {})->total_ns;
  return {on_one / total, *Confidence::of(shared)->of_speedup(computer, {}, on_one, total)};
}

std::vector<std::string> doubts(const Recording& recording) {
  std::vector<std::string> codes;
  for (const Notice& doubt : doubts_of(recording))
    codes.push_back(doubt.code);
  return codes;
}

TEST(Doubts, AreOfThreadsThatEndBeforeTheirFirstSample) {
  Recording recording = recorded();
  recording.run.cpu_time = Nanoseconds{1'000'000'000};
  recording.run.sample_hz = 250;
  recording.run.samples = 124;
  EXPECT_EQ(doubts(recording), std::vector<std::string>{"threads-too-short"});
  EXPECT_NE(doubts_of(recording)[0].text.find("of some 250 samples 124 were taken"),
            std::string::npos);
  recording.run.samples = 125;
  EXPECT_TRUE(doubts(recording).empty());
  recording.run.samples = 30;
  EXPECT_EQ(doubts(recording), (std::vector<std::string>{"few-samples", "threads-too-short"}));
  recording.run.source = Source::portable;
  EXPECT_EQ(doubts(recording), std::vector<std::string>{"few-samples"});
  // A run so short has few of them in any case.
  recording.run.source = Source::kernel;
  recording.run.cpu_time = Nanoseconds{70'000'000};
  recording.run.samples = 3;
  EXPECT_EQ(doubts(recording), std::vector<std::string>{"few-samples"});
}

TEST(Doubts, SayWhatCpuTimeIsTakenToBeSaved) {
  Recording recording = recorded();
  recording.run.samples = 1000;
  recording.run.cpu_time_on = {{2, 826}, {4, 620}};
  EXPECT_EQ(doubts(recording), std::vector<std::string>{"caches"});
  EXPECT_NE(doubts_of(recording)[0].text.find("it takes 83% on 2, 62% on 4, by"),
            std::string::npos);
  recording.run.cpu_time_on = {{2, 996}, {4, 950}};
  EXPECT_NE(doubts_of(recording)[0].text.find("it takes 95% on 4, by"), std::string::npos);
  recording.run.cpu_time_on = {{2, 1150}};
  EXPECT_NE(doubts_of(recording)[0].text.find("it takes 115% on 2, by"), std::string::npos);
  recording.run.cpu_time_on = {{2, 996}, {4, 1004}};
  EXPECT_EQ(doubts(recording), std::vector<std::string>{});
}

TEST(Confidence, NothingIsKnownOfWhatWasNotMeasured) {
  Recording recording = recorded();
  recording.run.source = Source::program;
  EXPECT_FALSE(Confidence::of(std::make_shared<const Recording>(recording)).has_value());
}

TEST(Confidence, WithoutDoubtsTheIntervalIsThePrediction) {
  const Found without = found(recorded());
  EXPECT_DOUBLE_EQ(without.interval.low, without.predicted);
  EXPECT_DOUBLE_EQ(without.interval.high, without.predicted);
}

// On 2 CPUs: that none of it is saved there, to half of it more.
TEST(Confidence, DoubtsHowMuchCpuTimeTurnsSave) {
  Recording recording = recorded();
  const double without = found(recording).predicted;
  recording.run.cpu_time_on = {{2, 800}};
  const Found with = found(recording);
  EXPECT_NEAR(with.predicted, without / 0.8, 0.001);
  EXPECT_NEAR(with.interval.low, without, 0.001);
  EXPECT_NEAR(with.interval.high, without / 0.7, 0.001);
  recording.run.cpu_time_on = {{2, 1200}};
  const Found slower = found(recording);
  EXPECT_NEAR(slower.predicted, without / 1.2, 0.001);
  EXPECT_NEAR(slower.interval.low, without / 1.3, 0.001);
  EXPECT_NEAR(slower.interval.high, without, 0.001);
}

struct Dearer {
  double without;
  Found once;
  double twice;
};

Dearer found_with(Nanoseconds HostCosts::*cost) {
  Recording recording = recorded();
  const double without = found(recording).predicted;
  recording.run.costs.*cost = Nanoseconds{200'000};
  const Found once = found(recording);
  recording.run.costs.*cost = Nanoseconds{400'000};
  return {without, once, found(recording).predicted};
}

TEST(Confidence, WakeUpsMayTakeNothingOrTwiceAsLong) {
  const Dearer wake_ups = found_with(&HostCosts::wake_up);
  ASSERT_LT(wake_ups.once.predicted, wake_ups.without);
  EXPECT_DOUBLE_EQ(wake_ups.once.interval.high, wake_ups.without);
  EXPECT_DOUBLE_EQ(wake_ups.once.interval.low, wake_ups.twice);
}

TEST(Confidence, SwitchesTakeAsLongOnOneCpu) {
  const Dearer switches = found_with(&HostCosts::context_switch);
  ASSERT_GT(switches.once.predicted, switches.without);
  EXPECT_DOUBLE_EQ(switches.once.interval.low, switches.without);
  EXPECT_DOUBLE_EQ(switches.once.interval.high, switches.twice);
}

// B falls idle again and again beside C, which waits for A's CPU. Whether it looks for C, it learnt before the run.
TEST(Confidence, CpusThatFallIdleMayHaveLearntToLookOrNotTo) {
  std::string text = "thread A\n  run f 30\nthread B\n";
  for (int i = 0; i < 10; ++i)
    text += "  run g 100us\n  sleep 200us\n";
  text += "thread C\n  run f 30\n";
  Recording recording = read_text(text);
  recording.run.source = Source::kernel;
  recording.run.cpu_time = Nanoseconds{61'000'000};
  recording.run.costs.wake_up = Nanoseconds{10'000};
  const auto shared = std::make_shared<const Recording>(recording);
  const auto speedup = [&](std::uint32_t share, int wake_ups) {
    Computer computer{Computer::Kind::machine, {}};
    computer.machine.cpus = 2;
    computer.machine.newly_idle_share = share;
    computer.machine.wake_up = recording.run.costs.wake_up * wake_ups;
    const Forecaster forecaster(shared);
    return forecaster.on(with_one_cpu(computer), {})->total_ns /
           forecaster.on(computer, {})->total_ns;
  };
  const Found shown = found(recording);
  const auto distance = [&](double other) { return std::log(other / shown.predicted); };
  const double never = distance(speedup(0, 1));
  const double always = distance(speedup(1024, 1));
  const double at_once = distance(speedup(128, 0));
  const double late = distance(speedup(128, 2));
  ASSERT_NE(never, always);
  EXPECT_NEAR(-distance(shown.interval.low),
              std::hypot(std::min({never, always, 0.0}), std::min({at_once, late, 0.0})), 1e-9);
  EXPECT_NEAR(distance(shown.interval.high),
              std::hypot(std::max({never, always, 0.0}), std::max({at_once, late, 0.0})), 1e-9);
}

TEST(Confidence, AThirdOfTheCostOfRecordingMayBeLeftInOrBeTheProgramsOwn) {
  Recording recording = recorded();
  const auto events = static_cast<double>(recording.event_count());
  recording.run.cost_per_event = Nanoseconds{10'000};
  const double share = events * 10'000 / 12e6;
  EXPECT_DOUBLE_EQ(recording_share(recording), share);
  const Found shown = found(recording);
  EXPECT_DOUBLE_EQ(shown.interval.low, shown.predicted * (1 - share / 3));
  EXPECT_DOUBLE_EQ(shown.interval.high, shown.predicted * (1 + share / 3));
}

TEST(Confidence, WaitsForNobodyKnownMayNotBeThere) {
  const Found shown = found(recorded("  external 2\n"));
  EXPECT_DOUBLE_EQ(shown.interval.low, shown.predicted);
  EXPECT_DOUBLE_EQ(shown.interval.high, found(recorded()).predicted);
}

// No machine has them twice as dear.
TEST(Confidence, TheDearestCostsAreStillDoubted) {
  const auto recording = std::make_shared<const Recording>(recorded());
  Computer computer = computer_named("fifo").value();
  computer.machine.cpus = 2;
  computer.machine.switch_cost = std::chrono::milliseconds(600);
  const double on_one = Forecaster(recording).on(with_one_cpu(computer), {})->total_ns;
  const double total = Forecaster(recording).on(computer, {})->total_ns;
  EXPECT_TRUE(Confidence::of(recording)->of_speedup(computer, {}, on_one, total).has_value());
}

// A thousandth of the recorded speed is the slowest that a CPU can be.
TEST(Confidence, TheSlowestCpuIsCompensatedAsFarAsItCanBe) {
  const Forecaster forecaster(
      std::make_shared<const Recording>(read_text("thread main\n  run f 1\n")));
  Computer computer{Computer::Kind::machine, {}};
  computer.machine.speeds = {1};
  EXPECT_DOUBLE_EQ(forecaster.compensated_total(computer, {}, 1e9, 3).value(), 1e9);
}

// 3, 4 and 5: so many tenths of the way to e times as much, or to one e-th.
double twice_e_to(double tenths) {
  return 2 * std::exp(tenths / 10);
}

TEST(Confidence, IndependentDoubtsAddUpAsSquaresDo) {
  const Interval first = with_doubt({2, 2}, 2, {twice_e_to(-3), twice_e_to(3)});
  EXPECT_DOUBLE_EQ(first.low, twice_e_to(-3));
  EXPECT_DOUBLE_EQ(first.high, twice_e_to(3));
  const Interval both = with_doubt(first, 2, {twice_e_to(-4), twice_e_to(4)});
  EXPECT_DOUBLE_EQ(both.low, twice_e_to(-5));
  EXPECT_DOUBLE_EQ(both.high, twice_e_to(5));
}

TEST(Confidence, DoubtsLeaveASpeedUpAboveNothing) {
  const Interval both = with_doubt({0.5, 2}, 2, {0.25, 2});
  EXPECT_GT(both.low, 0);
  EXPECT_LT(both.low, 0.25);
}

TEST(Confidence, ADoubtToOneSideLeavesTheOtherEnd) {
  const Interval interval{twice_e_to(-3), twice_e_to(3)};
  const Interval slower = with_doubt(interval, 2, {twice_e_to(-4), 1.8});
  EXPECT_DOUBLE_EQ(slower.low, twice_e_to(-5));
  EXPECT_DOUBLE_EQ(slower.high, twice_e_to(3));
  const Interval faster = with_doubt(interval, 2, {2.1, twice_e_to(4)});
  EXPECT_DOUBLE_EQ(faster.low, twice_e_to(-3));
  EXPECT_DOUBLE_EQ(faster.high, twice_e_to(5));
}

TEST(Confidence, CachesThatAreKeptStretchTheUpperEnd) {
  const Interval kept = with_caches_kept({1.8, 2}, 2, 0.2);
  EXPECT_DOUBLE_EQ(kept.low, 1.8);
  EXPECT_DOUBLE_EQ(kept.high, 2.5);
  EXPECT_DOUBLE_EQ(with_caches_kept({1.8, 2}, 2, -0.1).high, 2);  // noise
}

// As long in f as asleep, on two CPUs: what computing takes has no part in the sleep.
TEST(Confidence, ComputingIsCompensatedAndWaitingIsNot) {
  const auto recording =
      std::make_shared<const Recording>(read_text("thread main\n  run f 10\n  sleep 10\n"));
  const Forecaster forecaster(recording);
  Computer computer{Computer::Kind::machine, {}};
  computer.machine.cpus = 2;
  EXPECT_DOUBLE_EQ(*forecaster.compensated_total(computer, {}, 20e6, 1.25), 22.5e6);
  EXPECT_DOUBLE_EQ(*forecaster.compensated_total(computer, {}, 20e6, 0.8), 18e6);
  // As in the paper: Ocean on 8 processors, where Linux took 0.97 and Solaris 1.12 of the CPU time.
  EXPECT_NEAR(4.35 / *forecaster.compensated_total({}, {}, 1, 0.97 / 1.12), 5.02, 0.005);
}

}  // namespace
}  // namespace longpole::analysis
