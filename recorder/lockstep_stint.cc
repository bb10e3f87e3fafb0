#include "lockstep_stint.h"

#include <algorithm>

#include "lockstep_ticks.h"
#include "thread_log.h"

namespace longpole::recorder::lockstep {

std::uint64_t clock_now(const Participant& holder) {
  return holder.clock + nanoseconds_of(stamp() - holder.stamp_since);
}

void account(Participant& self, std::uint64_t cpu_time) {
  self.clock += cpu_time - std::min(self.cpu_since, cpu_time);
  self.cpu_since = cpu_time;
  self.stamp_since = stamp();
}

void begin_stint(Participant& self) {
  constexpr std::uint64_t kLookForLost = 1'000'000;
  std::uint64_t until_tick = kNever;
  std::uint64_t until_switch = kNever;
  if (const Participant* second = furthest_behind(&self); second != nullptr) {
    const auto left = [&](std::uint64_t allowed) {
      const std::uint64_t end = second->clock + allowed;
      return end > self.clock ? end - self.clock : 0;
    };
    until_tick = left(kTick);
    until_switch = left(kCallSlack);
  }
  if (order.first_queued != nullptr) {
    const std::uint64_t used = self.clock - self.slice_began;
    const std::uint64_t left = used < kSlice ? kSlice - used : 0;
    until_tick = std::min(until_tick, left);
    until_switch = std::min(until_switch, left);
  }
  if (order.lost != 0) {
    until_tick = std::min(until_tick, kLookForLost);
  }
  self.stint_from = stamp();
  self.switch_at = until_switch == kNever ? kNever : self.stint_from + stamps_of(until_switch);
  if (until_tick == kNever) {
    no_tick(self);
  } else {
    tick_after(self, std::max(until_tick, kShortestTick));
  }
}

void shorten_stint(Participant& holder, const Participant& ready) {
  const std::uint64_t now = clock_now(holder);
  const auto left = [&](std::uint64_t allowed) {
    const std::uint64_t end = ready.clock + allowed;
    return end > now ? end - now : 0;
  };
  const std::uint64_t stop = stamp() + stamps_of(left(kCallSlack));
  const bool sooner = stop < holder.switch_at;
  if (ready.state == Participant::State::kOn && sooner) {
    holder.switch_at = stop;
    tick_after(holder, std::max(left(kTick), kShortestTick));
  } else if (ready.state == Participant::State::kQueued && !holder.armed) {
    tick_after(holder, kSlice);
  }
}

}  // namespace longpole::recorder::lockstep
