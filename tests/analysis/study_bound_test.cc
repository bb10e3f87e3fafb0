// A study of runs whose threads are bound to CPUs.
#include <gmock/gmock.h>

#include "analysis/concurrency_classes.h"
#include "analysis/forecast.h"
#include "programs.h"
#include "random_program.h"
#include "rows.h"

namespace longpole::analysis {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

Expected<Executed> run_bound(const Study& study, simulation::Machine machine,
                             const std::vector<std::uint32_t>& binding) {
  machine.threads.resize(binding.size());
  for (std::size_t thread = 0; thread < binding.size(); ++thread)
    machine.threads[thread].cpu = binding[thread];
  const Forecaster forecaster(std::make_shared<const Recording>(study.recording()));
  return forecaster.execute({Computer::Kind::machine, machine}, {});
}

// Thesis, Paper IV section 3: bound as the bin packing has it all threads run one after the other; bound
// as it is best, the two on the other CPU hold up nothing.
TEST(Study, AlongThePathOfABoundRun) {
  const Study study = study_of(read_golden("allocation-four.prog"));
  simulation::Machine machine;
  machine.scheduler = simulation::SchedulerKind::fifo;
  machine.cpus = 2;
  const auto critical = [&](const std::vector<std::uint32_t>& binding) {
    const auto run = run_bound(study, machine, binding);
    const auto table = study.functions(*run->execution);
    EXPECT_EQ(table.cpus, 2U);
    EXPECT_EQ(table.waiting_ns, 0);
    std::vector<double> values{ms(table.total_ns)};
    for (const char* name : {"t1", "t2", "t3", "t4"})
      values.push_back(ms(row_of(study, table, name).critical_self_ns));
    return values;
  };
  EXPECT_THAT(critical({0, 0, 1, 1}), ElementsAre(4006, 1003, 1000, 1001, 1002));
  EXPECT_THAT(critical({0, 1, 1, 0}), ElementsAre(2005, 1003, 0, 0, 1002));
}

TEST(Study, SharesOfABoundRunAddUp) {
  std::size_t runs = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Study study = study_of(read_text(random_program(seed)));
    std::vector<std::uint32_t> binding;
    for (std::uint32_t thread = 0; thread < study.recording().threads.size(); ++thread)
      binding.push_back(thread * 7 % 3);
    simulation::Machine machine;
    machine.scheduler =
        seed % 2 == 0 ? simulation::SchedulerKind::fifo : simulation::SchedulerKind::linux_fair;
    machine.cpus = 3;
    machine.latency = Nanoseconds{seed % 3 * 1000};
    const auto run = run_bound(study, machine, binding);
    // What the ideal execution does not come to, for a thread is cancelled before, is of no account.
    std::size_t missing = 0;
    for (const Thread& thread : study.recording().threads)
      missing += thread.events.size();
    for (const simulation::Segment& segment : study.ideal().segments)
      missing -= segment.running ? 1U : 0U;
    if (!run || missing > 0)
      continue;
    ++runs;
    const Execution& execution = *run->execution;
    std::vector<double> expected(study.recording().functions.size(), 0);
    for (std::uint32_t t = 0; t < execution.thread_count(); ++t) {
      for (PartIndex index = execution.begin(t); index < execution.end(t); ++index) {
        const ExecutionPart part = execution.part(index);
        const Event& event = execution.event(part);
        if (!part.running || !event.profile.known() || execution.weight(index) == 0)
          continue;
        const StackId leaf =
            study.recording().profiles[event.profile.index()].entries.front().stack;
        const auto length = static_cast<double>(part.length.count());
        expected[study.recording().stacks[leaf.index()].function.index()] += length;
      }
    }
    const auto functions = study.functions(execution);
    double of_functions = 0;
    for (const FunctionRow& row : functions.rows) {
      of_functions += row.critical_self_ns;
      if (row.function.known()) {
        EXPECT_THAT(row.critical_self_ns, DoubleNear(expected[row.function.index()], 1)) << seed;
      }
    }
    // The rest is what the machine takes: signals on their way.
    EXPECT_LE(of_functions + functions.waiting_ns, functions.total_ns + 1) << seed;
    if (machine.latency == Nanoseconds{0}) {
      EXPECT_THAT(of_functions + functions.waiting_ns, DoubleNear(functions.total_ns, 1)) << seed;
    }
    EXPECT_THAT(of_functions + functions.waiting_ns + functions.machine_ns.value(),
                DoubleNear(functions.total_ns, 1))
        << seed;
    // Quartz, Equation 1: all together, the time with any CPU busy.
    double normalized = 0;
    for (const FunctionRow& row : functions.rows)
      normalized += row.normalized_self_ns;
    double busy = 0;
    for (const ConcurrencyLevel& level : classify_concurrency(execution).levels)
      busy += level.running > 0 ? level.time_ns : 0;
    EXPECT_THAT(normalized, DoubleNear(busy, 1)) << seed;
    double of_lines = 0;
    for (const LineRow& row : study.lines(execution).rows)
      of_lines += row.critical_ns;
    EXPECT_THAT(of_lines, DoubleNear(of_functions, 1)) << seed;
  }
  EXPECT_GT(runs, 80U);
}

}  // namespace
}  // namespace longpole::analysis
