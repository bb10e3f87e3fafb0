// The program's calls of syscall().
#pragma once

namespace longpole::recorder {

// Once in the process, when the next definitions are resolved: calls pass straight through from then.
void prepare_system_calls();

}  // namespace longpole::recorder
