// Sets of signals that the program gives, with and without the recorder's own: of samples and of ticks. Null
// stays null.
#pragma once

#include <signal.h>

namespace longpole::recorder {

// For a set in which the program would find a signal of its own: one to block, or to wait for.
class WithoutOwnSignals {
 public:
  explicit WithoutOwnSignals(const sigset_t* set);
  [[nodiscard]] const sigset_t* get() const { return chosen_; }

 private:
  const sigset_t* chosen_;
  sigset_t copy_;
};

// The signals that a call blocks while it waits, and the recorder's besides.
class WithOwnSignals {
 public:
  explicit WithOwnSignals(const sigset_t* set);
  [[nodiscard]] const sigset_t* get() const { return chosen_; }

 private:
  const sigset_t* chosen_;
  sigset_t copy_;
};

}  // namespace longpole::recorder
