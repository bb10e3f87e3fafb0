#include "lockstep.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "chunk.h"
#include "lockstep_order.h"
#include "lockstep_overhead.h"
#include "lockstep_releases.h"
#include "lockstep_stint.h"
#include "lockstep_ticks.h"
#include "next_definition.h"
#include "own_signals.h"
#include "thread_log.h"

namespace longpole::recorder::lockstep {

namespace {

using State = Participant::State;

__thread Participant* participant __attribute__((tls_model("initial-exec")));

std::uint64_t cost_of_preparation = 0;  // in CPU time of the first thread

// 0: the thread has gone.
std::uint64_t cpu_time_of(pid_t thread) {
  timespec time;
  return resolved_next.syscall(SYS_clock_gettime, cpu_clock_of(thread), &time) == 0
             ? static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
                   static_cast<std::uint64_t>(time.tv_nsec)
             : 0;
}

void record_turn(unsigned flags, std::uint64_t cost, std::uint64_t cpu_time) {
  const std::uint64_t now = stamp();
  write_record(now, LONGPOLE_TURN, flags, cost, 0, cpu_time, 0);
  // So that the next record does not read the clock, which would be no cost of turns.
  thread_log.last_stamp = thread_log.last_reading = now;
}

// Takes the turn from a thread that sleeps or has gone.
void lose(Participant& sleeper, std::uint64_t cpu_time) {
  sleeper.state = State::kLost;
  sleeper.lost_at = cpu_time;
  sleeper.switch_at = 0;
  sleeper.began = stamp();
  sleeper.asleep_for = 0;
  sleeper.objects[0] = sleeper.objects[1] = nullptr;
  ++order.lost;
  remove(sleeper);
  pass_on();
}

// Those that run again are to step in.
void call_back_lost() {
  constexpr std::uint64_t kRuns = 20'000;
  for (unsigned i = 0; order.lost != 0 && participant_at(i) != nullptr; ++i) {
    if (const Participant& one = *participant_at(i);
        one.state == State::kLost && cpu_time_of(one.thread) > one.lost_at + kRuns) {
      tick_now(one);
    }
  }
}

// What a thread that waits in vain looks at: whether anybody has had a turn since it looked last, and
// whether the holder has done anything.
struct Watch {
  std::uint64_t turns = kNever;
  std::uint64_t cpu_time = kNever;
};

void watch(Watch& before) {
  const OrderLocked locked;
  Participant* const holder = order.holder;
  if (order.turns != before.turns) {
    before = {order.turns, kNever};
  } else if (holder == nullptr) {
    pass_on();
  } else if (const std::uint64_t used = cpu_time_of(holder->thread); used != before.cpu_time) {
    before.cpu_time = used;
    tick_now(*holder);
  } else {
    lose(*holder, used);
  }
}

std::uint64_t clock_after_wait(const Participant& self, std::uint64_t cpu_time);

// With OrderLocked. From outside, at `clock`.
void let_in(Participant& one, std::uint64_t clock) {
  one.clock = clock;
  one.objects[0] = one.objects[1] = nullptr;
  admit(one);
  if (order.holder == nullptr) {
    pass_on();
  } else {
    shorten_stint(*order.holder, one);
  }
}

// Whoever released it may not be in step.
void look_for_oneself(Participant& self) {
  const OrderLocked locked;
  if (self.awaits) {
    end_awaiting(self);
    let_in(self, clock_after_wait(self, thread_cpu_time()));
  }
}

void wait_for_turn(Participant& self) {
  constexpr timespec kPatience{0, 20'000'000};
  Watch seen;
  // When the recording stops, all are free to go.
  while (__atomic_load_n(&self.may_run, __ATOMIC_ACQUIRE) == 0 && in_lockstep()) {
    if (resolved_next.syscall(SYS_futex, &self.may_run, FUTEX_WAIT_PRIVATE, 0, &kPatience) != 0 &&
        errno == ETIMEDOUT) {
      watch(seen);
      look_for_oneself(self);
    }
  }
  __atomic_store_n(&self.may_run, 0, __ATOMIC_RELAXED);
}

// The turn is the thread's own. `begin`: its CPU time when it began to see to turns.
void go_on(Participant& self, std::uint64_t begin) {
  {
    const OrderLocked locked;
    begin_stint(self);
  }
  const std::uint64_t cpu_time = leave(self, begin);
  record_turn(LONGPOLE_RETURNS, self.cost, cpu_time);
  self.cost = 0;
  self.stamp_since = stamp();
}

std::uint64_t clock_after_wait(const Participant& self, std::uint64_t cpu_time) {
  constexpr std::uint64_t kSleepsLonger = 60'000;  // the kernel's slack, and getting up
  const std::uint64_t own = self.clock + (cpu_time - std::min(self.cpu_since, cpu_time));
  const std::uint64_t elapsed = nanoseconds_of(stamp() - self.began);
  if (self.asleep_for != 0) {
    return std::max(own, self.clock + std::min(self.asleep_for + kSleepsLonger, elapsed));
  }
  if (const std::uint64_t released = released_meanwhile(self); released != 0) {
    return std::max(own, released);
  }
  // Nobody knows for whom it waited: at the most until now.
  const std::uint64_t end = self.clock + elapsed;
  return std::max(own, order.holder != nullptr ? std::min(end, clock_now(*order.holder)) : end);
}

// From outside, or lost.
void come_back(Participant& self, std::uint64_t begin) {
  {
    const OrderLocked locked;
    if (self.state == State::kLost) {
      --order.lost;
    }
    end_waiting(self);
    let_in(self, clock_after_wait(self, begin));
  }
  record_turn(LONGPOLE_BEGINS, 0, begin);
  wait_for_turn(self);
  go_on(self, begin);
}

// Those that await it are to wait in the kernel.
void give_up(const void* object, std::uint64_t clock) {
  note_release(object, clock);
  release_of(object).given_up = true;
  while (Participant* one = first_awaiting(object)) {
    end_awaiting(*one);
    let_in(*one, std::max(one->clock, clock));
  }
}

// Of those that await its release, the one that has for longest, a little later than a thread that goes on.
void let_one_in(Participant& self, const void* object) {
  constexpr std::uint64_t kWakeUp = 5'000;
  const AtTurns at_turns(self);
  {
    const OrderLocked locked;
    if (self.state == State::kOn) {
      account(self, at_turns.begin);
    }
    if (Participant* first = first_awaiting(object); first != nullptr) {
      end_awaiting(*first);
      let_in(*first, std::max(first->clock, self.clock + kWakeUp));
    }
  }
  leave(self, at_turns.begin);
  self.stamp_since = stamp();
}

// The thread has the turn, if it did not lose it.
void look(Participant& self, std::uint64_t begin, bool gives_way) {
  if (self.let_in) {
    // They were woken, and have to get a moment of this CPU to step in.
    self.let_in = false;
    resolved_next.sched_yield();
  }
  bool gives_turn = false;
  {
    const OrderLocked locked;
    if (self.state == State::kOn) {
      account(self, begin);
      call_back_lost();
      if (order.first_queued != nullptr && (gives_way || self.clock >= self.slice_began + kSlice)) {
        rotate(self);
        order.holder = &self;
      }
      const Participant* behind = furthest_behind(&self);
      gives_turn = self.state != State::kOn ||
                   (behind != nullptr && behind->clock + kCallSlack < self.clock + kTooLittle);
      ++order.turns;
    }
  }
  if (self.state == State::kOutside || self.state == State::kLost) {
    come_back(self, begin);
    return;
  }
  if (gives_turn) {
    record_turn(LONGPOLE_BEGINS, 0, begin);
    {
      const OrderLocked locked;
      // It would interrupt another thread, of whose time nobody could take it out. One that yields is back before.
      if (!gives_way) {
        no_tick(self);
      }
      pass_on();
    }
    wait_for_turn(self);
  }
  go_on(self, begin);
}

// With all signals blocked.
void on_tick(bool in_system_call) {
  Participant* const self = participant;
  if (self == nullptr || (self->state != State::kOn && self->state != State::kLost)) {
    return;
  }
  const WayBack back(*self);
  const std::uint64_t cpu_time = cpu_time_at(stamp());
  if (self->state == State::kLost) {
    if (in_system_call) {
      self->lost_at = cpu_time;
    } else {
      come_back(*self, cpu_time);
    }
    return;
  }
  const std::uint64_t used = cpu_time - std::min(self->cpu_since, cpu_time);
  if (in_system_call && used < nanoseconds_of(stamp() - self->stamp_since) / 4) {
    const OrderLocked locked;
    account(*self, cpu_time);
    lose(*self, cpu_time);
    return;
  }
  const std::uint64_t tick = std::min(cost_of_tick(), used);
  self->cpu_since += tick;
  self->cost += tick;
  look(*self, cpu_time, false);
}

}  // namespace

bool prepare() {
  const std::uint64_t begin = thread_cpu_time();
  order.cpus = std::min(control().lockstep_cpus, kMostCpus);
  const bool prepared = prepare_ticks(&on_tick);
  cost_of_preparation = thread_cpu_time() - begin;
  return prepared;
}

void begin_thread(std::uint32_t number) {
  if (!in_lockstep()) {
    return;
  }
  const SignalsBlocked blocked;
  const std::uint64_t begin = thread_cpu_time();
  {
    const OrderLocked locked;
    participant = add_participant(static_cast<pid_t>(resolved_next.syscall(SYS_gettid)));
    if (participant == nullptr) {
      return;
    }
    make_timer(*participant);
    const void* const created = reinterpret_cast<const void*>(std::uintptr_t{number});
    const Release& creation = release_of(created);
    participant->clock = creation.object == created ? creation.clock : order.latest;
    participant->cpu_since = begin;
    participant->cost = std::exchange(cost_of_preparation, 0);
    participant->began = stamp();
  }
  const WayBack back(*participant);
  come_back(*participant, begin);
}

void end_thread() {
  if (participant == nullptr) {
    return;
  }
  const SignalsBlocked blocked;
  const OrderLocked locked;
  Participant& self = *participant;
  if (self.state == State::kOn) {
    account(self, thread_cpu_time());
    note_release(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(pthread_self())),
                 self.clock);
    remove(self);
    pass_on();
  } else if (self.state == State::kLost) {
    --order.lost;
  }
  delete_timer(self);
  self.state = State::kFree;
  participant = nullptr;
}

Participant* exchange_participant(Participant* other) {
  return std::exchange(participant, other);
}

void take_turn() {
  Participant* const self = participant;
  if (self == nullptr ||
      (stamp() < __atomic_load_n(&self->switch_at, __ATOMIC_RELAXED) && !self->let_in)) {
    return;
  }
  const AtTurns at_turns(*self);
  look(*self, at_turns.begin, false);
}

void release(longpole_kind kind, const void* object) {
  if (participant == nullptr) {
    return;
  }
  Participant& self = *participant;
  if (kind == LONGPOLE_YIELD && order.first_queued != nullptr) {
    const AtTurns at_turns(self);
    look(self, at_turns.begin, true);
  } else {
    take_turn();
  }
  if (object == nullptr) {
    return;
  }
  note_release(object, clock_now(self));
  const Release& released = release_of(object);
  if (kind == LONGPOLE_CREATE || released.waiters != 0) {
    self.let_in = true;
  }
  if (released.awaiting != 0) {
    let_one_in(self, object);
  }
}

void step_out(longpole_kind kind, const void* object, const void* given_up) {
  if (participant == nullptr || participant->state != State::kOn) {
    return;
  }
  Participant& self = *participant;
  const AtTurns at_turns(self);
  {
    const OrderLocked locked;
    if (self.state != State::kOn) {
      return;
    }
    account(self, at_turns.begin);
    const bool sleeps = kind == LONGPOLE_SLEEP;
    self.asleep_for = sleeps ? reinterpret_cast<std::uintptr_t>(object) : 0;
    const bool names_none = sleeps || kind == LONGPOLE_IO || kind == LONGPOLE_SIGNAL_WAIT;
    self.objects[0] = names_none ? nullptr : object;
    self.objects[1] = given_up;
    self.began = stamp();
    begin_waiting(self);
    if (kind == LONGPOLE_BARRIER_WAIT && object != nullptr) {
      note_release(object, self.clock);  // whoever comes last releases the others
    }
    if (given_up != nullptr) {
      give_up(given_up, self.clock);
    }
    self.state = State::kOutside;
    self.switch_at = 0;
    self.let_in = false;
    no_tick(self);
    remove(self);
    pass_on();
  }
  leave(self, at_turns.begin);
}

void step_in() {
  Participant* const self = participant;
  if (self == nullptr || (self->state != State::kOutside && self->state != State::kLost)) {
    return;
  }
  const AtTurns at_turns(*self);
  come_back(*self, at_turns.begin);
}

bool await_release(const void* object) {
  if (participant == nullptr) {
    return false;
  }
  Participant& self = *participant;
  const AtTurns at_turns(self);
  {
    const OrderLocked locked;
    if (self.state != State::kOutside) {
      return false;
    }
    if (release_of(object).given_up) {
      return false;
    }
    end_waiting(self);
    if (released_meanwhile(self) != 0) {
      let_in(self, clock_after_wait(self, at_turns.begin));
    } else {
      begin_awaiting(self);
    }
  }
  record_turn(LONGPOLE_BEGINS, 0, at_turns.begin);
  wait_for_turn(self);
  go_on(self, at_turns.begin);
  return in_lockstep();
}

void spin_on(const void* object) {
  if (participant == nullptr) {
    resolved_next.sched_yield();
    return;
  }
  Participant& self = *participant;
  const AtTurns at_turns(self);
  if (self.state != State::kOn) {
    come_back(self, at_turns.begin);
    return;
  }
  record_turn(LONGPOLE_BEGINS, 0, at_turns.begin);
  {
    const OrderLocked locked;
    if (self.state == State::kOn) {
      account(self, at_turns.begin);
      self.spins_on = object;
      no_tick(self);
      pass_on();
    }
  }
  wait_for_turn(self);
  go_on(self, at_turns.begin);
}

void end_spinning_on(const void* object) {
  if (participant == nullptr) {
    return;
  }
  Participant& self = *participant;
  const std::uint64_t entered = stamp();
  const SignalsBlocked blocked;
  const std::uint64_t begin = cpu_time_at(entered);
  const OrderLocked locked;
  const std::uint64_t now = clock_now(self);
  bool found = false;
  for (unsigned i = 0; i < order.on; ++i) {
    if (Participant& other = *order.running[i]; other.spins_on == object) {
      found = true;
      other.spins_on = nullptr;
      other.clock = std::max(other.clock, now);
      if (order.holder == &self) {
        shorten_stint(self, other);
      }
    }
  }
  if (found) {
    const std::uint64_t cost = thread_cpu_time() - begin;
    self.cost += cost;
    self.cpu_since += cost;
  }
}

}  // namespace longpole::recorder::lockstep
