// Entries and exits of functions that were compiled with -finstrument-functions, where the launcher
// asks for them.
#pragma once

#include <cstdint>

namespace longpole::recorder {

// Functions inside each other that are recorded, at most; 0, as at the start: none. Called once,
// before the program's own code runs.
void set_function_depth(std::uint32_t depth);

// The calling thread is in none that it is recorded to have entered.
void forget_functions();

// What the calling thread has entered from now on, null at first; returns what it had entered before.
void* exchange_functions(void* others);

// At the end of the calling thread, which is recorded to enter none from then on. Signals must be blocked.
void unmap_functions();

// Enters and leaves a function so often, as a program does, to measure what it costs.
void enter_and_leave(std::uintptr_t times);

}  // namespace longpole::recorder
