// What it takes a CPU of this machine to change threads.
#include "recording/thread_changes.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

#include "recording/system.h"

namespace longpole::recording {
namespace {

constexpr Nanoseconds none{0};
constexpr Nanoseconds longer_than_any{1'000'000};

void expect_possible(const HostCosts& costs) {
  EXPECT_GT(costs.context_switch + costs.block + costs.release, none);
  for (const Nanoseconds cost : {costs.context_switch, costs.block, costs.release}) {
    EXPECT_GE(cost, none);
    EXPECT_LT(cost, longer_than_any);
  }
}

HostCosts with(std::int64_t context_switch, std::int64_t block, std::int64_t release) {
  HostCosts costs;
  costs.context_switch = Nanoseconds{context_switch};
  costs.block = Nanoseconds{block};
  costs.release = Nanoseconds{release};
  return costs;
}

TEST(ThreadChanges, TakeTheirTimeOnTheCpuThatIsAskedFor) {
  const std::uint32_t cpu = usable_cpus().back();
  std::vector<std::uint32_t> afterwards;
  std::thread([&] {
    expect_possible(costs_of_changes(cpu, few_changes));
    afterwards = usable_cpus();
  }).join();
  EXPECT_THAT(afterwards, testing::ElementsAre(cpu));
}

TEST(ThreadChanges, AreMeasuredByAChildWithoutMovingThisProcess) {
  const std::vector<std::uint32_t> before = usable_cpus();
  expect_possible(costs_of_changes_in_child(before.front()));
  EXPECT_EQ(usable_cpus(), before);
}

TEST(ThreadChanges, OfARunLieBetweenThoseBeforeAndThoseBehindIt) {
  const HostCosts before = with(100, 30, 10);
  const HostCosts after = with(200, 50, 0);
  EXPECT_EQ(between(before, after), with(150, 40, 5));
  EXPECT_EQ(between(before, {}), before);
  EXPECT_EQ(between({}, after), after);
}

}  // namespace
}  // namespace longpole::recording
