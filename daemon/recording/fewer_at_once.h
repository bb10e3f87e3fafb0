// Of a program's threads, which take turns on one CPU, only some do: as on several CPUs, where fewer take turns on each. What
// they lose to each other's caches is then what they would lose there.
//
//   usual         A B C D A B C D A B C D      whoever comes back finds the caches full of three others' data
//   two at once   A B A B A B C D C D C D      of one other's, as where two CPUs have two threads each
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace longpole::recording {

// One look at `process`, a program on one CPU that has not been waited for, to be taken again and again: of its threads that
// are ready to run now, `most`, at least 1, stay ordinary ones, those that are there longest. The others get SCHED_IDLE for
// good (sched(7)), as do the threads that they start: they run when no ordinary one wants to, so that nothing stands still
// for ever. That takes no privileges; going back would take CAP_SYS_NICE. Threads under other policies are left alone.
void hold_back_beyond(std::uint32_t most, pid_t process);

}  // namespace longpole::recording
