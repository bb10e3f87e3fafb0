#include "analysis/call_paths.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "analysis/study.h"
#include "programs.h"
#include "random_program.h"

namespace longpole::analysis {
namespace {

using ::testing::ElementsAre;

TEST(CallPaths, TellsTheWaysToAFunctionApart) {
  const Recording recording = read_text(R"(
thread A
  enter main
  enter parse
  run copy 3
  leave parse
  enter work
  run copy 4
  run sum 2
  leave work
  leave main
thread B
  run idle 5
)");
  const Study study(std::make_shared<const Recording>(recording));
  const CallPathTable table = call_paths(study.recording(), study.ideal(), 2, Scheduler::shared);
  std::vector<std::string> rows;
  for (const CallPathRow& row : table.rows)
    rows.push_back(fmt::format("{:{}}{} {:g} {:g}", "", row.depth,
                               recording.functions[row.function.index()].name,
                               row.critical_self_ns / 1e6, row.critical_total_ns / 1e6));
  EXPECT_THAT(rows, ElementsAre("main 0 9", " work 0 6", "  copy 4 4", "  sum 2 2", " parse 0 3",
                                "  copy 3 3", "idle 0 0"));
  EXPECT_EQ(table.total_ns, 9e6);
}

TEST(CallPaths, AddUpToFunctionsAndToTheWhole) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Study study(std::make_shared<const Recording>(read_text(random_program(seed))));
    for (const std::uint32_t cpus : {1U, 2U, 5U}) {
      const CallPathTable table =
          call_paths(study.recording(), study.ideal(), cpus, Scheduler::shared);
      std::map<FunctionId, CallPathRow> sums;
      double all = table.waiting_ns;
      for (std::size_t r = 0; r < table.rows.size(); ++r) {
        const CallPathRow& row = table.rows[r];
        EXPECT_LE(row.parent, r);
        sums[row.function].self_ns += row.self_ns;
        sums[row.function].critical_self_ns += row.critical_self_ns;
        all += row.critical_self_ns;
        // What is below adds up to what is above.
        double below = row.critical_self_ns;
        for (std::size_t c = r + 1; c < table.rows.size(); ++c)
          below += table.rows[c].parent == r && c != r ? table.rows[c].critical_total_ns : 0;
        EXPECT_NEAR(below, row.critical_total_ns, 1e-3);
      }
      EXPECT_NEAR(all, table.total_ns, 1e-9 * table.total_ns) << seed;
      for (const FunctionRow& row :
           study.functions(cpus, Scheduler::shared, WithHeadroom::no).rows) {
        EXPECT_NEAR(sums[row.function].self_ns, row.self_ns, 1e-3) << seed;
        EXPECT_NEAR(sums[row.function].critical_self_ns, row.critical_self_ns, 1e-3) << seed;
      }
    }
  }
}

}  // namespace
}  // namespace longpole::analysis
