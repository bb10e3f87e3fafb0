// Acquiring what somebody else may have: tries first, so that only a call that waits takes two
// stamps. Whatever the attempt answers, EBUSY aside, must be what the waiting call would have
// answered.
#pragma once

#include <cerrno>

#include "thread_log.h"

namespace longpole::recorder {

template <auto kRecordAcquired = &record_acquired, typename Attempt, typename Wait>
inline int acquire(const Call& call, Attempt attempt, Wait wait) {
  take_turn_before_attempt();
  int result = attempt();
  if (result != EBUSY) [[likely]] {
    kRecordAcquired(call, result);
    return result;
  }
  // In memory here alone: what is known of a call that need not wait stays in registers.
  const Call waits = call;
  record_begins(waits);
  result = wait();
  record_returns(waits, result);
  return result;
}

inline bool is_valid(const timespec* deadline) {
  return deadline->tv_nsec >= 0 && deadline->tv_nsec < 1'000'000'000;
}

inline bool is_waiting_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

}  // namespace longpole::recorder
