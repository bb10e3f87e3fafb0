#include "lockstep_releases.h"

#include <algorithm>

#include "thread_log.h"

namespace longpole::recorder::lockstep {
namespace {

constexpr unsigned kReleases = 1024;
Release releases[kReleases];

}  // namespace

Release& release_of(const void* object) {
  constexpr unsigned kShift = 64 - 10;
  static_assert(kReleases == 1u << (64 - kShift));
  return releases[(reinterpret_cast<std::uintptr_t>(object) * 0x9e3779b97f4a7c15u) >> kShift];
}

void note_release(const void* object, std::uint64_t clock) {
  Release& release = release_of(object);
  release.object = object;
  release.clock = clock;
  release.stamp = stamp();
}

std::uint64_t released_meanwhile(const Participant& waiter) {
  std::uint64_t released = 0;
  for (const void* object : waiter.objects) {
    if (const Release& release = release_of(object);
        object != nullptr && release.object == object && release.stamp >= waiter.began) {
      released = std::max(released, release.clock);
    }
  }
  return released;
}

void begin_waiting(const Participant& self) {
  for (const void* object : self.objects) {
    if (object != nullptr) {
      ++release_of(object).waiters;
    }
  }
}

void end_waiting(const Participant& self) {
  for (const void* object : self.objects) {
    if (object != nullptr) {
      --release_of(object).waiters;
    }
  }
}

Participant* first_awaiting(const void* object) {
  Participant* first = nullptr;
  for (unsigned i = 0; participant_at(i) != nullptr; ++i) {
    Participant& one = *participant_at(i);
    if (one.awaits && one.objects[0] == object && (first == nullptr || one.began < first->began)) {
      first = &one;
    }
  }
  return first;
}

void begin_awaiting(Participant& self) {
  self.awaits = true;
  ++release_of(self.objects[0]).awaiting;
}

void end_awaiting(Participant& one) {
  one.awaits = false;
  --release_of(one.objects[0]).awaiting;
}

}  // namespace longpole::recorder::lockstep
