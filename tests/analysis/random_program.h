// Random program files that use every statement of the grammar and mostly run to their end.
#pragma once

#include <cstdint>
#include <string>

namespace longpole::analysis {

// The same seed gives the same program. It is written along one order in which it could run, so
// that its waits have their releases; in another order it may stand still. Every call has a stretch
// of computing of random length before it, so that no two independent events coincide but by
// chance.
//
// With Exits::some, every sixth program exits while other threads may be at work.
enum class Exits : bool { none, some };
[[nodiscard]] std::string random_program(std::uint64_t seed, Exits exits = Exits::none);

}  // namespace longpole::analysis
