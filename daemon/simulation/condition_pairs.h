// Which signal or broadcast each wait for a condition waited for in the recording.
//
// A program tests a predicate around its waits, and the recorder cannot see it. In a recording that
// says who woke whom, a wait therefore waits for the very notification that ended it there (DESIGN
// section 6, Wait_for): it is over at once where that one comes first. Of several waits that name one thread, a
// notification ended the first to end, as many as it woke. A queue whose consumers are
// all woken, find nothing and wait again, as in pigz, then comes out in any order of events.
//
// A timed wait that timed out is one turn of a loop that tests the predicate again: it asks for the
// notification that ended the loop, that is the thread's next wait on the condition, or where there
// was no other, the first that came after it. Once that has been, nobody would wait, and a turn that
// is under way ends. So a program that polls while others compute is not held up where they compute
// faster, and its recorded turns never make it longer than it was (Paper I section 3.2 takes each for
// a delay, for it knows no loops). Where no notification came, the wait was a delay.
//
// A condition used as a barrier is left out: there it is the number of threads that counts, and the
// last to arrive need not be the one that was last in the recording. It is taken for one when all
// it ever saw were broadcasts that woke the same n threads, and n + 1 threads used it equally often.
//
// Who finds done what it would have waited for does not wait; passes say what it found (condition_passes.h).
//
// Now and then a wait ends for no notification that is known to be for it: POSIX allows that, and the
// kernel's wake-up may be a stale one. It waits for the last that was made meanwhile, where there was one,
// and else for nothing: the program tests its predicate and waits again, or found it true. Conditions
// with more such waits than others are left out, as nobody knows who notifies there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulation/condition_passes.h"
#include "simulation/wait_fors.h"
#include "trace/recording.h"

namespace longpole::simulation {

class ConditionPairs {
 public:
  // What `wait_fors` governs, if it is given, is none of these, and its notifications do not count. It must outlive
  // this.
  explicit ConditionPairs(const Recording& recording, const WaitFors* wait_fors = nullptr);

  [[nodiscard]] bool paired(std::uint32_t condition) const { return paired_[condition]; }

  // For the waits of a thread on paired conditions, in order: what ended them.
  [[nodiscard]] std::span<const Notified> waits(std::uint32_t thread) const {
    return waits_[thread];
  }
  // Of a thread, in order.
  [[nodiscard]] std::span<const Pass> passes(std::uint32_t thread) const { return passes_[thread]; }
  // If an event of a thread is one; else null.
  [[nodiscard]] const Pass* pass_at(std::uint32_t thread, std::uint32_t event) const;
  // For the waits of a thread on paired conditions that timed out, in order: what ended their loop.
  [[nodiscard]] std::span<const Notified> polls(std::uint32_t thread) const {
    return polls_[thread];
  }

 private:
  struct Notification;
  struct Wait;
  template <typename T>
  using ByCondition = std::vector<std::vector<T>>;  // empty for what is no paired condition

  [[nodiscard]] bool is_notification(const Event& event) const;
  void find_barriers(const Recording& recording);
  void pair(const Recording& recording);
  [[nodiscard]] std::vector<bool> with_known_wakers(const Recording& recording) const;
  [[nodiscard]] ByCondition<Notification> notifications(const Recording& recording) const;
  [[nodiscard]] static bool pair_named(std::vector<Wait>& waits,
                                       std::span<const Notification> made);
  static void pair_unnamed(std::vector<Wait>& waits, std::span<const Notification> made);
  void pair_polls(const Recording& recording);

  const WaitFors* wait_fors_;  // none: nothing is governed otherwise
  std::vector<bool> paired_;   // per object
  std::vector<std::vector<Notified>> waits_;
  std::vector<std::vector<Notified>> polls_;
  std::vector<std::vector<Pass>> passes_;
};

}  // namespace longpole::simulation
