// Small programs that scheduler_validation runs for real, and what the kernel made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace longpole {

inline constexpr std::int64_t nanoseconds_a_second = 1'000'000'000;

// What a thread does again and again: computes, then sleeps or passes the turn to a partner. Those of
// one name are interchangeable.
struct Part {
  std::string name;
  std::int64_t work = 0;   // nanoseconds; 0: computes all the time
  std::int64_t sleep = 0;  // 0: it does not sleep
  std::int32_t nice = 0;
  std::int32_t partner = -1;  // that it wakes, and waits for, after its work
  bool has_first_turn = false;
};

struct Program {
  std::string name;
  std::uint32_t cpus;
  std::vector<Part> parts;
};

// How much each thread is to do: all that it can in `length`, or what takes about so much CPU time (of a
// thread and its partner together).
struct Amount {
  std::int64_t length = 0;
  std::optional<std::int64_t> cpu_time{};
};

// Of each thread.
struct KernelTimes {
  std::vector<std::int64_t> cpu;     // what it had of the CPUs, by its own clock
  std::vector<std::int64_t> end;     // since the first of them began
  std::vector<std::int64_t> rounds;  // of `work`
  std::vector<std::vector<std::int64_t>>
      computed;  // from the start to the end of each round's `work`
};

// Lets each CPU of the system fall idle beside threads that it cannot have until it expects none to be had, some tenths
// of a second for each: how often a newly idle one looks for a thread depends on how often that helped before
// (simulation/newly_idle.h).
void let_newly_idle_cpus_forget();
// Of 1,024 looks, how many helped then.
inline constexpr std::uint32_t forgotten_share = 0;

// Bound to the first CPUs, of which there must be so many, and the calling thread with them. Nothing
// here reads a CPU clock while it is measured: the kernel ends slices then that would last until the tick.
[[nodiscard]] KernelTimes run_under_kernel(const Program& program, const Amount& amount);

}  // namespace longpole
