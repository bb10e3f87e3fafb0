// Where a line, or a function, is at work in an execution.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/timeline.h"

namespace longpole::analysis {

// What is looked for. A stretch of computing counts by the share of its time that is charged to it
// (study.h), a wait as a whole where the call that waits is charged to it.
struct Sought {
  std::vector<double> of_profile;  // 0…1
  std::vector<bool> of_stack;      // of calls
};
// The line of any of the files.
[[nodiscard]] Sought seek_line(const Recording& recording, const std::vector<FileId>& files,
                               std::uint32_t line);
// Every function of that name; nothing where there is none.
[[nodiscard]] std::optional<Sought> seek_function(const Recording& recording,
                                                  std::string_view name);

struct FoundPixel {
  std::uint32_t pixel = 0;
  std::uint8_t share = 0;  // of the pixel, in parts of whole_pixel; at least 1
};
struct Found {
  std::vector<FoundPixel> pixels;  // in order
  double time_ns = 0;
};
[[nodiscard]] Found find(const Execution& execution, std::uint32_t thread, const Sought& sought,
                         const TimelineView& view);

// Where it is at work first behind the interval, on any thread, and last before it.
[[nodiscard]] std::optional<Nanoseconds> next_found(const Execution& execution,
                                                    const Sought& sought, Nanoseconds behind);
[[nodiscard]] std::optional<Nanoseconds> last_found(const Execution& execution,
                                                    const Sought& sought, Nanoseconds before);

}  // namespace longpole::analysis
