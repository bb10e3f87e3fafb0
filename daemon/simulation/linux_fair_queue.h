// What the `linux` scheduler (linux_fair.h) knows of each thread and of each CPU's queue.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "simulation/deadline_queue.h"
#include "simulation/load_average.h"
#include "simulation/newly_idle.h"
#include "simulation/scheduler.h"
#include "simulation/virtual_time.h"

namespace longpole::simulation {

// Of a thread, on the virtual clock of the queue that it is in, or was in last.
struct FairEntity {
  std::int64_t virtual_time = 0;
  std::int64_t deadline = 0;
  std::int64_t lag = 0;              // that it had when it left its queue
  std::int64_t protected_until = 0;  // virtual time up to which it keeps its CPU while eligible
  std::int64_t weight = weight_of_nice_0;
  std::int64_t virtual_slice = 0;
  std::int64_t waits_since = 0;
  std::int64_t ran_until = std::numeric_limits<std::int64_t>::min() / 2;  // when it last lost a CPU
  LoadAverage load;
  LoadAverage use;                     // of a CPU: full_use while it has one
  std::int64_t expected_use = 0;       // of it as it goes to sleep, of late
  std::uint32_t weighs_on = no_cpu;    // the CPU that its load is part of
  std::uint32_t last_before = no_cpu;  // where it was when an idle CPU was looked for the last time
  std::uint32_t waker = no_cpu;        // where it was woken from
  bool delayed = false;                // sleeps, in its queue
  bool real_time = false;
  bool moves = true;  // it may use any CPU

  // What it has used by now is expected of it again where that is more than before, else a quarter of the difference less.
  void goes_to_sleep() {
    const std::int64_t more = use.last() - expected_use;
    expected_use += more > 0 ? more : more / 4;
  }
};
// On a CPU, for a new thread.
struct FairRoom {
  enum class Kind : std::uint8_t { some, little, none };
  Kind kind;
  std::int64_t taken;  // how much the CPU was used where there is some, else how heavy it is
  auto operator<=>(const FairRoom&) const = default;
};
// Of a CPU.
struct FairQueue {
  std::uint32_t current = no_thread;  // who has the CPU, and stands in neither of the queues
  std::int64_t accounted = 0;         // up to here it was charged for it, or the one before
  DeadlineQueue fair;
  std::size_t delayed = 0;  // of those in `fair`
  std::int64_t delayed_weight = 0;
  std::int64_t floor = 0;  // the virtual time where nobody is left to have one
  std::uint32_t failed_balances = 0;
  LoadAverage load;               // of those that are in it, sleep, or were here last
  LoadAverage use;                // of its CPU by those, likewise
  bool is_balanced = false;       // as its CPU last found it
  std::int64_t last_balance = 0;  // the tick at which it looked
  bool is_idle = true;
  std::int64_t idle_since = 0;
  std::int64_t busy_since = 0;  // since when its CPU has been so, or was before it fell idle
  // When its CPU learns that somebody came who is to have it; the largest number: nobody did.
  std::int64_t interrupted_at = std::numeric_limits<std::int64_t>::max();
  NewlyIdle newly_idle;
  std::int64_t left_at = -1;  // when its CPU last let go of threads that slept in it,
  std::size_t left = 0;       // and of how many

  // That stand in it: those that sleep there, too.
  [[nodiscard]] std::size_t size() const { return fair.size() + (current == no_thread ? 0 : 1); }
  [[nodiscard]] std::size_t ready() const { return fair.size() - delayed; }
  // That stood in it before its CPU chose a thread, where it does now.
  [[nodiscard]] std::size_t size_before(std::int64_t now) const {
    return size() + (left_at == now ? left : 0);
  }
};

}  // namespace longpole::simulation
