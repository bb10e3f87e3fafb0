#include "calibration/measure_idle_looks.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "calibration/rounds.h"

namespace longpole::calibration {
namespace {

constexpr std::int64_t longest_measurement = 1'000'000'000;
constexpr std::size_t enough = 9;
constexpr std::size_t too_few = 5;
constexpr std::int64_t looks_behind_the_first = 2;
constexpr std::int64_t most_ticks = 16;
// No time slice of the kernel is longer, nor the interval of a CPU's looks for each CPU there is, before ticks round it up.
constexpr Nanoseconds longest_slice{2'800'000};
constexpr std::int64_t longest_interval_per_cpu = 2'000'000;

// In ticks, by when an idle CPU took a thread: at the first or second tick and two intervals behind, or a little late.
std::size_t interval_by(std::int64_t time, std::int64_t tick) {
  return static_cast<std::size_t>((time - tick / 8) / (looks_behind_the_first * tick));
}

class Round {
 public:
  Round(std::uint32_t one, std::uint32_t other) : one_(one), other_(other) {}

  // From when a CPU falls idle, on which a thread computed for about so long, until it takes another thread, or most_ticks.
  std::int64_t run(std::int64_t computes, std::int64_t tick) {
    std::array<std::thread, 2> in_turns;
    for (std::thread& thread : in_turns)
      thread = std::thread([this, tick] {
        settle(one_, tick);
        compute_until_taken(most_ticks * tick);
      });
    std::thread beside([&] {
      settle(other_, tick);
      compute_until(now() + computes);
      idle_ = sched_getcpu();
      idle_since_ = now();
    });
    for (std::thread& thread : in_turns)
      thread.join();
    beside.join();
    return taken_at_ - idle_since_;
  }

 private:
  // Threads that must stay where they are let the kernel look less often; so they are only put there.
  void settle(std::uint32_t cpu, std::int64_t tick) {
    stay_on({cpu});
    compute_until(now() + tick);
    stay_on({one_, other_});
  }

  void compute_until_taken(std::int64_t longest) {
    while (taken_at_ == 0) {
      const int cpu = sched_getcpu();
      const std::int64_t since = idle_since_;
      std::int64_t nobody = 0;
      if (since != 0 && (cpu == idle_ || now() - since > longest))
        taken_at_.compare_exchange_strong(nobody, now());
    }
  }

  std::uint32_t one_;
  std::uint32_t other_;
  std::atomic<int> idle_ = -1;
  std::atomic<std::int64_t> idle_since_ = 0;
  std::atomic<std::int64_t> taken_at_ = 0;
};

}  // namespace

Nanoseconds measure_tick() {
  timespec resolution{};
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) != 0 || resolution.tv_sec != 0)
    return {};
  return Nanoseconds{resolution.tv_nsec};
}

Nanoseconds measure_idle_looks(std::uint32_t one, std::uint32_t other, Nanoseconds tick) {
  const std::int64_t length = tick.count();
  if (tick < longest_slice)
    return {};
  // How often each interval was told. What else wakes up on the idle CPU lets it look sooner, or late.
  std::array<std::size_t, most_ticks / looks_behind_the_first + 1> told{};
  std::size_t all = 0;
  std::int64_t computes = 5 * length;
  for (const std::int64_t end = now() + longest_measurement; all < enough && now() < end;) {
    // Each round falls idle at another time between two ticks.
    computes += length / 5;
    const std::int64_t time = Round(one, other).run(computes, length);
    // Else it looked when it fell idle, or something else is the matter.
    if (time > length && time <= most_ticks * length) {
      ++told[interval_by(time, length)];
      ++all;
    }
  }
  // 0: it took a thread that had just come.
  const auto* const most = std::ranges::max_element(told.begin() + 1, told.end());
  if (all <= too_few || *most * 5 < all * 2)
    return {};
  const std::int64_t ticks = most - told.begin();
  const std::int64_t of_kernel = longest_interval_per_cpu * sysconf(_SC_NPROCESSORS_ONLN);
  return (ticks - 1) * length >= of_kernel ? ticks * tick : Nanoseconds{};
}

}  // namespace longpole::calibration
