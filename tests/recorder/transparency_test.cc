// Whatever the recorder does, the program must not notice: same output, same end.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>

#include "specimen.h"

namespace longpole::test {
namespace {

// Where the launcher has the program.
class OnOneCpu {
 public:
  OnOneCpu() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (std::size_t cpu = 0; CPU_COUNT(&one) == 0 && cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) {
        CPU_SET(cpu, &one);
      }
    }
    sched_setaffinity(0, sizeof one, &one);
  }
  ~OnOneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_;
};

std::string name_of(const Specimen& specimen) {
  std::string name = specimen.name;
  for (const std::string& argument : specimen.arguments) {
    name += "_" + argument;
  }
  return name;
}

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

TEST_P(Transparency, LockstepChangesNothing) {
  const OnOneCpu pinned;
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  directory.control().sample_hz = 1000;
  directory.control().lockstep_cpus = 2;
  EXPECT_EQ(run_recorded(GetParam(), directory), run_bare(GetParam()));
  EXPECT_FALSE(directory.threads().empty());
}

// In lockstep no tick is sent to a thread that waits, as these specimens send what is handled.
class PortableTransparency : public testing::TestWithParam<Specimen> {};

TEST_P(PortableTransparency, RecordingChangesNothing) {
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  directory.control().sample_hz = 1000;
  EXPECT_EQ(run_recorded(GetParam(), directory), run_bare(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Specimens, PortableTransparency,
                         testing::Values(Specimen{"signal_sets"}, Specimen{"uninterrupted"}),
                         [](const auto& tested) { return name_of(tested.param); });

class Following : public testing::TestWithParam<Specimen> {};

TEST_P(Following, ChangesNothing) {
  for (const longpole_cpu_clock clock : {LONGPOLE_CPU_CLOCK_KERNEL, LONGPOLE_CPU_CLOCK_THREAD}) {
    RunDirectory directory;
    directory.control().follow = 1;
    directory.control().cpu_clock = clock;
    directory.control().sample_hz = 1000;
    EXPECT_EQ(run_recorded(GetParam(), directory), run_bare(GetParam()));
    EXPECT_FALSE(directory.threads().empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Specimens, Following,
    testing::Values(Specimen{"children"}, Specimen{"forks"}, Specimen{"forks_amid_threads"},
                    Specimen{"file_limits"}, Specimen{"faults", {"fault"}}, Specimen{"main_exits"},
                    Specimen{"quick_exits"}, Specimen{"thread_local_destructors"},
                    Specimen{"family", {"forked", "5"}}, Specimen{"family", {"killed"}},
                    Specimen{"family", {"outlives"}}, Specimen{"family", {"replaced"}},
                    Specimen{"preloads", {}, std::nullopt, "preloaded.so"}),
    [](const auto& tested) { return name_of(tested.param); });

INSTANTIATE_TEST_SUITE_P(
    Specimens, Transparency,
    testing::Values(
        Specimen{"barriers"}, Specimen{"c11_threads"}, Specimen{"cancellations"},
        Specimen{"channels"}, Specimen{"children"}, Specimen{"closed_descriptors"},
        Specimen{"conditions"}, Specimen{"connections"}, Specimen{"cpu_counts"},
        Specimen{"early_signals"}, Specimen{"early_threads"}, Specimen{"early_threads", {"asks"}},
        Specimen{"execs"}, Specimen{"faults", {"abort"}}, Specimen{"faults", {"fault"}},
        Specimen{"faults", {"handled"}}, Specimen{"file_limits"}, Specimen{"forks"},
        Specimen{"interrupted"}, Specimen{"io"}, Specimen{"main_exits"},
        Specimen{"many_locks", {"50000"}}, Specimen{"many_threads"}, Specimen{"mutexes"},
        Specimen{"once"}, Specimen{"own_futexes"}, Specimen{"own_signals"}, Specimen{"pauses"},
        Specimen{"plugins"}, Specimen{"quick_exits"}, Specimen{"rwlocks"}, Specimen{"semaphores"},
        Specimen{"signal_handlers"}, Specimen{"signal_waits"}, Specimen{"signals_taken_late"},
        Specimen{"small_default_stacks"}, Specimen{"small_stacks"}, Specimen{"spin_locks"},
        Specimen{"synchronized"}, Specimen{"standard_threads"}, Specimen{"thread_attributes"},
        Specimen{"thread_local_destructors"}, Specimen{"threads"}, Specimen{"turns_at_a_condition"},
        Specimen{"unwinding"}, Specimen{"vforks"},
        Specimen{"preloads", {}, std::nullopt, "preloaded.so"}),
    [](const auto& tested) { return name_of(tested.param); });

}  // namespace
}  // namespace longpole::test
