// The programs that Papers IV (section 5) and V (section 3.2) study allocation on, made by chance.
#pragma once

#include <cstdint>
#include <string>

namespace longpole {

// A program file. Threads compute for 2^x microseconds, x from 0 to 15, between entering and leaving
// critical sections, of which there are two to three for each thread, each with a semaphore, entered
// in order of their numbers. Threads are in groups, one up to half as many as threads, and a section
// is of one group. After each stretch a thread goes on to its end with a probability of 1/16. The same
// arguments give the same program.
[[nodiscard]] std::string paper_program(std::uint32_t threads, std::uint64_t seed);

}  // namespace longpole
