// The run directory that this process records into (raw_record.h): the launcher's, or, where processes
// are followed and another one has that, one of its own below it.
//
// Threads: any for events_descriptor(), note_launch(); the others are for a process with one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder {

// The control of the directory, now this process's; null when there is none to be had.
longpole_control* claim_run_directory(const char* directory);

// Likewise one below the first, also in a process that was forked from one that records.
longpole_control* claim_directory_of_child(longpole_beginning beginning);

// Makes the file `events`. False, and errno.
bool open_events();

// A descriptor of `events`, also when the program has closed the one that was opened at the start,
// or -1 with errno set.
int events_descriptor();

// Growing a file over the limit would not only fail: it would send SIGXFSZ to the program.
bool file_may_reach(std::uint64_t bytes);

// What the launcher, which looks after the first process alone, cannot see of this one.
void describe_process();
// As they are now. The launcher looks at those of the first process from time to time.
void describe_mappings();

// That process `pid` is about to become `program`, or that it came to nothing. Async-signal-safe. Where a file may not grow, as
// where the disk is full, nobody will know.
void note_launch(pid_t pid, const char* program, bool failed);

}  // namespace longpole::recorder
