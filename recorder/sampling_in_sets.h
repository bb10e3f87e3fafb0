// Sets of signals that the program gives, with and without the signal of sampling. Null stays null.
#pragma once

#include <signal.h>

#include "sampling.h"

namespace longpole::recorder {

// For a set in which the program would find a signal of its own: one to block, or to wait for.
class WithoutSampling {
 public:
  explicit WithoutSampling(const sigset_t* set) : chosen_(set) {
    const int signal = signal_of_sampling();
    if (signal != 0 && set != nullptr && sigismember(set, signal) == 1) {
      copy_ = *set;
      sigdelset(&copy_, signal);
      chosen_ = &copy_;
    }
  }
  [[nodiscard]] const sigset_t* get() const { return chosen_; }

 private:
  const sigset_t* chosen_;
  sigset_t copy_;
};

// The signals that a call blocks while it waits, and the one of sampling besides.
class WithSampling {
 public:
  explicit WithSampling(const sigset_t* set) : chosen_(set) {
    const int signal = signal_of_sampling();
    if (signal != 0 && set != nullptr) {
      copy_ = *set;
      sigaddset(&copy_, signal);
      chosen_ = &copy_;
    }
  }
  [[nodiscard]] const sigset_t* get() const { return chosen_; }

 private:
  const sigset_t* chosen_;
  sigset_t copy_;
};

}  // namespace longpole::recorder
