// Numbers and names for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/types.h"

namespace longpole::cli {

// "12 ms", "1.234 s", "834.2 µs", "2 min 3.5 s": at most four digits, without trailing zeros.
[[nodiscard]] std::string duration_text(double nanoseconds);
[[nodiscard]] inline std::string duration_text(Nanoseconds time) {
  return duration_text(static_cast<double>(time.count()));
}

// A share of 1: "58.6%".
[[nodiscard]] std::string percent_text(double share);

// "1,234,567".
[[nodiscard]] std::string count_text(std::uint64_t count);

// "1 thread", "2 threads".
[[nodiscard]] std::string count_text(std::uint64_t count, std::string_view thing);

// The text with control characters, which could move a terminal's cursor, and bytes that are no UTF-8
// replaced. Names in a file from elsewhere may hold anything.
[[nodiscard]] std::string printable(std::string_view text);

// How many columns UTF-8 text takes in a terminal: one a character, two a wide one (as Chinese, Japanese and Korean have).
[[nodiscard]] std::size_t columns(std::string_view text);

// The text in at most `width` columns. What is in <…> and (…) goes first, from the end, so that
// "std::vector<…>::push_back(…)" stays readable; then parameters; then what is before the end, by which
// names of one scope differ.
[[nodiscard]] std::string shortened(const std::string& text, std::size_t width);

}  // namespace longpole::cli
