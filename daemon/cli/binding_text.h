// A binding for people: who is on which CPU.
#pragma once

#include <string>

#include "allocation/binding.h"
#include "trace/recording.h"

namespace longpole::cli {

// A line a CPU, with its node where there are some, and the names of its threads; names like worker.1,
// worker.2, worker.3 as worker.1-3.
[[nodiscard]] std::string binding_table(const Recording& recording,
                                        const allocation::Binding& binding,
                                        const simulation::Machine& machine);

}  // namespace longpole::cli
