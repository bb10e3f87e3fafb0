// Tables of some threads alone.
#include <gmock/gmock.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/forecast.h"
#include "analysis/study.h"
#include "analysis/sums_by_cpus.h"
#include "programs.h"
#include "random_program.h"

namespace longpole::analysis {
namespace {

using testing::DoubleNear;

// What some threads do and what the others do is all that is done, under the paper's schedulers and on a
// machine; and what one thread does weighs what its row says.
TEST(Study, ChosenThreadsHaveTheirPartOfEverything) {
  const auto functions_in = [](const Study& study, const Table<FunctionRow>& table) {
    std::map<std::string, std::array<double, 4>> rows;
    for (const FunctionRow& row : table.rows)
      rows[row.function.known() ? study.recording().functions[row.function.index()].name : ""] = {
          row.critical_self_ns, row.critical_total_ns, row.self_ns, row.normalized_self_ns};
    return rows;
  };
  const auto lines_in = [](const Table<LineRow>& table) {
    std::map<std::tuple<FileId, std::uint32_t, FunctionId>, double> rows;
    for (const LineRow& row : table.rows)
      rows[{row.file, row.line, row.function}] += row.critical_ns;
    return rows;
  };
  std::size_t several = 0;
  std::size_t runs = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto recording = std::make_shared<const Recording>(read_text(random_program(seed)));
    const Study study(recording);
    std::vector<ThreadId> some;
    std::vector<ThreadId> others;
    for (std::uint32_t t = 0; t < study.recording().threads.size(); ++t)
      (t % 3 == 0 ? some : others).push_back(ThreadId{t});
    several += others.empty() ? 0U : 1U;
    const auto of_some = study.choose(some);
    const auto of_others = study.choose(others);
    const auto expect_parts = [&](const auto& all, const auto& one, const auto& other) {
      EXPECT_EQ(one.total_ns, all.total_ns) << seed;
      EXPECT_THAT(one.waiting_ns + other.waiting_ns, DoubleNear(all.waiting_ns, 1e-3)) << seed;
    };
    const auto check = [&](const auto& functions, const auto& lines) {
      const auto all = functions(study.all_threads());
      const auto one = functions(*of_some);
      const auto other = functions(*of_others);
      expect_parts(all, one, other);
      auto together = functions_in(study, one);
      for (const auto& [name, values] : functions_in(study, other)) {
        for (std::size_t i = 0; i < values.size(); ++i)
          together[name].at(i) += values.at(i);
      }
      for (const auto& [name, values] : functions_in(study, all)) {
        for (std::size_t i = 0; i < values.size(); ++i)
          EXPECT_THAT(together[name].at(i), DoubleNear(values.at(i), 1e-3)) << seed << name << i;
      }
      auto all_lines = lines_in(lines(study.all_threads()));
      for (const auto& part : {lines_in(lines(*of_some)), lines_in(lines(*of_others))}) {
        for (const auto& [place, critical] : part)
          all_lines[place] -= critical;
      }
      for (const auto& [place, left] : all_lines)
        EXPECT_THAT(left, DoubleNear(0, 1e-3)) << seed;
    };
    for (const std::uint32_t cpus : {1U, 3U}) {
      check([&](const auto& of) { return study.functions(cpus, Scheduler::shared, of); },
            [&](const auto& of) { return study.lines(cpus, Scheduler::shared, of); });
      for (const ThreadRow& row : study.threads(cpus, Scheduler::shared).rows) {
        const std::vector<ThreadId> alone = {row.thread};
        const auto table = study.functions(cpus, Scheduler::shared, *study.choose(alone));
        double critical = 0;
        for (const FunctionRow& function : table.rows)
          critical += function.critical_self_ns;
        EXPECT_THAT(critical, DoubleNear(row.critical_ns, 1e-3)) << seed;
        EXPECT_THAT(table.waiting_ns, DoubleNear(row.critical_waiting_ns, 1e-3)) << seed;
      }
    }
    simulation::Machine machine;
    machine.scheduler = simulation::SchedulerKind::fifo;
    machine.cpus = 2;
    const auto run =
        Forecaster(recording).execute({Computer::Kind::machine, machine}, ModelChoice{});
    if (!run)
      continue;
    ++runs;
    check([&](const auto& of) { return study.functions(*run->execution, of); },
          [&](const auto& of) { return study.lines(*run->execution, of); });
  }
  EXPECT_GT(several, 40U);
  EXPECT_GT(runs, 20U);
}

}  // namespace
}  // namespace longpole::analysis
