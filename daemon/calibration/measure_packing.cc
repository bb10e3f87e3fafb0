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

void sleep_until(std::int64_t time) {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec then{time / second, time % second};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, nullptr);
}

class Wakes {
 public:
  Wakes(std::uint32_t one, std::uint32_t other) : one_(one), other_(other) {
    sem_init(&goes_on_, 0, 0);
  }

  // How often of `counted` times who was on the other CPU joins a thread on this one that computes so much of each period.
  std::size_t joined(std::int64_t computes) {
    std::size_t joined = 0;
    std::thread wakes([&] {
      for (std::size_t round = 0; round < until_use_is_known + counted; ++round) {
        stay_on({other_});
        stay_on({one_, other_});
        sem_wait(&goes_on_);
        if (sched_getcpu() == static_cast<int>(one_) && round >= until_use_is_known)
          ++joined;
      }
    });
    std::thread waker([&] {
      stay_on({one_});
      std::int64_t start = now();
      for (std::size_t round = 0; round < until_use_is_known + counted; ++round) {
        sleep_until(start += period);
        const std::int64_t begun = now();
        compute_until(begun + computes / 2);
        sem_post(&goes_on_);
        compute_until(begun + computes);
      }
    });
    wakes.join();
    waker.join();
    return joined;
  }

 private:
  std::uint32_t one_;
  std::uint32_t other_;
  sem_t goes_on_{};
};

}  // namespace

Nanoseconds measure_packing(std::uint32_t one, std::uint32_t other) {
  const bool joins = Wakes(one, other).joined(of_little_use) >= nearly_all &&
                     Wakes(one, other).joined(of_much_use) <= counted - nearly_all;
  return joins ? as_traced : Nanoseconds{};
}

}  // namespace longpole::calibration
