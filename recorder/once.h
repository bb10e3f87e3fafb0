// Initializing once, as a mutex that is held while the routine runs: whoever comes meanwhile waits
// for it. Calls that find it done leave no record.
#pragma once

#include <pthread.h>

namespace longpole::recorder {

using OnceCall = void (*)(pthread_once_t* control, void (*routine)());

// `call`: how to do it with glibc. Recording must be on.
void record_once(pthread_once_t* control, void (*routine)(), const void* site, OnceCall call);

}  // namespace longpole::recorder
