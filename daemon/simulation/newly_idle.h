// Whether a CPU of the `linux` scheduler (linux_fair.h) that falls idle looks for a thread of another one: as often,
// of 1,024 times, as that helped of late. For a look takes time, and wakes the lines of cache that others write.
//
//   falls idle ──▶ looks()? ──no──▶ counts as a time without a thread
//                     └─────yes──▶ found(): where it found one, counts for as many times as it does not look
//
// The kernel takes the last 512 to 1,024 times, which is more than a short run has. What a CPU did before a run is not
// known. It is taken for having helped one time in eight: that was the middle of 25 shares of a computer of two CPUs on a
// day of builds, tests and runs of all kinds. They went from 0, behind threads that do nothing but compute, to all, when a
// look helped then after all. Whether a CPU looks is chance, by numbers that are the same in each simulation.
//
// Source: sched_balance_newidle() and update_newidle_stats() of the kernel, "sched/fair: Proportional newidle balance",
// in Linux 6.12.65, 6.18.5 and later.
#pragma once

#include <cstdint>

namespace longpole::simulation {

class NewlyIdle {
 public:
  // CPUs with other numbers have other chances.
  void start(std::uint32_t cpu) { chance_ = (cpu + 1) * 0x9e37'79b9'7f4a'7c15; }

  [[nodiscard]] bool looks() {
    chance_ = chance_ * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    if (chance_ >> 54U <= weight())
      return true;
    count(0);
    return false;
  }
  void found(bool thread) { count(thread ? (whole + weight() / 2) / weight() : 0); }

 private:
  static constexpr std::uint32_t whole = 1024;

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
  std::uint32_t share_ = whole / 8;
  std::uint32_t times_ = whole / 2;
  std::uint32_t helped_ = share_ / 2;  // of so many times
};

}  // namespace longpole::simulation
