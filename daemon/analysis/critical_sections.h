// Where a thread holds a lock: a mutex, a rwlock, or a semaphore that is used as one.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recording.h"

namespace longpole::analysis {

// Follows one thread's calls on one lock. A condition wait gives the lock back while it waits; as
// nothing is computed meanwhile, it counts as held from the stretch before to the stretch after.
class Holding {
 public:
  explicit Holding(ObjectId lock) : lock_(lock.value) {}

  [[nodiscard]] bool held() const { return depth_ > 0; }
  // Does the event take the lock anew, or give it back for good? Call step() afterwards.
  [[nodiscard]] bool takes(const Event& event) const {
    return depth_ == 0 && is_acquisition(event) && event.subject == lock_;
  }
  [[nodiscard]] bool releases(const Event& event) const {
    return depth_ == 1 && is_release(event) && event.subject == lock_;
  }
  void step(const Event& event) {
    if (event.subject != lock_)
      return;
    if (is_acquisition(event))
      ++depth_;
    else if (is_release(event) && depth_ > 0)
      --depth_;
  }

  // Calls that leave the thread with a lock, or a unit of a semaphore; those that give it back.
  [[nodiscard]] static bool is_acquisition(const Event& event);
  [[nodiscard]] static bool is_release(const Event& event);

 private:
  std::uint32_t lock_;
  std::uint32_t depth_ = 0;
};

// By object: mutexes, rwlocks, and semaphores of initial value one of which every thread waits and
// posts in turn.
[[nodiscard]] std::vector<bool> locks_of(const Recording& recording);

}  // namespace longpole::analysis
