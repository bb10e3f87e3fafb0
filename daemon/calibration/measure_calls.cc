#include "calibration/measure_calls.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <limits>
#include <vector>

#include "calibration/rounds.h"

namespace longpole::calibration {
namespace {

constexpr std::size_t batches = 200;
constexpr std::size_t calls_per_batch = 64;  // of as many objects, which fit the fastest cache

// How long a batch of calls takes, the fastest of many, for one call.
template <typename Call>
class Fastest {
 public:
  explicit Fastest(Call call, clockid_t clock = CLOCK_MONOTONIC) : call_(call), clock_(clock) {}
  void batch() {
    const std::int64_t before = read_clock(clock_);
    for (std::size_t i = 0; i < calls_per_batch; ++i)
      call_(i);
    best_ = std::min(best_, read_clock(clock_) - before);
  }
  [[nodiscard]] Nanoseconds of_a_call() const {
    return Nanoseconds{best_ / static_cast<std::int64_t>(calls_per_batch)};
  }

 private:
  Call call_;
  clockid_t clock_;
  std::int64_t best_ = std::numeric_limits<std::int64_t>::max();
};

// What one takes the other gives back, so batches of both alternate.
template <typename Take, typename Give>
void measure_pair(Take take, Give give, Nanoseconds& of_take, Nanoseconds& of_give) {
  Fastest taking(take);
  Fastest giving(give);
  for (Rounds rounds(batches); rounds.next();) {
    taking.batch();
    giving.batch();
  }
  of_take = taking.of_a_call();
  of_give = giving.of_a_call();
}

template <typename Call>
void measure_one(Call call, Nanoseconds& of_call, clockid_t clock = CLOCK_MONOTONIC) {
  Fastest calling(call, clock);
  for (Rounds rounds(batches); rounds.next();)
    calling.batch();
  of_call = calling.of_a_call();
}

}  // namespace

void measure_calls(HostCosts& costs) {
  const auto cost = [&](EventKind kind) -> Nanoseconds& {
    return costs.call[static_cast<std::size_t>(kind)];
  };
  std::array<pthread_mutex_t, calls_per_batch> mutexes{};
  for (pthread_mutex_t& mutex : mutexes)
    pthread_mutex_init(&mutex, nullptr);
  const auto unlock = [&](std::size_t i) { pthread_mutex_unlock(&mutexes[i]); };
  measure_pair([&](std::size_t i) { static_cast<void>(pthread_mutex_trylock(&mutexes[i])); },
               unlock, cost(EventKind::mutex_trylock), cost(EventKind::mutex_unlock));
  measure_pair([&](std::size_t i) { pthread_mutex_lock(&mutexes[i]); }, unlock,
               cost(EventKind::mutex_lock), cost(EventKind::mutex_unlock));
  cost(EventKind::mutex_timedlock) = cost(EventKind::mutex_lock);

  std::array<pthread_rwlock_t, calls_per_batch> rwlocks{};
  for (pthread_rwlock_t& rwlock : rwlocks)
    pthread_rwlock_init(&rwlock, nullptr);
  const auto unlock_rwlock = [&](std::size_t i) { pthread_rwlock_unlock(&rwlocks[i]); };
  measure_pair([&](std::size_t i) { pthread_rwlock_wrlock(&rwlocks[i]); }, unlock_rwlock,
               cost(EventKind::rwlock_write), cost(EventKind::rwlock_unlock));
  measure_pair([&](std::size_t i) { pthread_rwlock_rdlock(&rwlocks[i]); }, unlock_rwlock,
               cost(EventKind::rwlock_read), cost(EventKind::rwlock_unlock));

  std::array<sem_t, calls_per_batch> semaphores{};
  for (sem_t& semaphore : semaphores)
    sem_init(&semaphore, 0, 0);
  measure_pair([&](std::size_t i) { sem_post(&semaphores[i]); },
               [&](std::size_t i) { sem_wait(&semaphores[i]); }, cost(EventKind::semaphore_post),
               cost(EventKind::semaphore_wait));
  cost(EventKind::semaphore_timedwait) = cost(EventKind::semaphore_wait);
  cost(EventKind::semaphore_trywait) = cost(EventKind::semaphore_wait);

  std::array<pthread_cond_t, calls_per_batch> conditions{};
  for (pthread_cond_t& condition : conditions)
    pthread_cond_init(&condition, nullptr);
  measure_one([&](std::size_t i) { pthread_cond_signal(&conditions[i]); },
              cost(EventKind::condition_signal));
  measure_one([&](std::size_t i) { pthread_cond_broadcast(&conditions[i]); },
              cost(EventKind::condition_broadcast));

  pthread_barrier_t barrier{};
  pthread_barrier_init(&barrier, nullptr, 1);
  measure_one([&](std::size_t) { pthread_barrier_wait(&barrier); }, cost(EventKind::barrier_wait));
  // Of this thread alone: another program's may have the CPU until the yield returns.
  measure_one([](std::size_t) { sched_yield(); }, cost(EventKind::yield), CLOCK_THREAD_CPUTIME_ID);
}

// Threads that end at once, and are joined when they have ended.
void measure_threads(HostCosts& costs) {
  std::vector<std::int64_t> creating;
  std::vector<std::int64_t> joining;
  std::atomic<std::size_t> ended = 0;
  const auto count = [](void* counter) -> void* {
    ++*static_cast<std::atomic<std::size_t>*>(counter);
    return nullptr;
  };
  for (Rounds rounds(20); rounds.next();) {
    std::array<pthread_t, 8> threads{};
    std::size_t created = 0;
    ended = 0;
    for (pthread_t& thread : threads) {
      const std::int64_t before = now();
      if (pthread_create(&thread, nullptr, count, &ended) != 0)
        break;
      creating.push_back(now() - before);
      ++created;
    }
    while (ended < created)
      sched_yield();
    timespec moment{0, 1'000'000};
    nanosleep(&moment, nullptr);
    for (std::size_t i = 0; i < created; ++i) {
      const std::int64_t before = now();
      pthread_join(threads[i], nullptr);
      joining.push_back(now() - before);
    }
  }
  if (creating.empty())
    return;
  costs.call[static_cast<std::size_t>(EventKind::thread_create)] = at_least_none(median(creating));
  costs.call[static_cast<std::size_t>(EventKind::thread_join)] = at_least_none(median(joining));
}

}  // namespace longpole::calibration
