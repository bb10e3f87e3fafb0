// The order in which threads have their turn: who is on a virtual CPU, who queues for one, who has the
// turn. For lockstep.cc alone.
//
// Threads: everything needs OrderLocked but what is said to be read without.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace longpole::recorder::lockstep {

inline constexpr std::uint64_t kNever = UINT64_MAX;
inline constexpr unsigned kMostCpus = 256;
inline constexpr unsigned kMostThreads = 4096;

// CPU time in ns. How far ahead a thread gets before it gives the turn away at a call, and before a timer
// takes it; what is not worth another look at the next call; the shortest time worth a timer; how long a
// thread keeps a virtual CPU for which others queue.
inline constexpr std::uint64_t kCallSlack = 5'000;
inline constexpr std::uint64_t kTick = 50'000;
inline constexpr std::uint64_t kTooLittle = 500;
inline constexpr std::uint64_t kShortestTick = 20'000;
inline constexpr std::uint64_t kSlice = 3'000'000;

struct Participant {
  enum class State : std::uint8_t {
    kFree,
    kOutside,  // in a call that waits
    kLost,     // lost its turn while it slept in something unknown
    kQueued,   // for a virtual CPU
    kOn,       // a virtual CPU; it runs if it has the turn
  };

  std::uint32_t may_run;    // futex; read without the lock
  std::uint64_t switch_at;  // stamp from which on to look who is behind; read without the lock
  bool let_in;              // it released something that others wait for; its thread's own
  bool awaits;              // outside, until objects[0] is released: await_release()
  State state;
  bool armed;
  bool has_timer;
  int timer;
  pid_t thread;
  std::uint64_t clock;      // up to cpu_since
  std::uint64_t cpu_since;  // the thread's CPU time when it last got the turn or was accounted for
  std::uint64_t stamp_since;  // likewise
  std::uint64_t slice_began;  // clock
  std::uint64_t lost_at;      // CPU time
  const void* spins_on;
  Participant* next_queued;
  // Of the call that waits.
  const void* objects[2];
  std::uint64_t began;  // stamp
  std::uint64_t asleep_for;
  // CPU time that turns have cost, not yet in a record.
  std::uint64_t cost;
  // Stamp of cpu_since, where its thread is still on the way back to the program; 0: it is not.
  std::uint64_t left_at;
  // Stamp of when its stint began, if that was on this way; 0: it was not.
  std::uint64_t stint_from;
};

struct Order {
  unsigned cpus;  // virtual ones
  unsigned on;
  Participant* running[kMostCpus];  // those on a virtual CPU
  Participant* first_queued;
  Participant* last_queued;
  Participant* holder;   // of the turn; null: nobody is ready
  std::uint64_t latest;  // the clock of whoever had it last
  std::uint64_t turns;   // given or kept so far
  unsigned lost;
};
extern Order order;

class OrderLocked {
 public:
  OrderLocked();
  ~OrderLocked();
  OrderLocked(const OrderLocked&) = delete;
  OrderLocked& operator=(const OrderLocked&) = delete;
};

// Null: there are too many.
Participant* add_participant(pid_t thread);
Participant* participant_at(unsigned index);  // null behind the last that there ever was

// Onto a virtual CPU, or into the queue.
void admit(Participant& ready);
// From its virtual CPU, which the first in the queue gets at this clock.
void remove(Participant& running);
// Its slice is over: to the end of the queue.
void rotate(Participant& running);

// Of those that could run besides `but`; null: none.
Participant* furthest_behind(const Participant* but);

// Gives the turn to whoever is furthest behind, and wakes it.
void pass_on();
void give_turn(Participant& next);

}  // namespace longpole::recorder::lockstep
