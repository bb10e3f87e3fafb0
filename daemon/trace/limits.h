// What a recording may hold at most. Every reader refuses more, by the name of the limit, before it
// sets memory aside; validate() holds every Recording to the same, so that whatever is valid can be
// written in any form and read again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/types.h"

namespace longpole {

struct Limits {
  std::size_t threads = 1'000'000;
  std::size_t events = std::size_t{1} << 28U;         // of all threads together
  std::size_t table_entries = std::size_t{1} << 24U;  // of any one other table
  std::size_t text_bytes = std::size_t{1} << 30U;     // of all strings together
  std::size_t table_bytes = 0xffff'ffffU;  // of all tables but the events in a recording file
  std::size_t stack_depth = 10'000;        // frames on one call path
  std::size_t name_bytes = std::size_t{256} << 10U;  // of any one string
  std::size_t line_bytes = std::size_t{8} << 20U;    // of a line of text
};

// Of any point in time, of any duration, and of the CPU time and fixed waits of all threads
// together (834 days): an analysis may multiply it by 127 CPUs and stay inside 64 bits.
inline constexpr Nanoseconds longest_time{std::int64_t{1} << 56U};

}  // namespace longpole
