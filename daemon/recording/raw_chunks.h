// Reads the recorder's events file (longpole/raw_record.h): bytes in, the records of each thread
// out. Accepts any bytes, also those of a run that was killed half-way: what contradicts the layout
// is left out and counted.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "longpole/raw_record.h"

namespace longpole::recording {

// The records of one chunk, as they lie in the file.
struct RawChunk {
  std::span<const std::uint8_t> bytes;
  bool encoded = false;
};

// Takes encoded records apart, one by one.
class RecordDecoder {
 public:
  explicit RecordDecoder(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  // The next record; none at the end, or where the rest is no record.
  [[nodiscard]] std::optional<longpole_record> next();
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

 private:
  struct Known {
    std::uint64_t object = 0;
    std::uint64_t site = 0;
    std::uint64_t rest = 0;
  };

  bool take_word(std::uint64_t& word);
  bool take_difference(std::uint64_t& from);

  std::span<const std::uint8_t> rest_;
  std::array<Known, LONGPOLE_ENCODING_PLACES> places_{};
  std::uint64_t stamp_ = 0;
  std::uint64_t object_ = 0;  // of the record before
};

template <typename Visit>
void for_each_record(const RawChunk& chunk, const Visit& visit) {
  if (chunk.encoded) {
    RecordDecoder decoder(chunk.bytes);
    while (const std::optional<longpole_record> record = decoder.next())
      visit(*record);
    return;
  }
  for (std::size_t at = 0; at + sizeof(longpole_record) <= chunk.bytes.size();
       at += sizeof(longpole_record)) {
    longpole_record record;
    std::memcpy(&record, chunk.bytes.data() + at, sizeof record);
    if (LONGPOLE_KIND(record.kind_and_flags) != LONGPOLE_NOTHING)
      visit(record);
  }
}

struct RawThread {
  std::uint32_t number = 0;
  std::int32_t tid = 0;  // 0: numbered, but has not begun
  std::uint64_t start_function = 0;
  std::uint64_t handle = 0;
  std::vector<RawChunk> chunks;  // in order

  // Calls `visit(const longpole_record&)` for every record, in order.
  template <typename Visit>
  void for_each_record(const Visit& visit) const {
    for (const RawChunk& chunk : chunks)
      recording::for_each_record(chunk, visit);
  }
};

struct RawEvents {
  std::vector<RawThread> threads;  // by number
  std::uint64_t damaged = 0;       // chunks that were left out, in whole or in part
};

// The spans point into `events`.
[[nodiscard]] RawEvents read_raw_events(std::span<const std::uint8_t> events,
                                        std::uint32_t next_unit);

// What a record says of the thread that it names rather than of the one that made it.
[[nodiscard]] inline bool is_thread_attribute(unsigned kind) {
  return kind == LONGPOLE_THREAD_NAME || kind == LONGPOLE_PRIORITY || kind == LONGPOLE_AFFINITY;
}

// Likewise of descriptors.
[[nodiscard]] inline bool tells_of_descriptors(unsigned kind) {
  return kind == LONGPOLE_CHANNEL || kind == LONGPOLE_DUPLICATE || kind == LONGPOLE_CONNECTION;
}

// A call that may sleep until something happens that is not recorded.
[[nodiscard]] inline bool waits_for_nobody_known(unsigned kind) {
  return kind == LONGPOLE_IO || kind == LONGPOLE_FUTEX_WAIT || kind == LONGPOLE_SIGNAL_WAIT;
}

// Samples are kept from a call of these kinds while it waits: a signal would end it.
[[nodiscard]] inline bool may_be_interrupted(unsigned kind) {
  return waits_for_nobody_known(kind) || kind == LONGPOLE_SLEEP ||
         kind == LONGPOLE_SEMAPHORE_TIMEDWAIT;
}

// What its thread computes in it is waiting.
[[nodiscard]] inline bool burns_cpu_while_it_waits(unsigned kind) {
  return kind == LONGPOLE_SPIN_LOCK || kind == LONGPOLE_TEAM_WAIT ||
         kind == LONGPOLE_TEAM_BARRIER || kind == LONGPOLE_TEAM_LOCK;
}

[[nodiscard]] inline std::uint64_t other_of(const longpole_record& record) {
  return record.other_low | std::uint64_t{record.other_high} << 32U;
}

}  // namespace longpole::recording
