#include "analysis/accounts.h"

#include <gtest/gtest.h>

#include <numeric>

#include "programs.h"
#include "random_program.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

// Asked for together or one after the other, in blocks of whatever size: the same.
TEST(Accounts, SumsOfManyCountsAreThoseOfEach) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Recording recording = read_text(random_program(seed));
    const simulation::Schedule schedule = simulation::simulate_ideal(recording);
    const Accounts accounts(recording, schedule);
    std::vector<std::uint32_t> counts(45);
    std::iota(counts.begin(), counts.end(), 1);
    const std::vector<AccountSums> together = accounts.sum(schedule, counts);
    ASSERT_EQ(together.size(), counts.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const AccountSums alone = accounts.sum(schedule, counts[i]);
      EXPECT_EQ(together[i].cpus, counts[i]);
      EXPECT_TRUE(together[i].critical == alone.critical);
      EXPECT_EQ(together[i].normalized, alone.normalized);
      EXPECT_EQ(together[i].critical_calls, alone.critical_calls);
      // Along the weights of the other sweep.
      const AccountSums weighed =
          accounts.sum(schedule, extended_critical_path(schedule, counts[i]));
      EXPECT_TRUE(weighed.critical == alone.critical);
      EXPECT_EQ(weighed.critical_calls, alone.critical_calls);
    }
  }
}

}  // namespace
}  // namespace longpole::analysis
