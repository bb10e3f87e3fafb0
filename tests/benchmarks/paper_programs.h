// The programs that Papers IV (section 5) and V (section 3.2) study allocation on, made by chance.
#pragma once

#include <cstdint>
#include <string>

namespace longpole {

// How the papers' text is read where it leaves something open; ALLOCATION.md tells how the defaults
// were found.
struct PaperReading {
  enum class Enters {
    first,   // the lowest-numbered section that it may enter, so that the low ones are the busiest
    chance,  // one of those that it may enter
    draw,    // draws one of all sections of its group, and enters it only if it may
  };
  Enters enters = Enters::first;
  // Who leaves a section leaves any that it is in, or the one that it entered last.
  bool leaves_any = true;
  // Enter or leave is drawn; who cannot do that does the other if possible, or neither.
  bool does_the_other = true;
  // Any number of groups up to half that of threads is as likely, and each thread and section goes to
  // a group by chance; or they are dealt out one by one; or there is only one group.
  enum class Groups { chance, even, one };
  Groups groups = Groups::chance;
  std::uint32_t unit_ns = 1000;  // the papers' time unit
};

// A program file. Threads compute for 2^x units, x from 0 to 15, between entering and leaving
// critical sections, of which there are two to three for each thread, each with a semaphore, entered
// in order of their numbers. Threads are in groups, one up to half as many as threads, and a section
// is of one group. After each stretch a thread goes on to its end with a probability of 1/16. The same
// arguments give the same program.
[[nodiscard]] std::string paper_program(std::uint32_t threads, std::uint64_t seed,
                                        const PaperReading& reading = {});

}  // namespace longpole
