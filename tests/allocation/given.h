// What tests of searches start from: a program as text, a machine.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <utility>

#include "simulation/machine.h"
#include "simulation/simulate.h"
#include "trace/program_text.h"

namespace longpole::allocation {

inline Recording read(const std::string& program) {
  auto recording = read_program(program, "test.prog");
  EXPECT_TRUE(recording.has_value());
  return simulation::with_known_condition_counts(*std::move(recording));
}

inline simulation::Machine machine_of(
    std::uint32_t cpus,
    simulation::SchedulerKind scheduler = simulation::SchedulerKind::linux_fair) {
  simulation::Machine machine;
  machine.scheduler = scheduler;
  machine.cpus = cpus;
  return machine;
}

}  // namespace longpole::allocation
