// What longpole/sync.h, in the program, tells longpole_sync_record, in the recorder.
#pragma once

#include <cstdint>

namespace longpole::sync::detail {

// What the recorder is told. Numbers are never used again for something else.
enum class Call : std::uint32_t {
  semaphore_initial = 0,  // value: what it begins with
  semaphore_acquired = 1,
  semaphore_begins = 2,
  semaphore_returns = 3,
  semaphore_tried = 4,  // value: whether it was got
  semaphore_timed_begins = 5,
  semaphore_timed_returns = 6,  // value: whether it was got
  semaphore_post = 7,
  barrier_initial = 8,  // value: how many it waits for
  barrier_begins = 9,
  barrier_returns = 10,
  atomic_begins = 11,
  atomic_returns = 12,
  atomic_notify_one = 13,
  atomic_notify_all = 14,
};

}  // namespace longpole::sync::detail
