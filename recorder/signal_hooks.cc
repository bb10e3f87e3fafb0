// Keeps the recorder's own signals, of samples and of ticks, out of the program's sight. To the program
// they are signals that nobody uses: free to take, never pending, never blocked. Without them everything
// passes straight through.
#include <signal.h>

#include "lockstep.h"
#include "next_definition.h"
#include "own_signals_in_sets.h"
#include "sampling.h"

namespace longpole::recorder {
namespace {

bool is_own(int signal) {
  return signal != 0 && (signal == signal_of_sampling() || signal == lockstep::signal_of_ticks());
}

// The program wants one of them.
void give_up(int signal) {
  if (signal == signal_of_sampling()) {
    move_sampling_from(signal);
  } else {
    lockstep::move_ticks_from(signal);
  }
}

template <auto kSet>
sighandler_t set_handler(int number, sighandler_t handler) {
  const bool ours = is_own(number);
  if (ours) {
    give_up(number);
  }
  const sighandler_t previous = (next().*kSet)(number, handler);
  return ours && previous != SIG_ERR ? SIG_DFL : previous;
}

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

extern "C" {

__attribute__((visibility("default"))) int sigaction(int signal, const struct sigaction* action,
                                                     struct sigaction* previous) noexcept {
  const bool ours = is_own(signal);
  if (ours && action == nullptr) {
    if (previous != nullptr) {
      *previous = {};
    }
    return 0;
  }
  if (ours) {
    give_up(signal);
  }
  const int result = next().sigaction(signal, action, previous);
  if (ours && previous != nullptr) {
    *previous = {};
  }
  return result;
}

__attribute__((visibility("default"))) sighandler_t signal(int number,
                                                           sighandler_t handler) noexcept {
  return set_handler<&NextDefinitions::signal>(number, handler);
}

// What signal() is in a program of System V's, and its other name.
__attribute__((visibility("default"))) sighandler_t __sysv_signal(int number,
                                                                  sighandler_t handler) noexcept {
  return set_handler<&NextDefinitions::__sysv_signal>(number, handler);
}
__attribute__((visibility("default"))) sighandler_t sysv_signal(int number,
                                                                sighandler_t handler) noexcept {
  return set_handler<&NextDefinitions::sysv_signal>(number, handler);
}

__attribute__((visibility("default"))) int sigprocmask(int how, const sigset_t* set,
                                                       sigset_t* previous) noexcept {
  return next().sigprocmask(how, WithoutOwnSignals(set).get(), previous);
}

__attribute__((visibility("default"))) int pthread_sigmask(int how, const sigset_t* set,
                                                           sigset_t* previous) noexcept {
  return next().pthread_sigmask(how, WithoutOwnSignals(set).get(), previous);
}

__attribute__((visibility("default"))) int pthread_attr_setsigmask_np(pthread_attr_t* attributes,
                                                                      const sigset_t* set) {
  return next().pthread_attr_setsigmask_np(attributes, WithoutOwnSignals(set).get());
}

__attribute__((visibility("default"))) int signalfd(int file, const sigset_t* set,
                                                    int flags) noexcept {
  return next().signalfd(file, WithoutOwnSignals(set).get(), flags);
}

__attribute__((visibility("default"))) int sigpending(sigset_t* set) noexcept {
  const int result = next().sigpending(set);
  if (result == 0) {
    *set = *WithoutOwnSignals(set).get();
  }
  return result;
}
}
