// The scheduler's tracepoints, which only the privileged may record: who woke whom, and where a thread
// was when it gave up its CPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "trace/error.h"

namespace longpole::recording {

// Numbers that differ from kernel to kernel. Offsets count within the raw data of a record.
struct Tracepoints {
  std::uint32_t waking = 0;     // id of sched:sched_waking, or of sched:sched_wakeup
  std::uint32_t woken_at = 0;   // offset of the thread id that it wakes, four bytes
  std::uint32_t switching = 0;  // id of sched:sched_switch
  std::uint32_t flags_at = 2;   // offset of common_flags, a byte, in all of them

  friend bool operator==(const Tracepoints&, const Tracepoints&) = default;
};

// In common_flags: recorded in an interrupt, which has nothing to do with the thread it interrupted.
inline constexpr std::uint8_t in_interrupt = 0x08 | 0x10 | 0x40;

// What the `format` file of a tracepoint says: its id, and the offset of `field` (empty: none asked
// for). None where it does not say so.
struct TracepointFormat {
  std::uint32_t id = 0;
  std::uint32_t field_at = 0;
};
[[nodiscard]] std::optional<TracepointFormat> read_tracepoint_format(std::string_view text,
                                                                     std::string_view field);

// From the trace file system, wherever it is mounted. The error says what keeps us from it.
//
// sched_waking comes before the kernel decides whether the woken thread takes the CPU from its waker, who by then has used
// what it takes to write the record: enough that a producer was interrupted at each item where it used to fill its whole
// queue, and the program took ten times as long. sched_wakeup comes behind, but on the CPU of the woken thread, so that it
// tells of the waker only where all threads have one CPU (`one_cpu`).
[[nodiscard]] Expected<Tracepoints> find_tracepoints(bool one_cpu);

}  // namespace longpole::recording
