// Who woke whom: pairs the releases and the acquisitions of each object over all threads.
#pragma once

#include "recording/merged_run.h"
#include "recording/object_table.h"

namespace longpole::recording {

// Fills in, from the order of time in the recording:
//  - the waker of every call that waited: of a lock, the thread that unlocked it last before; of a
//    semaphore, the one whose post it took (posts are taken in order); of a condition, the one whose
//    signal or broadcast it was; of a barrier, the last to arrive; of a join, the joined thread
//  - how many threads each signal and broadcast woke. A signal goes to one of those that were
//    waiting and returned after it, to the one that returned first; this pairs as many as can be. A
//    broadcast goes to all that were waiting
//  - the initial value of semaphores whose initialization was not recorded: the least that makes
//    what happened possible
//  - the number of threads of barriers whose initialization was not recorded: those that used it
void find_wakers(std::vector<MergedThread>& threads, ObjectTable& objects);

}  // namespace longpole::recording
