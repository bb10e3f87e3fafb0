// Goes through a recording in its order of time and says which release enabled which acquisition:
// the work behind WaitFors.
//
// Where the times leave it open (text recordings need not say how long a call took), a call waits
// until its object allows it, in order of arrival. Where nothing at all would go on, the earliest of
// those that wait goes on without a release: the recorded run did.
#pragma once

#include <cstdint>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/recording.h"

namespace longpole::simulation {

// One call whose release somebody may have waited for.
struct Releaser {
  std::uint32_t thread = 0xffffffffU;  // that: nobody
  std::uint32_t event = 0;
};

// What is found, in the order in which it happened in the recording.
class EnablingConsumer {
 public:
  virtual ~EnablingConsumer() = default;
  // `event` of `thread` went on when the releaser's call was made.
  virtual void enabled(std::uint32_t thread, std::uint32_t event, Releaser releaser) = 0;
  // `event` of `thread` is a timed wait that timed out, in a loop that the releaser's call ended.
  virtual void polled(std::uint32_t thread, std::uint32_t event, Releaser releaser) = 0;
  // `event` of `thread` is a join that went on when `target` ended.
  virtual void joined(std::uint32_t thread, std::uint32_t event, std::uint32_t target) = 0;
  // `event` of `thread` came to a barrier, as one of those who pass it together.
  virtual void arrived(std::uint32_t thread, std::uint32_t event, std::uint32_t generation) = 0;
};

class RecordedOrder {
 public:
  RecordedOrder(const Recording& recording, EnablingConsumer& consumer);
  void run();

 private:
  static constexpr std::uint32_t nobody = 0xffffffffU;
  struct Queue {
    std::uint32_t head = nobody;
    std::uint32_t tail = nobody;
  };
  struct ObjectState {
    std::uint32_t owner = nobody;  // mutex; rwlock: who writes
    std::uint32_t depth = 0;       // of the owner's recursive use
    std::uint32_t count = 0;       // rwlock: readers; semaphore: what is left of its initial value;
                                   // barrier: arrivals of this generation
    std::uint32_t generation = nobody;  // barrier: of those who come now
    Releaser last;                      // mutex: unlock; rwlock: that of a writer
    std::vector<Releaser> releases;  // rwlock: of readers since the last writer; semaphore: posts
    std::size_t taken = 0;           // semaphore: posts
    Queue queue;                     // of those who cannot go on yet
    Queue waiters;                   // condition: who has not been notified yet
  };
  struct ThreadState {
    std::uint32_t event = 0;
    bool completing = false;  // it made the call and has yet to acquire
    bool started = false;
    bool ended = false;
    bool matched = false;               // send: it was received
    bool awaiting = false;              // condition wait: it has not been notified yet
    std::uint32_t depth = 1;            // of the mutex that it left to wait
    std::uint32_t generation = nobody;  // barrier
    Releaser notifier;
    Queue joiners;
    Queue* in = nullptr;  // where it stands, with its neighbours
    std::uint32_t before = nobody;
    std::uint32_t behind = nobody;
    std::uint32_t waiter_before = nobody;  // likewise among the waiters of a condition
    std::uint32_t waiter_behind = nobody;
  };
  struct Mailbox {
    Queue senders;
    std::uint32_t receiver = nobody;
  };
  using Turn = std::tuple<std::int64_t, std::uint32_t>;  // time, thread

  [[nodiscard]] const Event& event_of(std::uint32_t thread) const {
    return recording_.threads[thread].events[threads_[thread].event];
  }
  void step(std::uint32_t thread);
  void advance(std::uint32_t thread);
  void schedule(std::uint32_t thread);
  void start(std::uint32_t thread);
  void force();
  void happens(std::uint32_t thread, const Event& event);
  [[nodiscard]] bool acquire(std::uint32_t thread, const Event& event);
  [[nodiscard]] bool acquire_mutex(std::uint32_t thread, std::uint32_t mutex, std::uint32_t depth);
  [[nodiscard]] bool acquire_rwlock(std::uint32_t thread, const Event& event);
  [[nodiscard]] bool acquire_semaphore(std::uint32_t thread, std::uint32_t semaphore);
  [[nodiscard]] bool acquire_condition(std::uint32_t thread, const Event& event);
  [[nodiscard]] bool receive(std::uint32_t thread, const Event& event);
  void unlock_mutex(std::uint32_t mutex, Releaser by);
  void unlock_rwlock(std::uint32_t rwlock, Releaser by);
  void leave_mutex(std::uint32_t thread, std::uint32_t mutex, Releaser by);
  void notify(const Event& event, Releaser by);
  void notify_waiter(std::uint32_t condition, std::uint32_t waiter, Releaser by);
  void arrive(std::uint32_t thread, const Event& event);
  void went_on(std::uint32_t thread, Releaser releaser);

  [[nodiscard]] bool is_free_for(const Event& event) const;
  void park(std::uint32_t thread, Queue& queue);
  void unpark(std::uint32_t thread);
  void let_go(Queue& queue);
  void await(std::uint32_t condition, std::uint32_t thread);
  void await_no_more(std::uint32_t condition, std::uint32_t thread);
  [[nodiscard]] Mailbox& mailbox(std::uint32_t channel, std::uint32_t receiver);

  const Recording& recording_;
  EnablingConsumer& consumer_;
  bool measured_;  // its times are those of a real run
  std::vector<ObjectState> objects_;
  std::vector<ThreadState> threads_;
  std::unordered_map<std::uint64_t, Mailbox> mailboxes_;
  // By thread and condition: timed waits that timed out since the thread's last other wait for it.
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> polls_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  std::set<Turn> parked_;
  Queue unnotified_;  // parked until a notification comes
  std::uint32_t generations_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace longpole::simulation
