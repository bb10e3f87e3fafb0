// What the program said of its threads: their names, priorities and CPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "recording/merged_run.h"
#include "recording/raw_chunks.h"

namespace longpole::recording {

// `thread_of_handle`: the thread that had a pthread_t at a stamp; `time_of`: makes one of a stamp. The
// threads of `run` are those of `raw`, in order, perhaps with more behind them. What was said last
// holds; what was said of a thread that nobody knows is passed over.
void apply_thread_attributes(
    const std::vector<RawThread>& raw, const std::function<std::int64_t(std::uint64_t)>& time_of,
    const std::function<ThreadId(std::uint64_t, std::int64_t)>& thread_of_handle,
    std::vector<MergedThread>& threads);

}  // namespace longpole::recording
