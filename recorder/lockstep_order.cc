#include "lockstep_order.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>

#include "next_definition.h"

namespace longpole::recorder::lockstep {

Order order;

namespace {

Participant participants[kMostThreads];
unsigned participants_ever = 0;
bool locked = false;

}  // namespace

// All are on one CPU: whoever has it will not give it back before the owner of the lock runs.
OrderLocked::OrderLocked() {
  while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE)) {
    resolved_next.sched_yield();
  }
}

OrderLocked::~OrderLocked() {
  __atomic_clear(&locked, __ATOMIC_RELEASE);
}

Participant* add_participant(pid_t thread) {
  unsigned index = 0;
  while (index < participants_ever && participants[index].state != Participant::State::kFree) {
    ++index;
  }
  if (index == kMostThreads) {
    return nullptr;
  }
  participants_ever = std::max(participants_ever, index + 1);
  participants[index] = {};
  participants[index].thread = thread;
  participants[index].state = Participant::State::kOutside;
  return &participants[index];
}

Participant* participant_at(unsigned index) {
  return index < participants_ever ? &participants[index] : nullptr;
}

void admit(Participant& ready) {
  ready.spins_on = nullptr;
  ready.slice_began = ready.clock;
  if (order.on < order.cpus) {
    ready.state = Participant::State::kOn;
    order.running[order.on++] = &ready;
    return;
  }
  ready.state = Participant::State::kQueued;
  ready.next_queued = nullptr;
  if (order.last_queued != nullptr) {
    order.last_queued->next_queued = &ready;
  } else {
    order.first_queued = &ready;
  }
  order.last_queued = &ready;
}

void remove(Participant& running) {
  Participant** const end = order.running + order.on;
  Participant** const place = std::find(order.running, end, &running);
  if (place == end) {
    return;
  }
  // In the order in which they came, which decides between equal clocks.
  std::copy(place + 1, end, place);
  --order.on;
  order.latest = running.clock;
  if (order.holder == &running) {
    order.holder = nullptr;
  }
  if (Participant* first = order.first_queued; first != nullptr) {
    order.first_queued = first->next_queued;
    if (order.first_queued == nullptr) {
      order.last_queued = nullptr;
    }
    first->clock = std::max(first->clock, running.clock);
    admit(*first);
  }
}

void rotate(Participant& running) {
  remove(running);
  admit(running);
}

Participant* furthest_behind(const Participant* but) {
  Participant* best = nullptr;
  for (unsigned i = 0; i < order.on; ++i) {
    Participant* const candidate = order.running[i];
    if (candidate != but && candidate->spins_on == nullptr &&
        (best == nullptr || candidate->clock < best->clock)) {
      best = candidate;
    }
  }
  return best;
}

void give_turn(Participant& next) {
  order.holder = &next;
  ++order.turns;
  __atomic_store_n(&next.may_run, 1, __ATOMIC_RELEASE);
  resolved_next.syscall(SYS_futex, &next.may_run, FUTEX_WAKE_PRIVATE, 1);
}

void pass_on() {
  order.holder = nullptr;
  Participant* next = furthest_behind(nullptr);
  if (next == nullptr) {
    // What they spin on nobody seems to release: each may look for itself.
    for (unsigned i = 0; i < order.on; ++i) {
      order.running[i]->spins_on = nullptr;
    }
    next = furthest_behind(nullptr);
  }
  if (next != nullptr) {
    give_turn(*next);
  }
}

}  // namespace longpole::recorder::lockstep
