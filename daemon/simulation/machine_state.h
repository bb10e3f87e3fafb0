// What each thread and each CPU of a simulated machine (event_machine.h) is at. Times as there: nanoseconds
// since the program's start.
#pragma once

#include <cstdint>

#include "simulation/scheduler.h"
#include "simulation/simulator.h"
#include "simulation/synchronization.h"
#include "trace/recording.h"

namespace longpole::simulation {

enum class Doing : std::uint8_t {
  not_started,
  queued,
  running,
  waiting,    // off the CPU for a fixed time
  signalled,  // but the signal is still on its way from another CPU
  blocked,
  ended,
};
struct ThreadState {
  const Event* events = nullptr;
  std::uint32_t event_count = 0;
  std::uint32_t event = nobody;  // the current one; the first comes when the thread starts
  std::int64_t left = 0;         // CPU time until its call, at the recorded speed
  std::int64_t owed = 0;         // to be taken out of its recorded CPU times still, see OwnWork
  std::int64_t ready = 0;        // as in Stretch, of the current one
  std::int64_t start = 0;
  std::int64_t takes_up = 0;  // from here it gets on; before, its CPU switches to it
  StretchIndex released_by = no_stretch;
  StretchIndex given_by = no_stretch;
  std::uint32_t cpu = no_cpu;  // that it runs on, or is placed on
  Doing doing = Doing::not_started;
  bool retries = false;          // its call found nothing free before
  bool spins = false;            // it has a CPU, and is in a call that finds nothing free
  bool comes_from_afar = false;  // woken from another CPU than the one it is placed on
  bool wakes_cpu = false;        // likewise, and that CPU was idle; until its stretch ends
  OffCpu was = OffCpu::created;  // why it could not run
};
struct CpuState {
  std::uint32_t speed = recorded_speed;
  std::uint32_t last_thread = no_thread;
  StretchIndex last_stretch = no_stretch;
  std::int64_t last_end = 0;    // of that
  std::int64_t busy_until = 0;  // with a call, before its thread goes on or another takes its place
  std::int64_t awake = 0;       // since it was last woken up: before, it runs nobody
};

}  // namespace longpole::simulation
