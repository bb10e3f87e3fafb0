// Whatever the recorder does, the program must not notice: same output, same end.
#include <gtest/gtest.h>

#include "specimen.h"

namespace longpole::test {
namespace {

class Transparency : public testing::TestWithParam<Specimen> {};

TEST_P(Transparency, IdleRecorderChangesNothing) {
  EXPECT_EQ(run_beside_idle_recorder(GetParam()), run_bare(GetParam()));
}

TEST_P(Transparency, RecordingChangesNothing) {
  const RunDirectory directory;
  EXPECT_EQ(run_recorded(GetParam(), directory), run_bare(GetParam()));
  EXPECT_FALSE(directory.threads().empty());
}

TEST_P(Transparency, PortableRecordingChangesNothing) {
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  directory.control().sample_hz = 1000;
  EXPECT_EQ(run_recorded(GetParam(), directory), run_bare(GetParam()));
  EXPECT_FALSE(directory.threads().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Specimens, Transparency,
    testing::Values(Specimen{"barriers"}, Specimen{"c11_threads"}, Specimen{"cancellations"},
                    Specimen{"children"}, Specimen{"closed_descriptors"}, Specimen{"conditions"},
                    Specimen{"cpu_counts"}, Specimen{"early_signals"}, Specimen{"execs"},
                    Specimen{"faults", {"abort"}}, Specimen{"faults", {"fault"}},
                    Specimen{"faults", {"handled"}}, Specimen{"forks"}, Specimen{"interrupted"},
                    Specimen{"io"}, Specimen{"main_exits"}, Specimen{"many_locks", {"50000"}},
                    Specimen{"many_threads"}, Specimen{"mutexes"}, Specimen{"once"},
                    Specimen{"own_futexes"}, Specimen{"own_signals"}, Specimen{"pauses"},
                    Specimen{"plugins"}, Specimen{"quick_exits"}, Specimen{"rwlocks"},
                    Specimen{"semaphores"}, Specimen{"signal_handlers"}, Specimen{"signal_waits"},
                    Specimen{"spin_locks"}, Specimen{"synchronized"}, Specimen{"standard_threads"},
                    Specimen{"thread_attributes"}, Specimen{"thread_local_destructors"},
                    Specimen{"threads"}, Specimen{"unwinding"},
                    Specimen{"preloads", {}, std::nullopt, "preloaded.so"}),
    [](const testing::TestParamInfo<Specimen>& tested) {
      std::string name = tested.param.name;
      for (const std::string& argument : tested.param.arguments) {
        name += "_" + argument;
      }
      return name;
    });

}  // namespace
}  // namespace longpole::test
