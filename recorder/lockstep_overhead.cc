#include "lockstep_overhead.h"

#include <algorithm>
#include <utility>

#include "lockstep_ticks.h"
#include "thread_log.h"

namespace longpole::recorder::lockstep {
namespace {

// The thread's CPU time, and the stamp of when it was that.
struct Reading {
  std::uint64_t cpu_time;
  std::uint64_t stamp;
};

Reading read_cpu_time() {
  const std::uint64_t before = stamp();
  const std::uint64_t cpu_time = thread_cpu_time();
  return {cpu_time, before + (stamp() - before) / 2};
}

// Between two stamps with little in between. One who lost the CPU meanwhile has had the usual.
std::uint64_t little_time(std::uint64_t from, std::uint64_t until) {
  constexpr std::uint64_t kLongest = 5'000;
  const std::uint64_t time = nanoseconds_of(until - from);
  return time < kLongest ? time : cost_around_readings() / 2;
}

}  // namespace

std::uint64_t cpu_time_at(std::uint64_t entered) {
  const Reading reading = read_cpu_time();
  return reading.cpu_time - std::min(little_time(entered, reading.stamp), reading.cpu_time);
}

WayBack::~WayBack() {
  if (const std::uint64_t left_at = std::exchange(self_.left_at, 0); left_at != 0) {
    const std::uint64_t back_at = stamp();
    const std::uint64_t cost = little_time(left_at, back_at);
    self_.cost += cost;
    self_.cpu_since += cost;
    // Its stint begins here: or what it has left would pass on the way, and it would look again at each call.
    const std::uint64_t from = std::exchange(self_.stint_from, 0);
    if (from != 0 && self_.switch_at != 0 && self_.switch_at != kNever) {
      self_.switch_at += back_at - from;
    }
  }
}

std::uint64_t leave(Participant& self, std::uint64_t begin) {
  const Reading left = read_cpu_time();
  self.cost += left.cpu_time - begin;
  self.cpu_since = left.cpu_time;
  self.left_at = left.stamp;
  return left.cpu_time;
}

}  // namespace longpole::recorder::lockstep
