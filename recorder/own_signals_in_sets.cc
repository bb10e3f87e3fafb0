#include "own_signals_in_sets.h"

#include <initializer_list>

#include "lockstep.h"
#include "sampling.h"

namespace longpole::recorder {

WithoutOwnSignals::WithoutOwnSignals(const sigset_t* set) : chosen_(set) {
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

WithOwnSignals::WithOwnSignals(const sigset_t* set) : chosen_(set) {
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

}  // namespace longpole::recorder
