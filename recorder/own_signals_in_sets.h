// Sets of signals that the program gives, with and without the recorder's own: of samples and of ticks. Null
// stays null.
#pragma once

#include <signal.h>

#include <initializer_list>

#include "lockstep.h"
#include "sampling.h"

namespace longpole::recorder {

// For a set in which the program would find a signal of its own: one to block, or to wait for.
class WithoutOwnSignals {
 public:
  explicit WithoutOwnSignals(const sigset_t* set) : chosen_(set) {
    for (const int signal : {signal_of_sampling(), lockstep::signal_of_ticks()}) {
      if (signal != 0 && set != nullptr && sigismember(set, signal) == 1) {
        if (chosen_ == set) {
          copy_ = *set;
          chosen_ = &copy_;
        }
        sigdelset(&copy_, signal);
      }
    }
  }
  [[nodiscard]] const sigset_t* get() const { return chosen_; }

 private:
  const sigset_t* chosen_;
  sigset_t copy_;
};

// The signals that a call blocks while it waits, and the recorder's besides.
class WithOwnSignals {
 public:
  explicit WithOwnSignals(const sigset_t* set) : chosen_(set) {
    for (const int signal : {signal_of_sampling(), lockstep::signal_of_ticks()}) {
      if (signal != 0 && set != nullptr) {
        if (chosen_ == set) {
          copy_ = *set;
          chosen_ = &copy_;
        }
        sigaddset(&copy_, signal);
      }
    }
  }
  [[nodiscard]] const sigset_t* get() const { return chosen_; }

 private:
  const sigset_t* chosen_;
  sigset_t copy_;
};

}  // namespace longpole::recorder
