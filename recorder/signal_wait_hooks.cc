// Waiting for signals, and sending them to threads of the program.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "next_definition.h"
#include "own_signals_in_sets.h"
#include "sampling.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

// The kernel's own set of signals: the first word of the C library's.
std::uint64_t signals_in(const sigset_t* set) {
  std::uint64_t signals = 0;
  if (set != nullptr) {
    std::memcpy(&signals, set, sizeof(signals));
  }
  return signals;
}

const void* as_object(std::uint64_t number) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(number));
}

// What ended a wait.
struct Ended {
  int signal;  // 0: not known
  int error;
};

template <typename Wait, typename HowItEnded>
inline int wait_recorded(std::uint64_t signals, const void* site, Wait wait,
                         HowItEnded how_it_ended) {
  record_begins({LONGPOLE_SIGNAL_WAIT, as_object(signals), site});
  int result;
  {
    const SamplingHeldBack held_back;
    result = wait();
  }
  const Ended ended = how_it_ended(result);
  record_returns({LONGPOLE_SIGNAL_WAIT, as_object(static_cast<std::uint64_t>(ended.signal)), site},
                 ended.error);
  return result;
}

Ended by_signal_or_errno(int result) {
  return result > 0 ? Ended{result, 0} : Ended{0, errno};
}

Ended by_handler(int /*result*/) {
  return {0, errno == EINTR ? 0 : errno};
}

// `error_of`: what the result means as errno value.
template <typename Send, typename ErrorOf>
inline int send_recorded(const void* to, std::uint64_t how, int signal, const void* site, Send send,
                         ErrorOf error_of) {
  longpole_record* record = record_with_other(stamp(), {LONGPOLE_SIGNAL_SEND, to, site}, 0,
                                              how | static_cast<std::uint16_t>(signal), 0);
  const int result = send();
  correct_result(record, error_of(result));
  return result;
}

// Before the signal itself, which may end the thread.
void let_through(pthread_t thread, int signal) {
  if (const int own = signal_that_lets_through(signal); own != 0) [[unlikely]] {
    resolved_next.pthread_kill(thread, own);
  }
}

constexpr int as_it_is(int result) {
  return result;
}

int by_errno(int result) {
  return result == 0 ? 0 : errno;
}

// Number 0 only asks whether a signal could be sent.
bool records(int signal) {
  return recording() && signal != 0;
}

// Whether a signal for `process` can be for a thread of this one.
bool may_be_for_us(pid_t process) {
  return process <= 0 || process == control().pid;
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int sigwait(const sigset_t* set, int* number) {
  const WithoutOwnSignals without(set);
  if (!recording()) [[unlikely]] {
    return next().sigwait(without.get(), number);
  }
  return wait_recorded(
      signals_in(without.get()), LONGPOLE_SITE(),
      [&without, number] { return resolved_next.sigwait(without.get(), number); },
      [number](int result) {
        return result == 0 ? Ended{*number, 0} : Ended{0, result};
      });
}

LONGPOLE_HOOK int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  const WithoutOwnSignals without(set);
  if (!recording()) [[unlikely]] {
    return next().sigwaitinfo(without.get(), info);
  }
  return wait_recorded(
      signals_in(without.get()), LONGPOLE_SITE(),
      [&without, info] { return resolved_next.sigwaitinfo(without.get(), info); },
      by_signal_or_errno);
}

LONGPOLE_HOOK int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  const WithoutOwnSignals without(set);
  if (!recording()) [[unlikely]] {
    return next().sigtimedwait(without.get(), info, timeout);
  }
  return wait_recorded(
      signals_in(without.get()), LONGPOLE_SITE(),
      [&without, info, timeout] {
        return resolved_next.sigtimedwait(without.get(), info, timeout);
      },
      by_signal_or_errno);
}

LONGPOLE_HOOK int sigsuspend(const sigset_t* blocked) {
  const WithOwnSignals with(blocked);
  if (!recording()) [[unlikely]] {
    return next().sigsuspend(with.get());
  }
  return wait_recorded(
      ~signals_in(with.get()), LONGPOLE_SITE(),
      [&with] { return resolved_next.sigsuspend(with.get()); }, by_handler);
}

LONGPOLE_HOOK int pause() {
  if (!recording()) [[unlikely]] {
    return next().pause();
  }
  std::uint64_t blocked = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &blocked, sizeof(blocked));
  return wait_recorded(
      ~blocked, LONGPOLE_SITE(), [] { return resolved_next.pause(); }, by_handler);
}

LONGPOLE_HOOK int pthread_kill(pthread_t thread, int signal) noexcept {
  if (!records(signal)) [[unlikely]] {
    return next().pthread_kill(thread, signal);
  }
  return send_recorded(
      as_object(thread), 0, signal, LONGPOLE_SITE(),
      [thread, signal] {
        let_through(thread, signal);
        return resolved_next.pthread_kill(thread, signal);
      },
      as_it_is);
}

LONGPOLE_HOOK int pthread_sigqueue(pthread_t thread, int signal, sigval value) noexcept {
  if (!records(signal)) [[unlikely]] {
    return next().pthread_sigqueue(thread, signal, value);
  }
  return send_recorded(
      as_object(thread), 0, signal, LONGPOLE_SITE(),
      [thread, signal, value] {
        let_through(thread, signal);
        return resolved_next.pthread_sigqueue(thread, signal, value);
      },
      as_it_is);
}

LONGPOLE_HOOK int tgkill(pid_t process, pid_t thread, int signal) {
  if (!records(signal) || process != control().pid) [[unlikely]] {
    return next().tgkill(process, thread, signal);
  }
  return send_recorded(
      as_object(static_cast<std::uint64_t>(thread)), LONGPOLE_BY_THREAD_ID, signal, LONGPOLE_SITE(),
      [process, thread, signal] {
        if (const int own = signal_that_lets_through(signal); own != 0) [[unlikely]] {
          resolved_next.tgkill(process, thread, own);
        }
        return resolved_next.tgkill(process, thread, signal);
      },
      by_errno);
}

LONGPOLE_HOOK int raise(int signal) noexcept {
  if (!records(signal)) [[unlikely]] {
    return next().raise(signal);
  }
  return send_recorded(
      as_object(pthread_self()), 0, signal, LONGPOLE_SITE(),
      [signal] { return resolved_next.raise(signal); }, by_errno);
}

LONGPOLE_HOOK int kill(pid_t process, int signal) noexcept {
  if (!records(signal) || !may_be_for_us(process)) [[unlikely]] {
    return next().kill(process, signal);
  }
  return send_recorded(
      nullptr, LONGPOLE_TO_PROCESS, signal, LONGPOLE_SITE(),
      [process, signal] { return resolved_next.kill(process, signal); }, by_errno);
}

LONGPOLE_HOOK int sigqueue(pid_t process, int signal, sigval value) noexcept {
  if (!records(signal) || !may_be_for_us(process)) [[unlikely]] {
    return next().sigqueue(process, signal, value);
  }
  return send_recorded(
      nullptr, LONGPOLE_TO_PROCESS, signal, LONGPOLE_SITE(),
      [process, signal, value] { return resolved_next.sigqueue(process, signal, value); },
      by_errno);
}
