// What it takes a CPU to change threads, and threads to wait for each other there. A host changes what it does for other
// machines on a CPU within seconds, and these with it, to twice as much: what a recorded program paid is measured on its
// CPU right before it begins and right after it has ended.
//
// A context switch: how much longer a yield takes that goes to a thread that yields in turn. Two threads that let each other
// go on in turns: from a wait until the other thread is back from its own it takes a switch and what blocking does, and the
// post takes the rest of a turn.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/recording.h"

namespace longpole::recording {

// At most; fewer where other programs have the CPU.
struct ChangeRounds {
  std::size_t of_yields = 0;  // 200 each
  std::size_t of_turns = 0;
};
inline constexpr ChangeRounds many_changes{.of_yields = 100, .of_turns = 10'000};
// Some 20 ms.
inline constexpr ChangeRounds few_changes{.of_yields = 12, .of_turns = 1000};

// The switch, the block and the release, and no other cost. By the calling thread, which is on `cpu` alone afterwards, and one
// that it makes. The middle one of the rounds of each. Throws std::system_error where the system refuses a thread.
[[nodiscard]] HostCosts costs_of_changes(std::uint32_t cpu, const ChangeRounds& rounds);

// In a child of this process, which has one thread and stays where it is. 0 where there may be no child or thread.
[[nodiscard]] HostCosts costs_of_changes_in_child(std::uint32_t cpu);

// Each cost halfway between the two; the other one where one was not measured.
[[nodiscard]] HostCosts between(const HostCosts& before, const HostCosts& after);

}  // namespace longpole::recording
