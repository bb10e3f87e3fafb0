// Whether a CPU of the `linux` scheduler (linux_fair.h) that falls idle looks for a thread of another one: as often,
// of 1,024 times, as that helped of late. For a look takes time, and wakes the lines of cache that others write.
//
//   falls idle ──▶ looks()? ──no──▶ counts as a time without a thread
//                     └─────yes──▶ found(): where it found one, counts for as many times as it does not look
//
// The kernel takes the last 512 to 1,024 times, which is more than a short run has. So what a CPU did before a run counts,
// and is the machine's to say (Machine::newly_idle_share). Whether a CPU looks is chance, by numbers that are the same in
// each simulation.
//
// Source: sched_balance_newidle() and update_newidle_stats() of the kernel, "sched/fair: Proportional newidle balance",
// in Linux 6.12.65, 6.18.5 and later.
#pragma once

#include <cstdint>

#include "simulation/machine.h"

namespace longpole::simulation {

class NewlyIdle {
 public:
  // CPUs with other numbers have other chances, as do machines (Machine::chance). `share`: of 1,024 looks before this,
  // how many helped.
  void start(std::uint32_t cpu, std::uint32_t share, std::uint32_t chance) {
    chance_ = (std::uint64_t{most_cpus} * chance + cpu + 1) * 0x9e37'79b9'7f4a'7c15;
    share_ = share;
    helped_ = share / 2;
  }

  [[nodiscard]] bool looks() {
    chance_ = chance_ * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    if (chance_ >> 54U <= weight())
      return true;
    count(0);
    return false;
  }
  void found(bool thread) { count(thread ? (whole + weight() / 2) / weight() : 0); }

 private:
  static constexpr std::uint32_t whole = most_newly_idle_share;

  [[nodiscard]] std::uint32_t weight() const { return share_ + 1; }
  void count(std::uint32_t helped) {
    helped_ += helped;
    if (++times_ < whole)
      return;
    share_ = helped_;
    times_ /= 2;
    helped_ /= 2;
  }

  std::uint64_t chance_ = 0;
  std::uint32_t share_ = 0;
  std::uint32_t times_ = whole / 2;
  std::uint32_t helped_ = 0;  // of so many times
};

}  // namespace longpole::simulation
