// What puts a binding in place: lines for the program, and lines for a shell.
#pragma once

#include <string>

#include "allocation/binding.h"

namespace longpole::allocation {

// C code and a shell command, each with a line that says where it goes (pthread_setaffinity_np(3),
// taskset(1)).
[[nodiscard]] std::string binding_code(const Binding& binding);

}  // namespace longpole::allocation
