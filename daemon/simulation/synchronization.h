// What the recorded calls do to each other: who goes on, who waits and who is let go. Knows no
// time and no CPUs; every simulated machine asks it at each call and schedules what it answers.
//
// Objects are handed over in order of arrival, or left to whoever comes first (HandOff). A call that went well in the recording goes well
// here too, sooner or later: a try-operation that got its lock waits for it, one that did not
// changes nothing (of threads that hold locks and try for each other's, one goes on as if it had its
// lock, and the holder follows: in a real run its try fails, and it gives way), a wait that timed out takes its time (thesis, Paper I section 3.2), or less
// where what it waited for comes before that (condition_pairs.h). A call that
// did not return does what does not wait (posts, unlocks, arrives), and then its thread stands
// still; that is no deadlock. A lock left behind by a thread that ended is free, an unlock by
// another thread than the holder counts, because the recorded run went on there. In a program file
// (Source::program) nothing has been recorded that went on: there such a lock stays held, and
// `cancel` ends a thread at its first cancellation point.
//
// Objects whose model is not direct (models.h) are simulated by the pairs of the recording instead.
//
// Single-threaded. The Recording must outlive it and be valid (validate()).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simulation/condition_pairs.h"
#include "simulation/models.h"
#include "simulation/recorded_releases.h"
#include "simulation/schedule.h"
#include "simulation/wait_fors.h"
#include "trace/recording.h"

namespace longpole::simulation {

inline constexpr std::uint32_t nobody = 0xffffffffU;

// What a thread does next.
enum class Next : std::uint8_t {
  runs,   // the call returned (or: the thread starts): on to its next event
  jumps,  // likewise, but on to the event behind jumped_to(): out of its recorded order
  waits,  // off the CPU for the event's duration; then ask wait_over(), unless it is released before
  blocks,   // until released
  retries,  // (of a Release) tries again when it has a CPU: then ask retry()
  ends,     // has no further events to come
};

// What becomes of a mutex or a semaphore that others wait for. Rwlocks are always handed over (Rules::readers_first).
enum class HandOff : std::uint8_t {
  ordered,  // the first in the queue has it at once
  barging,  // it is free, and the first in the queue is woken to try again: who comes first has it
  // Likewise; but who takes a free mutex past those that wait does not know of them, and its unlock wakes nobody
  // until one of them has tried again: futex(2) as in Drepper, "Futexes Are Tricky", section 5, and glibc.
  futex,
};

struct Rules {
  HandOff hand_off = HandOff::ordered;
  bool parallel_devices = false;  // serve all at once; otherwise one request at a time
  // Rwlocks: whoever comes to read goes past writers that wait, as in glibc where nothing else is asked for
  // (PTHREAD_RWLOCK_PREFER_READER_NP). Otherwise in order of arrival.
  bool readers_first = false;
};

struct Release {
  std::uint32_t thread = nobody;
  Next next = Next::runs;
};

// What one look over the events tells beforehand.
struct Survey {
  // `pairs`, if any, must outlive it.
  explicit Survey(const Recording& recording, const WaitFors* pairs = nullptr);

  Nanoseconds work{};                      // computing and fixed waits of all threads
  std::vector<std::uint32_t> fixed_waits;  // per thread
  std::vector<bool> created;               // per thread: starts when another creates it
  std::vector<bool> ends_before_exit;  // per thread: exit waits for its end, as in the recording
  std::vector<std::uint32_t> condition_mutex;  // per object: the mutex of a condition, or nobody
  const WaitFors* wait_fors = nullptr;         // none: all is simulated by the direct model
  ConditionPairs conditions;                   // which notification each wait waits for
  RecordedReleases releases;                   // which calls let threads go on
  bool has_open_counts = false;                // some signal's or broadcast's count is unknown
  bool spins = false;                          // some lock burns CPU time while it waits
  // Some try-operation got its mutex, or some thread joins another with one: threads that wait for each other
  // in a ring may be none that the program knows.
  bool has_rings = false;
};

class Synchronization {
 public:
  Synchronization(const Recording& recording, const Survey& survey, Rules rules = {});

  // `thread` makes the call of `event`, or its wait of fixed length is over. `released()` are the
  // threads that this let go, in order; `thread` itself may be among them when the answer is
  // `blocks`.
  [[nodiscard]] [[gnu::always_inline]] Next call(std::uint32_t thread, const Event& event) {
    released_.clear();
    woken_ = 0;
    if (is_direct_ && event.outcome == Outcome::ok) [[likely]] {
      // Nearly all calls of nearly all programs: worth a tenth of the simulation's time in line.
      switch (event.kind) {
        case EventKind::mutex_lock:
          return stays_at(thread, event, lock_or_pass(thread, event));
        case EventKind::mutex_unlock:
          unlock(thread, event.subject);
          return Next::runs;
        case EventKind::semaphore_wait:
          return stays_at(thread, event, decrement(thread, event.subject));
        case EventKind::semaphore_post:
          increment(event.subject);
          return Next::runs;
        default:
          break;
      }
    }
    return call_of_any_kind(thread, event);
  }
  [[nodiscard]] Next wait_over(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next retry(std::uint32_t thread, const Event& event);
  // `thread` has a CPU and does not stand back from the call that blocks it, until it is let go, with
  // what it wanted, or until stop_spinning(): what is free by then, it must try for again. False: it
  // stands in no queue of an object.
  [[nodiscard]] bool spin(std::uint32_t thread, const Event& event);
  void stop_spinning(std::uint32_t thread, const Event& event);
  [[nodiscard]] bool is_free(ObjectId mutex) const {
    return objects_[mutex.index()].owner == nobody;
  }
  // `thread` has no more events. Adds to released().
  void out_of_events(std::uint32_t thread);

  [[nodiscard]] const std::vector<Release>& released() const { return released_; }
  // `thread` is about to end the program: at its thread_end no other thread goes on. Not where
  // client-server has left some of its recorded course for later.
  [[nodiscard]] bool exits(std::uint32_t thread) const {
    return thread == exiting_ && threads_[thread].lists_left == 0;
  }
  // How many threads the last call, a signal or broadcast, woke.
  [[nodiscard]] std::uint32_t woken() const { return woken_; }
  // Of a thread that jumps: the event behind which it goes on.
  [[nodiscard]] std::uint32_t jumped_to(std::uint32_t thread) const {
    return threads_[thread].jumped_to;
  }
  // Of a thread that is blocked in its event for good: adds the call that it waits in, another one
  // only where it could go on behind any of several. A call that did not return in the recording
  // either stands still rightly, and is left out.
  void add_blocked(std::uint32_t thread, std::uint32_t event, Nanoseconds since,
                   std::optional<Deadlock>& deadlock) const;

 private:
  struct Queue {
    std::uint32_t head = nobody;
    std::uint32_t tail = nobody;
    [[nodiscard]] bool empty() const { return head == nobody; }
  };
  struct ObjectState {
    Queue queue;                   // of whoever waits for it; of a condition: the waiters
    std::uint32_t owner = nobody;  // mutex, rwlock: who may write; device: who uses it
    std::uint32_t depth = 0;       // of the owner's recursive use
    std::uint64_t count = 0;       // semaphore: value; rwlock: readers; barrier: arrivals;
                                   // condition: waiters
    std::uint64_t remembered = 0;  // condition: signals that came before their wait;
                                   // mutex: unlocks by others that came before the lock
    Queue broadcasters;            // condition: broadcasts that wait for arrivals
    Queue readers;                 // rwlock: who waits to read, where they go first
    bool waited_for = false;       // mutex: its owner knows that others wait (HandOff::futex)
  };
  struct ThreadState {
    const Event* at = nullptr;          // the call it is blocked or waits in
    std::uint32_t next = nobody;        // behind it in the queue it stands in
    std::uint32_t retake = nobody;      // the mutex that it left in order to wait
    std::uint32_t retake_depth = 1;     // how often it held it
    std::uint32_t held = 0;             // locks that it holds
    std::uint32_t broadcast_needs = 0;  // arrivals that its broadcast waits for
    std::uint64_t signals_after = 0;    // signals that came after its waiting broadcast
    std::uint32_t notifications = 0;    // signals and broadcasts that it has made
    std::uint32_t paired_waits = 0;     // waits on paired conditions that it has begun
    const Event* next_pass = nullptr;   // the lock by which it goes past a condition next
    std::uint32_t passes = 0;           // by which it has gone
    std::uint32_t polls = 0;            // likewise, of those that timed out
    std::uint32_t polls_for = nobody;   // whose notification would end its timed wait
    std::uint32_t awaits = 0;           // which of all waits for notifications it is in; 0: in none
    std::uint32_t waits_for = nobody;   // the paired wait that it is blocked in
    std::uint32_t lists_left = 0;       // that it has not begun
    std::uint32_t jumped_to = 0;
    Queue joiners;
    bool started = false;
    bool finished = false;
    bool stopped = false;  // stands still in a call that did not return
    bool cancelled = false;
    bool retaking = false;  // queues for the mutex that it left
    bool spinning = false;
    bool writes = false;         // what it wants of the rwlock it queues for
    bool between_lists = false;  // goes on behind whichever wait is over first
  };
  struct Awaiter {
    std::uint32_t count;   // how many notifications its waker will have made when its wait is over
    std::uint32_t awaits;  // ThreadState::awaits; a timed wait that is over leaves its own behind
    std::uint32_t thread;
    friend bool operator>(const Awaiter& a, const Awaiter& b) {
      return std::tie(a.count, a.awaits) > std::tie(b.count, b.awaits);
    }
  };
  struct ReadHold {
    std::uint32_t object;
    std::uint32_t count;
  };
  struct Passed {
    std::uint32_t thread;
    std::uint32_t mutex;
  };
  struct Mailbox {
    Queue senders;
    bool receiver_waits = false;
  };

  Next stays_at(std::uint32_t thread, const Event& event, Next next) {
    if (next == Next::blocks) {
      threads_[thread].at = &event;
      if (survey_.has_rings) [[unlikely]]
        return break_ring(thread);
    }
    return next;
  }
  [[nodiscard]] Next call_of_any_kind(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next perform(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next perform_not_ok(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next stop(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next end(std::uint32_t thread);
  void finish(std::uint32_t thread);
  [[nodiscard]] Next create(std::uint32_t thread);
  [[nodiscard]] Next join(std::uint32_t thread, std::uint32_t target);
  void cancel(std::uint32_t target);
  void cancel_written(std::uint32_t target);
  void leave_queues(std::uint32_t thread, const Event& event);

  [[nodiscard]] bool is_paired(const Event& event) const {
    return pairs_ != nullptr && pairs_->governs(event);
  }
  [[nodiscard]] std::uint32_t index_of(std::uint32_t thread, const Event& event) const;
  [[nodiscard]] std::uint32_t awaited(std::uint32_t thread, std::uint32_t event) const;
  [[nodiscard]] Next perform_paired(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next wait_for(std::uint32_t thread, WaitFors::Wait wait);
  void happens(WaitFors::Key key);
  void enable(WaitFors::Wait wait);
  [[nodiscard]] Next next_list(std::uint32_t thread);
  void start_list(std::uint32_t thread);

  [[nodiscard]] Next lock_or_pass(std::uint32_t thread, const Event& event) {
    if (&event == threads_[thread].next_pass) [[unlikely]]
      return pass(thread, event);
    return lock(thread, event.subject);
  }
  [[nodiscard]] Next pass(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next lock(std::uint32_t thread, std::uint32_t mutex);
  void unlock(std::uint32_t thread, std::uint32_t mutex);
  void hand_over(ObjectState& mutex);
  void unlock_of_free(std::uint32_t mutex);
  [[nodiscard]] Next break_ring(std::uint32_t thread);
  [[nodiscard]] std::uint32_t awaited_mutex(std::uint32_t thread) const;
  [[nodiscard]] std::uint32_t awaited_thread(std::uint32_t thread) const;
  [[nodiscard]] bool joins(std::uint32_t thread) const;
  [[nodiscard]] bool may_go_past(std::uint32_t thread) const;
  void go_past_holder(std::uint32_t thread);
  [[nodiscard]] bool went_past_holder(std::uint32_t thread, std::uint32_t mutex);
  void leave_mutex(std::uint32_t thread, std::uint32_t mutex);
  [[nodiscard]] bool retake_mutex(std::uint32_t thread);
  bool resume_with_mutex(std::uint32_t thread);
  void abandon_locks(std::uint32_t thread);

  [[nodiscard]] Next lock_to_read(std::uint32_t thread, std::uint32_t rwlock);
  [[nodiscard]] Next lock_to_write(std::uint32_t thread, std::uint32_t rwlock);
  void unlock_rwlock(std::uint32_t thread, std::uint32_t rwlock);
  void grant(std::uint32_t rwlock);
  [[nodiscard]] bool reads(std::uint32_t thread, std::uint32_t rwlock) const;
  void add_reader(std::uint32_t thread, std::uint32_t rwlock);
  void drop_reader(std::uint32_t thread, std::uint32_t rwlock);

  void signal(std::uint32_t condition, std::uint32_t count);
  [[nodiscard]] Next broadcast(std::uint32_t thread, std::uint32_t condition, std::uint32_t count);
  [[nodiscard]] Next wait_for_condition(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next wait_for_notification(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next poll(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next poll_over(std::uint32_t thread);
  [[nodiscard]] Next notify(std::uint32_t thread, const Event& event);
  void await(std::uint32_t thread, Notified notified);
  void wake_awaiters(std::uint32_t thread);
  void serve_broadcasts(ObjectState& condition);
  void wake_waiters(ObjectState& condition, std::uint64_t count);

  [[nodiscard]] Next decrement(std::uint32_t thread, std::uint32_t semaphore);
  void increment(std::uint32_t semaphore);
  [[nodiscard]] Next arrive(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next use_device(std::uint32_t thread, std::uint32_t device);
  void release_device(std::uint32_t thread, std::uint32_t device);
  [[nodiscard]] Next send(std::uint32_t thread, const Event& event);
  [[nodiscard]] Next receive(std::uint32_t thread, const Event& event);
  [[nodiscard]] Mailbox& mailbox(std::uint32_t channel, std::uint32_t receiver);

  void push(Queue& queue, std::uint32_t thread);
  std::uint32_t pop(Queue& queue);
  void remove(Queue& queue, std::uint32_t thread);
  void release(std::uint32_t thread, Next next = Next::runs);

  const Recording& recording_;
  const Survey& survey_;
  const WaitFors* pairs_;
  Rules rules_;
  bool written_;    // a program file: nothing has been recorded
  bool is_direct_;  // nothing has been paired, and threads end by their own calls alone
  std::vector<ObjectState> objects_;
  std::vector<ThreadState> threads_;
  std::vector<std::vector<ReadHold>> reads_;  // per thread; empty where there are no rwlocks
  std::unordered_map<std::uint64_t, Mailbox> mailboxes_;  // by channel and receiver
  std::vector<std::uint32_t> orphans_;  // per object: locks that their own thread never undoes
  std::vector<Passed> passed_;          // who went past a holder, until they undo that
  // Per thread: paired waits for its notifications, the first that will be due first.
  std::vector<std::priority_queue<Awaiter, std::vector<Awaiter>, std::greater<>>> awaiters_;
  std::uint32_t awaits_ = 0;
  std::vector<std::uint32_t> missing_;  // per paired wait: releases that have not been
  using Lists = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  std::vector<Lists> lists_;  // per thread: those whose wait is over, by the event of the wait
  std::vector<Release> released_;
  std::uint32_t woken_ = 0;
  std::uint32_t to_end_ = 0;  // threads that are to end before the program may
  std::uint32_t exiting_ = nobody;
};

inline void Synchronization::push(Queue& queue, std::uint32_t thread) {
  threads_[thread].next = nobody;
  if (queue.empty())
    queue.head = thread;
  else
    threads_[queue.tail].next = thread;
  queue.tail = thread;
}

inline std::uint32_t Synchronization::pop(Queue& queue) {
  const std::uint32_t thread = queue.head;
  queue.head = threads_[thread].next;
  return thread;
}

inline void Synchronization::release(std::uint32_t thread, Next next) {
  if (threads_[thread].stopped || threads_[thread].finished)
    return;
  threads_[thread].at = nullptr;
  released_.push_back({thread, next});
}

inline Next Synchronization::lock(std::uint32_t thread, std::uint32_t mutex) {
  ObjectState& state = objects_[mutex];
  if (state.owner == nobody) {
    if (state.remembered > 0) [[unlikely]] {
      --state.remembered;
      return Next::runs;
    }
    state.owner = thread;
    state.depth = 1;
    state.waited_for = false;
    ++threads_[thread].held;
    return Next::runs;
  }
  if (state.owner == thread) {
    ++state.depth;
    return Next::runs;
  }
  state.waited_for = true;
  push(state.queue, thread);
  return Next::blocks;
}

inline void Synchronization::unlock(std::uint32_t thread, std::uint32_t mutex) {
  // Whoever holds it: the recorded run went on either way.
  ObjectState& state = objects_[mutex];
  if (!passed_.empty() && state.owner != thread && went_past_holder(thread, mutex)) [[unlikely]]
    return;
  if (state.owner == nobody) [[unlikely]] {
    unlock_of_free(mutex);
  } else if (--state.depth == 0) {
    if (state.queue.empty()) {
      --threads_[state.owner].held;
      state.owner = nobody;
    } else {
      hand_over(state);
    }
  }
}

inline Next Synchronization::decrement(std::uint32_t thread, std::uint32_t semaphore) {
  ObjectState& state = objects_[semaphore];
  if (state.count > 0) {
    --state.count;
    return Next::runs;
  }
  push(state.queue, thread);
  return Next::blocks;
}

inline void Synchronization::increment(std::uint32_t semaphore) {
  ObjectState& state = objects_[semaphore];
  const bool barges = rules_.hand_off != HandOff::ordered;
  if (barges || state.queue.empty())
    ++state.count;
  if (!state.queue.empty())
    release(pop(state.queue), barges ? Next::retries : Next::runs);
}

}  // namespace longpole::simulation
