#include "analysis/cpu_time_on.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace longpole::analysis {
namespace {

std::vector<RealRun> runs_of(std::initializer_list<int> cpu_time_ms) {
  std::vector<RealRun> runs;
  for (const int ms : cpu_time_ms)
    runs.push_back({.cpu_time = Nanoseconds{ms * 1'000'000LL}});
  return runs;
}

const std::vector<RealRun> usual = runs_of({1000, 1000, 2000, 1000, 1000, 1000});
const std::vector<RealRun> half = runs_of({500, 510, 1000, 490, 480, 500});

TEST(CpuTimeOn, IsThatOfRunsInAsManyGroups) {
  const std::vector<RealRun> three_quarters = runs_of({750, 760, 1500, 740, 750, 750});
  EXPECT_EQ(cpu_time_on({usual, half, {{2, three_quarters}, {4, half}}}, 4),
            (std::vector<CpuTimeOn>{{2, 750}, {4, 500}}));
}

TEST(CpuTimeOn, IsNeverLessThanWhereNobodyTakesTurns) {
  const std::vector<RealRun> less = runs_of({400, 400, 800, 400, 400, 400});
  EXPECT_EQ(cpu_time_on({usual, half, {{2, less}}}, 4), (std::vector<CpuTimeOn>{{2, 500}}));
}

TEST(CpuTimeOn, DoesNotGrowWithTheNumberOfCpus) {
  const std::vector<RealRun> more = runs_of({600, 600, 1200, 600, 600, 600});
  EXPECT_EQ(cpu_time_on({usual, half, {{2, half}, {4, more}}}, 4),
            (std::vector<CpuTimeOn>{{2, 500}, {4, 500}}));
}

TEST(CpuTimeOn, IsAsOnOneWhereMoreThanAQuarterOfTheRoundsSayThat) {
  const std::vector<RealRun> two_more = runs_of({500, 1010, 1000, 490, 480, 1010});
  EXPECT_TRUE(cpu_time_on({usual, two_more, {{2, half}}}, 4).empty());
  EXPECT_TRUE(cpu_time_on({usual, half, {{2, two_more}}}, 4).empty());
  const std::vector<RealRun> one_more = runs_of({500, 500, 1000, 500, 480, 1010});
  EXPECT_EQ(cpu_time_on({usual, one_more, {{2, one_more}}}, 4), (std::vector<CpuTimeOn>{{2, 500}}));
  EXPECT_TRUE(cpu_time_on({usual, usual, {{2, usual}}}, 4).empty());
}

TEST(CpuTimeOn, FallsAsTheLogarithmWhereNobodyMayGroup) {
  EXPECT_EQ(cpu_time_on({usual, half, {}}, 4), (std::vector<CpuTimeOn>{{2, 750}, {4, 500}}));
  EXPECT_EQ(cpu_time_on({usual, half, {}}, 2), (std::vector<CpuTimeOn>{{2, 500}}));
}

TEST(CpuTimeOn, TriesAsManyGroupsAsThereAreThreads) {
  EXPECT_EQ(groups_to_try(1, 4), std::vector<std::uint32_t>{});
  EXPECT_EQ(groups_to_try(2, 4), std::vector<std::uint32_t>{2});
  EXPECT_EQ(groups_to_try(3, 4), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(groups_to_try(16, 4), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(groups_to_try(16, 1), std::vector<std::uint32_t>{2});
  EXPECT_EQ(groups_to_try(1024, 5), (std::vector<std::uint32_t>{2, 4, 8}));
}

// 4 threads for 3 ms and one for 4: three quarters of the work has three others beside it.
TEST(CpuTimeOn, CountsThreadsByTheWorkThatIsDoneBesideThem) {
  const std::vector<simulation::ConcurrencyStep> ideal = {
      {Nanoseconds{0}, 4}, {Nanoseconds{3}, 1}, {Nanoseconds{7}, 0}};
  EXPECT_DOUBLE_EQ(threads_at_once(ideal), 3) << "(12 * 4 + 4) / 16";
  EXPECT_DOUBLE_EQ(threads_at_once({}), 1);
}

}  // namespace
}  // namespace longpole::analysis
