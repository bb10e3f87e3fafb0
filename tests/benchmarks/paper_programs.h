// The programs that Papers IV (section 5) and V (section 3.2) study allocation on, made by chance.
#pragma once

#include <cstdint>
#include <string>

namespace longpole {

// What the papers leave open.
struct PaperChoices {
  // Who is about to enter a section takes one of those that it may enter, or draws one of all of its
  // group and enters it only if it may.
  bool draws_of_all = false;
  // Who leaves a section leaves the one that it entered last, or any that it is in.
  bool leaves_any = false;
  // Enter or leave is drawn; who cannot do that does the other if possible, or neither.
  bool does_the_other = false;
  // All threads are in one group; or any number of groups up to half that of threads is as likely.
  bool one_group = false;
  // Threads and sections are dealt out to the groups one by one, or each goes to a group by chance.
  bool even_groups = false;
  std::uint32_t unit_ns = 1000;  // the papers' time unit
};

// A program file. Threads compute for 2^x units, x from 0 to 15, between entering and leaving
// critical sections, of which there are two to three for each thread, each with a semaphore, entered
// in order of their numbers. Threads are in groups, one up to half as many as threads, and a section
// is of one group. After each stretch a thread goes on to its end with a probability of 1/16. The same
// arguments give the same program.
[[nodiscard]] std::string paper_program(std::uint32_t threads, std::uint64_t seed,
                                        const PaperChoices& choices = {});

}  // namespace longpole
