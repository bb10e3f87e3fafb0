// Reads a spool of perf records (perf_event_open(2), "MMAP layout") as the launcher asked for them:
// bytes in, one record after the other out. Accepts any bytes; what is torn ends the stream.
//
//   PerfReader reader(spool);
//   while (const PerfRecord* record = reader.next()) …
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "recording/tracepoints.h"
#include "recording/unwind.h"

namespace longpole::recording {

struct PerfRecord {
  enum class Kind : std::uint8_t {
    switch_in,   // the thread got the CPU
    switch_out,  // the thread gave up the CPU; preempted: it could have gone on
    sample,      // `addresses` are where it was
    fork,        // the thread began
    exit,        // the thread ended
    exec,        // the process became another program; its mappings follow
    mapping,     // `path` was mapped
    waking,      // the thread woke `woken`, from `addresses`
    blocking,    // the thread is about to give up the CPU of its own accord, in `addresses`
    lost,        // `lost` records found no place in the ring
  };
  Kind kind = Kind::lost;
  bool preempted = false;
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::int32_t woken = 0;
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t lost = 0;
  std::vector<std::uint64_t> addresses;  // user space only, innermost first, the first exact
  StackCopy stack;        // of a sample: empty where none was taken; points into the spool
  std::string_view path;  // points into the spool
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
};

// The user registers that samples are to carry with a copy of the stack (sample_regs_user); 0 where
// we cannot unwind.
[[nodiscard]] std::uint64_t sampled_registers();

// The same records, samples without their copies of the stack. `records`: whole ones. `raw`: they are
// of tracepoints, whose raw data stays.
[[nodiscard]] std::vector<std::uint8_t> without_stack_copies(std::span<const std::uint8_t> records,
                                                             bool raw = false);

class PerfReader {
 public:
  // `tracepoints`: for a spool of wakes, whose samples are of tracepoints; otherwise nullptr.
  explicit PerfReader(std::span<const std::uint8_t> spool, const Tracepoints* tracepoints = nullptr)
      : rest_(spool), tracepoints_(tracepoints) {}

  // The next record of a kind above, valid until the next call; nullptr at the end.
  [[nodiscard]] const PerfRecord* next();

  // Whether the stream ended in the middle of a record, or in bytes that are none.
  [[nodiscard]] bool torn() const { return torn_; }

 private:
  bool decode(std::uint32_t type, std::uint16_t misc, std::span<const std::uint8_t> body);

  bool take_tracepoint(std::span<const std::uint8_t> raw);

  std::span<const std::uint8_t> rest_;
  const Tracepoints* tracepoints_;
  PerfRecord record_;
  bool torn_ = false;
};

}  // namespace longpole::recording
