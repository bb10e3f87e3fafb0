#include "analysis/cpu_time_on.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string_view>
#include <vector>

namespace longpole::analysis {
namespace {

std::vector<RealRun> runs_of(std::initializer_list<int> cpu_time_ms) {
  std::vector<RealRun> runs;
  for (const int ms : cpu_time_ms)
    runs.push_back({.cpu_time = Nanoseconds{ms * 1'000'000LL}});
  return runs;
}

struct Case {
  std::string_view what;
  std::vector<RealRun> in_long_slices;
  std::map<std::uint32_t, std::vector<RealRun>> in_groups;
  std::uint32_t threads;
  std::vector<CpuTimeOn> expected;
};

TEST(CpuTimeOn, IsWhatRunsInTurnsSay) {
  const std::vector<RealRun> usual = runs_of({1000, 1000, 2000, 1000, 1000, 1000});
  const std::vector<RealRun> three_quarters = runs_of({750, 760, 1500, 740, 750, 750});
  const std::vector<RealRun> more = runs_of({600, 600, 1200, 600, 600, 600});
  const std::vector<RealRun> half = runs_of({500, 510, 1000, 490, 480, 500});
  const std::vector<RealRun> less = runs_of({400, 400, 800, 400, 400, 400});
  const std::vector<RealRun> two_as_much = runs_of({500, 1010, 1000, 490, 480, 1010});
  const std::vector<RealRun> one_as_much = runs_of({500, 500, 1000, 500, 480, 1010});
  const std::vector<Case> cases = {
      {"in as many groups", half, {{2, three_quarters}, {4, half}}, 4, {{2, 750}, {4, 500}}},
      {"never less than where nobody takes turns", half, {{2, less}}, 4, {{2, 500}}},
      {"no more on more CPUs", half, {{2, half}, {4, more}}, 4, {{2, 500}, {4, 500}}},
      {"nothing is saved", usual, {{2, usual}}, 4, {}},
      {"next to nothing is saved", half, {{2, runs_of({996, 996, 1992, 996, 996, 996})}}, 4, {}},
      {"a third of the rounds says so, in long slices", two_as_much, {{2, half}}, 4, {}},
      {"a third of the rounds says so, in groups", half, {{2, two_as_much}}, 4, {}},
      {"a sixth of them does", one_as_much, {{2, one_as_much}}, 4, {{2, 500}}},
      {"nobody may group", half, {}, 4, {{2, 750}, {4, 500}}},
      {"nobody may group, and two CPUs are enough", half, {}, 2, {{2, 500}}},
  };
  for (const Case& one : cases)
    EXPECT_EQ(cpu_time_on({usual, one.in_long_slices, one.in_groups}, one.threads), one.expected)
        << one.what;
}

TEST(CpuTimeOn, TriesAsManyGroupsAsThereAreThreads) {
  EXPECT_EQ(groups_to_try(1, 4), std::vector<std::uint32_t>{});
  EXPECT_EQ(groups_to_try(2, 4), std::vector<std::uint32_t>{2});
  EXPECT_EQ(groups_to_try(3, 4), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(groups_to_try(16, 4), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(groups_to_try(16, 1), std::vector<std::uint32_t>{2});
  EXPECT_EQ(groups_to_try(1024, 5), (std::vector<std::uint32_t>{2, 4, 8}));
}

}  // namespace
}  // namespace longpole::analysis
