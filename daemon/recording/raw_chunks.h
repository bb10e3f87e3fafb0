// Reads the recorder's events file (longpole/raw_record.h): bytes in, the records of each thread
// out. Accepts any bytes, also those of a run that was killed half-way: what contradicts the layout
// is left out and counted.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "longpole/raw_record.h"

namespace longpole::recording {

struct RawThread {
  std::uint32_t number = 0;
  std::int32_t tid = 0;  // 0: numbered, but has not begun
  std::uint64_t start_function = 0;
  std::uint64_t handle = 0;
  std::vector<std::span<const std::uint8_t>> slots;  // of its chunks, in order

  // Calls `visit(const longpole_record&)` for every record, in order.
  template <typename Visit>
  void for_each_record(const Visit& visit) const {
    for (const std::span<const std::uint8_t> chunk : slots)
      for (std::size_t at = 0; at + sizeof(longpole_record) <= chunk.size();
           at += sizeof(longpole_record)) {
        longpole_record record;
        std::memcpy(&record, chunk.data() + at, sizeof record);
        if (LONGPOLE_KIND(record.kind_and_flags) != LONGPOLE_NOTHING)
          visit(record);
      }
  }
};

struct RawEvents {
  std::vector<RawThread> threads;  // by number
  std::uint64_t damaged = 0;       // chunks that were left out
};

// The spans point into `events`.
[[nodiscard]] RawEvents read_raw_events(std::span<const std::uint8_t> events,
                                        std::uint32_t next_unit);

// What a record says of the thread that it names rather than of the one that made it.
[[nodiscard]] inline bool is_thread_attribute(unsigned kind) {
  return kind == LONGPOLE_THREAD_NAME || kind == LONGPOLE_PRIORITY || kind == LONGPOLE_AFFINITY;
}

// A call that may sleep until something happens that is not recorded.
[[nodiscard]] inline bool waits_for_nobody_known(unsigned kind) {
  return kind == LONGPOLE_IO || kind == LONGPOLE_FUTEX_WAIT;
}

[[nodiscard]] inline std::uint64_t other_of(const longpole_record& record) {
  return record.other_low | std::uint64_t{record.other_high} << 32U;
}

}  // namespace longpole::recording
