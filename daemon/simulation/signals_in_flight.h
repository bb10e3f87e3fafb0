// Signals between CPUs that are still under way when somebody comes to wait for them.
//
// A wait whose signal has been returns at once; but on another CPU the signal is seen only after the
// latency of the machine, so that whoever comes meanwhile waits for the rest (thesis, Paper VII
// section 2). This remembers, for everything that can be waited for, when and where it was signalled:
//
//   CPU 0  ── post ─────────
//               ╲ latency
//   CPU 1  ──── wait ·······── goes on          awaited() says: until post + latency
//
// Only for machines with a latency, and for what is simulated by the direct model. Single-threaded.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulation/simulator.h"
#include "simulation/synchronization.h"

namespace longpole::simulation {

class SignalsInFlight {
 public:
  SignalsInFlight(const Recording& recording, const Survey& survey, const Rules& rules);

  struct Signal {
    std::int64_t time = 0;
    std::uint32_t cpu = no_cpu;  // no_cpu: seen everywhere at once
    StretchIndex stretch = no_stretch;
  };

  // `thread` made the call of `event`, at the time and place of `here`, and `next` is what became of
  // it; `released` others were let go, of which `woken` by a signal or broadcast. When the call waited
  // for a signal that has been: that signal.
  [[nodiscard]] std::optional<Signal> call(std::uint32_t thread, const Event& event,
                                           const Signal& here, Next next, std::size_t released,
                                           std::uint32_t woken);
  // The same of Synchronization::retry(): a thread that was woken tries again for what `event` wants.
  [[nodiscard]] std::optional<Signal> retry(const Event& event, Next next);
  void ended(std::uint32_t thread, const Signal& here) { ends_[thread] = here; }

 private:
  using Queue = std::deque<Signal>;

  [[nodiscard]] static std::optional<Signal> take(Queue& queue);
  [[nodiscard]] std::optional<Signal> take_post(std::uint32_t semaphore);
  [[nodiscard]] std::optional<Signal> wait_for_condition(std::uint32_t thread, const Event& event,
                                                         const Signal& here, Next next);
  [[nodiscard]] std::optional<Signal> arrive(const Event& event, const Signal& here, Next next);
  [[nodiscard]] Queue& mailbox(std::uint32_t channel, std::uint32_t receiver) {
    return mailboxes_[std::uint64_t{channel} << 32U | receiver];
  }

  const Survey& survey_;
  bool hands_over_;              // a post, to the first that waits for it
  std::vector<Signal> unlocks_;  // per object: the last
  std::vector<Queue> tokens_;    // per object: posts and remembered signals; barrier: arrivals
  std::vector<std::uint32_t> initial_;  // per object: what is left of a semaphore's initial value
  std::vector<Signal> ends_;            // per thread
  std::vector<Queue> notifications_;    // per thread: all that it made
  std::vector<std::size_t> paired_waits_;               // per thread: that it has begun
  std::unordered_map<std::uint64_t, Queue> mailboxes_;  // of senders that wait
};

}  // namespace longpole::simulation
