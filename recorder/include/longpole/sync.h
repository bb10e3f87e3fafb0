// C++20's semaphores, latches, barriers and atomic waits, recorded exactly.
//
// What std::counting_semaphore, std::latch, std::barrier and std::atomic::wait do without waiting is
// compiled into the program: no recorder can see it, and a recording of such a program says that
// dependencies may be missing. These stand in for them, with the same names and meanings:
//
//   #include <longpole/sync.h>
//   longpole::sync::counting_semaphore<8> free_slots(8);
//   free_slots.acquire();
//   longpole::sync::wait(flag, 0);        // for flag.wait(0)
//   longpole::sync::notify_all(flag);     // for flag.notify_all()
//
// Without a recorder they are the standard ones, behind one test of a constant. A header and nothing
// else: there is no library to link (before glibc 2.34: -ldl). Standard C++20.
//
// All is inlined, so that a call belongs to the line of the program that makes it.
//
// Threads and errors: as of the standard ones. Left out is what has no counterpart among the recorded
// calls: barriers that are left (arrive_and_drop), or passed in two steps (arrive, then wait).
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <semaphore>
#include <utility>

#include "longpole/sync_calls.h"

namespace longpole::sync {

namespace detail {

// Exported by the recorder as `longpole_sync_record`.
using Record = void (*)(std::uint32_t call, const void* object, std::uint64_t value);

inline const Record recorder =
    reinterpret_cast<Record>(::dlsym(RTLD_DEFAULT, "longpole_sync_record"));

inline bool recorded() {
  return recorder != nullptr;
}

[[gnu::always_inline]] inline void record(Call call, const volatile void* object,
                                          std::uint64_t value = 0) {
  recorder(static_cast<std::uint32_t>(call), const_cast<const void*>(object), value);
}

}  // namespace detail

template <std::ptrdiff_t kMost = std::counting_semaphore<>::max()>
class counting_semaphore {
 public:
  [[gnu::always_inline]] explicit counting_semaphore(std::ptrdiff_t initial) : semaphore_(initial) {
    if (detail::recorded())
      detail::record(detail::Call::semaphore_initial, this, static_cast<std::uint64_t>(initial));
  }
  counting_semaphore(const counting_semaphore&) = delete;
  counting_semaphore& operator=(const counting_semaphore&) = delete;
  ~counting_semaphore() = default;

  static constexpr std::ptrdiff_t max() noexcept { return kMost; }

  [[gnu::always_inline]] inline void release(std::ptrdiff_t count = 1) {
    if (detail::recorded())
      for (std::ptrdiff_t i = 0; i < count; ++i)
        detail::record(detail::Call::semaphore_post, this);
    semaphore_.release(count);
  }

  [[gnu::always_inline]] inline void acquire() {
    if (!detail::recorded()) {
      semaphore_.acquire();
    } else if (semaphore_.try_acquire()) {
      detail::record(detail::Call::semaphore_acquired, this);
    } else {
      detail::record(detail::Call::semaphore_begins, this);
      semaphore_.acquire();
      detail::record(detail::Call::semaphore_returns, this);
    }
  }

  [[gnu::always_inline]] inline bool try_acquire() noexcept {
    const bool got = semaphore_.try_acquire();
    if (detail::recorded())
      detail::record(detail::Call::semaphore_tried, this, got ? 1 : 0);
    return got;
  }

  template <typename Rep, typename Period>
  [[gnu::always_inline]] inline bool try_acquire_for(
      const std::chrono::duration<Rep, Period>& time) {
    return timed([&] { return semaphore_.try_acquire_for(time); });
  }

  template <typename Clock, typename Duration>
  [[gnu::always_inline]] inline bool try_acquire_until(
      const std::chrono::time_point<Clock, Duration>& time) {
    return timed([&] { return semaphore_.try_acquire_until(time); });
  }

 private:
  template <typename Acquire>
  [[gnu::always_inline]] inline bool timed(Acquire acquire) {
    if (!detail::recorded())
      return acquire();
    detail::record(detail::Call::semaphore_timed_begins, this);
    const bool got = acquire();
    detail::record(detail::Call::semaphore_timed_returns, this, got ? 1 : 0);
    return got;
  }

  std::counting_semaphore<kMost> semaphore_;
};

using binary_semaphore = counting_semaphore<1>;

// Recorded as a semaphore that the last count_down posts, and each who waits takes and posts again.
class latch {
 public:
  [[gnu::always_inline]] explicit latch(std::ptrdiff_t expected)
      : latch_(expected), left_(expected) {
    if (detail::recorded())
      detail::record(detail::Call::semaphore_initial, this, expected == 0 ? 1 : 0);
  }
  latch(const latch&) = delete;
  latch& operator=(const latch&) = delete;
  ~latch() = default;

  static constexpr std::ptrdiff_t max() noexcept { return std::latch::max(); }

  [[gnu::always_inline]] inline void count_down(std::ptrdiff_t count = 1) {
    if (detail::recorded() && left_.fetch_sub(count) == count)
      detail::record(detail::Call::semaphore_post, this);
    latch_.count_down(count);
  }

  [[nodiscard]] bool try_wait() const noexcept { return latch_.try_wait(); }

  [[gnu::always_inline]] inline void wait() const {
    if (!detail::recorded()) {
      latch_.wait();
      return;
    }
    if (latch_.try_wait()) {
      detail::record(detail::Call::semaphore_acquired, this);
    } else {
      detail::record(detail::Call::semaphore_begins, this);
      latch_.wait();
      detail::record(detail::Call::semaphore_returns, this);
    }
    detail::record(detail::Call::semaphore_post, this);
  }

  [[gnu::always_inline]] inline void arrive_and_wait(std::ptrdiff_t count = 1) {
    count_down(count);
    wait();
  }

 private:
  std::latch latch_;
  std::atomic<std::ptrdiff_t> left_;
};

namespace detail {
struct Nothing {
  void operator()() const noexcept {}
};
}  // namespace detail

template <typename Completion = detail::Nothing>
class barrier {
 public:
  [[gnu::always_inline]] explicit barrier(std::ptrdiff_t expected,
                                          Completion completion = Completion())
      : barrier_(expected, std::move(completion)) {
    if (detail::recorded())
      detail::record(detail::Call::barrier_initial, this, static_cast<std::uint64_t>(expected));
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  ~barrier() = default;

  [[gnu::always_inline]] inline void arrive_and_wait() {
    if (!detail::recorded()) {
      barrier_.arrive_and_wait();
      return;
    }
    detail::record(detail::Call::barrier_begins, this);
    barrier_.arrive_and_wait();
    detail::record(detail::Call::barrier_returns, this);
  }

 private:
  std::barrier<Completion> barrier_;
};

// Recorded as a wait for a condition, where it waits.
template <typename Value>
[[gnu::always_inline]] inline void wait(const std::atomic<Value>& atomic, Value old,
                                        std::memory_order order = std::memory_order_seq_cst) {
  if (!detail::recorded()) {
    atomic.wait(old, order);
    return;
  }
  if (atomic.load(order) != old)
    return;
  detail::record(detail::Call::atomic_begins, &atomic);
  atomic.wait(old, order);
  detail::record(detail::Call::atomic_returns, &atomic);
}

template <typename Value>
[[gnu::always_inline]] inline void notify_one(std::atomic<Value>& atomic) {
  if (detail::recorded())
    detail::record(detail::Call::atomic_notify_one, &atomic);
  atomic.notify_one();
}

template <typename Value>
[[gnu::always_inline]] inline void notify_all(std::atomic<Value>& atomic) {
  if (detail::recorded())
    detail::record(detail::Call::atomic_notify_all, &atomic);
  atomic.notify_all();
}

}  // namespace longpole::sync
