#include "recording/sample_rate.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "recording/options.h"

namespace longpole::recording {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t largest_part = 200;  // of the CPU time: one in so many
constexpr std::uint32_t lowest_default_rate_hz = 100;

// By as much as makes samples go through all places of a tick within ten of them, or twenty where they alternate between
// its halves.
std::uint32_t shifted_hz(std::uint32_t rate_hz, std::uint32_t ticks_hz) {
  constexpr double from_whole = 0.1;
  constexpr double from_half = 0.05;
  const double period = static_cast<double>(ticks_hz) / rate_hz;  // in ticks
  if (period < from_whole)
    return rate_hz;
  const double whole = std::floor(period);
  double part = period - whole;
  if (part < from_whole)
    part = from_whole;
  else if (std::abs(part - 0.5) < from_half)
    part = 0.5 + from_half;
  else if (part > 1 - from_whole)
    part = 1 + from_whole;
  return static_cast<std::uint32_t>(ticks_hz / (whole + part));
}

}  // namespace

std::uint32_t kernel_ticks_hz() {
  timespec tick{};
  if (::clock_getres(CLOCK_MONOTONIC_COARSE, &tick) != 0 || tick.tv_sec != 0 || tick.tv_nsec <= 0)
    return 0;
  return static_cast<std::uint32_t>(second / tick.tv_nsec);
}

std::uint32_t out_of_step_hz(std::uint32_t rate_hz, std::uint32_t ticks_hz) {
  // Whole numbers of a second cannot be anywhere in a tick if they are small.
  std::uint32_t shifted = shifted_hz(rate_hz, ticks_hz);
  while (shifted != 0 && shifted != rate_hz) {
    rate_hz = shifted;
    shifted = shifted_hz(rate_hz, ticks_hz);
  }
  return shifted;
}

std::uint32_t affordable_rate_hz(std::int64_t sample_ns, std::uint32_t ticks_hz) {
  const std::int64_t affordable =
      second / largest_part / std::clamp<std::int64_t>(sample_ns, 1, second);
  return out_of_step_hz(static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                            affordable, lowest_default_rate_hz, default_rate_hz)),
                        ticks_hz);
}

std::uint32_t rate_of_thread_timers(std::uint32_t wanted_hz, std::uint32_t ticks_hz) {
  return ticks_hz != 0 ? std::min(wanted_hz, ticks_hz) : wanted_hz;
}

}  // namespace longpole::recording
