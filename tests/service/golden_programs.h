// Programs of tests/golden that several conversations are about.
#pragma once

#include <filesystem>

namespace longpole::testing {

// Two threads meet in every round: slow computes 100 ms, fast 80.
inline const std::filesystem::path two_at_a_barrier = LONGPOLE_GOLDEN "/two-at-a-barrier.prog";

}  // namespace longpole::testing
