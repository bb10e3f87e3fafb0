// Spinning in Quartz's measures, worked by hand.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/quartz.h"
#include "programs.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

class Spinning {
 public:
  Spinning(const std::string& program, std::uint32_t cpus)
      : recording_(read_text(program)),
        schedule_(simulation::simulate_ideal(recording_)),
        report_(Quartz(recording_, schedule_).report(cpus, Scheduler::shared)) {}

  [[nodiscard]] const QuartzRow& row(const std::string& name) const {
    for (const QuartzRow& row : report_.rows) {
      if (name_of(row.entity) == name)
        return row;
    }
    throw std::invalid_argument(name);
  }
  [[nodiscard]] const StateTime& state(const std::string& name, ThreadState which) const {
    return row(name).total.states.at(static_cast<std::size_t>(which));
  }
  [[nodiscard]] double normalized(const std::string& name) const {
    return row(name).total.normalized_ns;
  }
  [[nodiscard]] const QuartzReport& report() const { return report_; }

 private:
  [[nodiscard]] std::string name_of(const Entity& entity) const {
    switch (entity.kind) {
      case EntityKind::program:
        return "program";
      case EntityKind::function:
        return recording_.functions[entity.id].name;
      case EntityKind::object:
        return recording_.objects[entity.id].name;
      case EntityKind::thread:
        return "thread " + recording_.threads[entity.id].name;
    }
    return {};
  }

  Recording recording_;
  simulation::Schedule schedule_;
  QuartzReport report_;
};

TEST(QuartzSpinning, AWaitForASpinLockIsSpinningNotBlocked) {
  // A has M to 4 and ends at 5; B gets it at 4 and ends at 6.
  const Spinning program(R"(
thread A
  lock M spinning
  run a 4
  unlock M
  run a 1
thread B
  lock M spinning
  run b 2
  unlock M
)",
                         2);
  EXPECT_EQ(program.state("M", ThreadState::spinning).time_ns, 4e6);
  EXPECT_THAT(program.state("M", ThreadState::spinning).at_runnable, ElementsAre(0, 4e6));
  EXPECT_EQ(program.state("M", ThreadState::blocked).time_ns, 0);
  EXPECT_EQ(program.state("thread B", ThreadState::spinning).time_ns, 4e6);
  EXPECT_EQ(program.state("thread A", ThreadState::spinning).time_ns, 0);
  EXPECT_EQ(program.normalized("a"), 4.5e6);
  EXPECT_EQ(program.normalized("b"), 1.5e6);
  EXPECT_EQ(program.normalized("program"), 6e6);
  EXPECT_EQ(program.report().tree.front().spinning_ns, 4e6);
  EXPECT_EQ(program.report().tree.front().blocked_ns, 0);
}

constexpr const char* yielding = R"(
thread A
  run a 100us
thread B
  yield
  run s 10us
  yield
  run s 10us
  yield
  run s 10us
  yield
  run b 40us
)";

// B spins to 30 and computes to 70, while A computes to 100: A alone keeps a CPU busy to 30.
TEST(QuartzSpinning, CpusThatSpinAreNotBusy) {
  const Spinning program(yielding, 2);
  EXPECT_EQ(program.state("s", ThreadState::spinning).time_ns, 30e3);
  EXPECT_THAT(program.state("s", ThreadState::spinning).at_runnable, ElementsAre(0, 0, 30e3));
  EXPECT_EQ(program.state("s", ThreadState::spinning).average_runnable, 2);
  EXPECT_EQ(program.state("s", ThreadState::busy).time_ns, 0);
  EXPECT_EQ(program.state("program", ThreadState::busy).time_ns, 140e3);
  EXPECT_THAT(program.row("program").total.terms_ns,
              ElementsAre(DoubleNear(60e3, 1e-6), DoubleNear(40e3, 1e-6)));
  EXPECT_THAT(program.normalized("a"), DoubleNear(80e3, 1e-6));
  EXPECT_THAT(program.normalized("b"), DoubleNear(20e3, 1e-6));
  EXPECT_THAT(program.normalized("s"), DoubleNear(0, 1e-6));
  EXPECT_THAT(program.normalized("thread B"), DoubleNear(20e3, 1e-6));
  EXPECT_THAT(program.normalized("program"), DoubleNear(program.report().total_ns, 1e-6));
}

// The two share one CPU for 70 µs of the ideal execution; spinning takes half of the first 30.
TEST(QuartzSpinning, TakesCpuTimeFromOthers) {
  const Spinning program(yielding, 1);
  EXPECT_EQ(program.report().total_ns, 170e3);
  EXPECT_EQ(program.state("s", ThreadState::spinning).time_ns, 30e3);
  EXPECT_EQ(program.state("s", ThreadState::ready).time_ns, 30e3);
  EXPECT_THAT(program.normalized("a"), DoubleNear(130e3, 1e-6));
  EXPECT_THAT(program.normalized("b"), DoubleNear(40e3, 1e-6));
  EXPECT_THAT(program.normalized("program"), DoubleNear(170e3, 1e-6));
}

TEST(QuartzSpinning, EndsWithTheTryThatGoesWell) {
  const Spinning program(R"(
thread A
  lock M
  run a 25us
  unlock M
thread B
  trylock M busy
  run s 10us
  trylock M busy
  run s 10us
  trylock M busy
  run s 10us
  trylock M ok
  run b 10us
  unlock M
)",
                         2);
  EXPECT_EQ(program.state("s", ThreadState::spinning).time_ns, 30e3);
  EXPECT_EQ(program.state("b", ThreadState::spinning).time_ns, 0);
  EXPECT_EQ(program.state("b", ThreadState::busy).time_ns, 10e3);
}

TEST(QuartzSpinning, TwoCallsInVainOrWorkBetweenThemAreNone) {
  for (const char* calls :
       {"  yield\n  run s 10us\n  yield\n  run s 10us\n",
        "  yield\n  run s 30us\n  yield\n  run s 30us\n  yield\n  run s 30us\n"}) {
    const Spinning program(std::string("thread A\n") + calls, 2);
    EXPECT_EQ(program.state("program", ThreadState::spinning).time_ns, 0) << calls;
  }
}

}  // namespace
}  // namespace longpole::analysis
