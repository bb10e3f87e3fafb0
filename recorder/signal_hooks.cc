// Keeps the signal of the portable source out of the program's sight. To the program it is a signal
// that nobody uses: free to take, never pending, never blocked. Without samples everything passes
// straight through.
#include <signal.h>

#include "next_definition.h"
#include "sampling.h"
#include "sampling_in_sets.h"

using namespace longpole::recorder;

extern "C" {

__attribute__((visibility("default"))) int sigaction(int signal, const struct sigaction* action,
                                                     struct sigaction* previous) noexcept {
  const bool ours = signal != 0 && signal == signal_of_sampling();
  if (ours && action == nullptr) {
    if (previous != nullptr) {
      *previous = {};
    }
    return 0;
  }
  if (ours) {
    move_sampling_from(signal);
  }
  return next().sigaction(signal, action, previous);
}

__attribute__((visibility("default"))) sighandler_t signal(int number,
                                                           sighandler_t handler) noexcept {
  if (number != 0 && number == signal_of_sampling()) {
    move_sampling_from(number);
  }
  return next().signal(number, handler);
}

__attribute__((visibility("default"))) int sigprocmask(int how, const sigset_t* set,
                                                       sigset_t* previous) noexcept {
  return next().sigprocmask(how, WithoutSampling(set).get(), previous);
}

__attribute__((visibility("default"))) int pthread_sigmask(int how, const sigset_t* set,
                                                           sigset_t* previous) noexcept {
  return next().pthread_sigmask(how, WithoutSampling(set).get(), previous);
}
}
