// The scheduler `fifo`, and what is the same under all: costs, speeds, latency, refusals.
#include <gmock/gmock.h>

#include "machine_table.h"
#include "simulation/simulator.h"

namespace longpole::simulation {
namespace {

struct Case {
  std::string name;
  std::string program;
  std::uint32_t cpus = 1;
  std::string table;
};

void PrintTo(const Case& test, std::ostream* out) {
  *out << test.name;
}

class Fifo : public testing::TestWithParam<Case> {};

TEST_P(Fifo, RunsAsWritten) {
  Machine machine;
  machine.scheduler = SchedulerKind::fifo;
  machine.cpus = GetParam().cpus;
  EXPECT_EQ(machine_table(GetParam().program, machine), GetParam().table);
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Examples, Fifo,
    testing::Values(Case{"OneAfterTheOther", R"(
thread A
  run f 3
thread B
  run f 2
)",
                         1, R"(A: cpu0 0-3 run, end@3
B: runnable 0-3 after A, cpu0 3-5 run, end@5
)"},
                    Case{"HigherPriorityTakesTheCpuAtOnce", R"(
thread A priority=1
  run f 2
  create B
  run f 3
thread B priority=2
  run f 4
)",
                         1,
                         R"(A: cpu0 0-2 run, create@2, runnable 2-6 after B, cpu0 6-9 run, end@9
B: blocked 0-2 by A, cpu0 2-6 run, end@6
)"}),
    name_of);

}  // namespace
}  // namespace longpole::simulation
