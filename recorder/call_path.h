// More of the path to a recorded call than its return address.
//
// The start and the join of a std::thread return into libstdc++, which keeps no frame pointers; the
// line of the user is further out. It is looked for among the words next to the call on the stack.
#pragma once

namespace longpole::recorder {

// Writes LONGPOLE_FRAMES for the call whose hook has the given frame. Takes microseconds, and says so: for
// rare calls. The stack is read through the kernel, so that no guess about its bounds can fault.
void record_call_path(const void* frame);

}  // namespace longpole::recorder
