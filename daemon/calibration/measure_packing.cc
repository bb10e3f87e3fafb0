#include "calibration/measure_packing.h"

#include <sched.h>
#include <semaphore.h>

#include <cstddef>
#include <ctime>
#include <thread>

#include "calibration/rounds.h"

namespace longpole::calibration {
namespace {

constexpr Nanoseconds as_traced{700'000'000};
constexpr std::int64_t period = 2'000'000;
constexpr std::int64_t of_little_use = period / 10;
constexpr std::int64_t of_much_use = period - period / 20;
// What a CPU was used before counts half after 32 ms.
constexpr std::size_t until_use_is_known = 30;
constexpr std::size_t counted = 20;
constexpr std::size_t nearly_all = 16;
constexpr int attempts = 3;  // where a thread is now here and now there, as others have the CPUs

void sleep_until(std::int64_t time) {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec then{time / second, time % second};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, nullptr);
}

// How often of `counted` times a thread that was on the other CPU joins one on this one that computes so much of each period.
std::size_t joined(std::uint32_t one, std::uint32_t other, std::int64_t computes) {
  sem_t goes_on{};
  sem_init(&goes_on, 0, 0);
  std::size_t joined = 0;
  std::thread wakes([&] {
    for (std::size_t round = 0; round < until_use_is_known + counted; ++round) {
      stay_on({other});
      stay_on({one, other});
      sem_wait(&goes_on);
      if (sched_getcpu() == static_cast<int>(one) && round >= until_use_is_known)
        ++joined;
    }
  });
  std::thread waker([&] {
    stay_on({one});
    std::int64_t start = now();
    for (std::size_t round = 0; round < until_use_is_known + counted; ++round) {
      sleep_until(start += period);
      const std::int64_t begun = now();
      compute_until(begun + computes / 2);
      sem_post(&goes_on);
      compute_until(begun + computes);
    }
  });
  wakes.join();
  waker.join();
  return joined;
}

}  // namespace

Nanoseconds measure_packing(std::uint32_t one, std::uint32_t other) {
  constexpr std::size_t hardly_any = counted - nearly_all;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::size_t of_little = joined(one, other, of_little_use);
    if (of_little <= hardly_any)
      break;
    if (of_little >= nearly_all && joined(one, other, of_much_use) <= hardly_any)
      return as_traced;
  }
  return {};
}

}  // namespace longpole::calibration
