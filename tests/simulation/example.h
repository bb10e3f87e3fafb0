// A small program on a machine, with the intervals that its scheduler's page promises: program in, table out
// (machine_table.h).
#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

#include "machine_table.h"
#include "simulation/simulate.h"
#include "simulation/simulator.h"
#include "trace/recording_text.h"

namespace longpole::simulation {

struct Example {
  std::string name;
  std::string program;
  Machine machine;
  std::string table;
};

inline void PrintTo(const Example& example, std::ostream* out) {
  *out << example.name;
}

inline std::string name_of_example(const testing::TestParamInfo<Example>& info) {
  return info.param.name;
}

class ExampleTest : public testing::TestWithParam<Example> {
 protected:
  static void expect_it_runs_as_written() {
    EXPECT_EQ(machine_table(GetParam().program, GetParam().machine), GetParam().table);
  }
};

inline Machine on_cpus(SchedulerKind scheduler, std::uint32_t cpus) {
  Machine machine;
  machine.scheduler = scheduler;
  machine.cpus = cpus;
  return machine;
}

inline Machine fifo(std::uint32_t cpus) {
  return on_cpus(SchedulerKind::fifo, cpus);
}

inline Machine linux_fair(std::uint32_t cpus, int tick_ms = 4) {
  Machine machine = on_cpus(SchedulerKind::linux_fair, cpus);
  machine.tick = std::chrono::milliseconds(tick_ms);
  return machine;
}

// How long a recording takes there, given as text.
inline Nanoseconds total(const std::string& text, const Machine& machine) {
  return simulate(*read_recording_text(text, "test"), machine)->end.total;
}

}  // namespace longpole::simulation
