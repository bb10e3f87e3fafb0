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
  std::map<std::uint32_t, std::vector<RealRun>> of_copies;
  std::uint32_t threads;
  std::vector<CpuTimeOn> expected;
};

const std::vector<RealRun>& usual() {
  static const std::vector<RealRun> runs = runs_of({1000, 1000, 2000, 1000, 1000, 1000});
  return runs;
}

void expect_all(const std::vector<Case>& cases) {
  for (const Case& one : cases)
    EXPECT_EQ(cpu_time_on({usual(), one.in_long_slices, one.of_copies}, usual(), one.threads),
              one.expected)
        << one.what;
}

TEST(CpuTimeOn, IsLostInProportionToTheOthersOnTheCpu) {
  const std::vector<RealRun> half = runs_of({500, 510, 1000, 490, 480, 500});
  const std::vector<RealRun> two_as_much = runs_of({500, 1010, 1000, 490, 480, 1010});
  const std::vector<RealRun> four_as_much = runs_of({500, 1010, 2020, 490, 1000, 1010});
  const std::vector<RealRun> next_to_nothing = runs_of({996, 996, 1992, 996, 996, 996});
  const std::vector<RealRun> more = runs_of({1100, 1100, 2200, 1100, 1100, 1100});
  expect_all({
      {"one other in the place of three", half, {}, 4, {{2, 667}, {4, 500}}},
      {"none in the place of one", half, {}, 2, {{2, 500}}},
      {"two thirds of one in the place of four", half, {}, 5, {{2, 688}, {4, 531}, {8, 500}}},
      {"one thread", half, {}, 1, {}},
      {"no thread", half, {}, 0, {}},
      {"nothing is saved", usual(), {}, 4, {}},
      {"next to nothing is saved", next_to_nothing, {}, 4, {}},
      {"long slices cannot lose anything to turns", more, {}, 4, {}},
      {"a third of the rounds denies it", two_as_much, {}, 4, {{2, 667}, {4, 500}}},
      {"two thirds of them do", four_as_much, {}, 4, {}},
  });
}

TEST(CpuTimeOn, IsThatOfCopiesWhereThereAreSome) {
  const std::vector<RealRun> half = runs_of({500, 500, 1000, 500, 500, 500});
  const std::vector<RealRun> less = runs_of({750, 760, 1500, 740, 750, 750});
  const std::vector<RealRun> more = runs_of({1200, 1190, 2400, 1210, 1200, 1200});
  const std::vector<RealRun> two_as_much = runs_of({500, 1010, 1000, 490, 480, 1010});
  const std::vector<RealRun> two_less = runs_of({1200, 990, 2400, 1210, 1200, 990});
  const std::vector<RealRun> next_to_nothing = runs_of({996, 996, 1992, 996, 996, 996});
  expect_all({
      {"less", half, {{2, less}}, 4, {{2, 750}}},
      {"more where memory is short", half, {{2, less}, {4, more}}, 4, {{2, 750}, {4, 1200}}},
      {"a third of the rounds denies that it is less",
       half,
       {{2, two_as_much}, {4, less}},
       4,
       {{2, 500}, {4, 750}}},
      {"a third of them denies that it is more",
       half,
       {{2, two_less}, {4, less}},
       4,
       {{2, 1200}, {4, 750}}},
      {"next to nothing", half, {{2, next_to_nothing}, {4, usual()}}, 4, {}},
  });
  // They are held against the average of the CPUs, not against the first one.
  EXPECT_EQ(cpu_time_on({half, half, {{2, less}}}, usual(), 4), (std::vector<CpuTimeOn>{{2, 750}}));
}

TEST(CpuTimeOn, IsAskedForUpToWhereEachThreadHasACpu) {
  EXPECT_EQ(cpu_counts_to_try(1, 4), std::vector<std::uint32_t>{});
  EXPECT_EQ(cpu_counts_to_try(16, 1), std::vector<std::uint32_t>{});
  EXPECT_EQ(cpu_counts_to_try(2, 4), std::vector<std::uint32_t>{2});
  EXPECT_EQ(cpu_counts_to_try(3, 4), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(cpu_counts_to_try(16, 4), (std::vector<std::uint32_t>{2, 4}));
  EXPECT_EQ(cpu_counts_to_try(1024, 5), (std::vector<std::uint32_t>{2, 4, 8}));
}

}  // namespace
}  // namespace longpole::analysis
