// The CPUs that the program is told of, and its own wishes about them.
#pragma once

#include <sched.h>

#include <cstddef>

namespace longpole::recorder {

// Puts the told CPUs into what the kernel answered, `bytes` long in a set of `room` bytes. Returns how
// many bytes count. Does nothing where the program is told the truth.
long tell_cpus(cpu_set_t* set, std::size_t bytes, std::size_t room);

// What sched_setaffinity is to answer, and its record.
int bind_thread(pid_t thread, std::size_t bytes, const cpu_set_t* set, const void* site);

}  // namespace longpole::recorder
