// What a thread keeps of OpenMP: see openmp_hooks.cc.
#pragma once

namespace longpole::recorder {

// At the end of the calling thread. Signals must be blocked.
void unmap_openmp_state();

}  // namespace longpole::recorder
