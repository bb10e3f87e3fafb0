// Whether groups of samples differ by more than chance: pieces of work between the same two calls that are not alike.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "trace/types.h"

namespace longpole::recording {

using SampleCounts = std::map<StackId, std::uint64_t>;

// Two samples of one group fall in the same place more often than two of all groups together: so much more often that it
// is no chance (four standard deviations, were the samples spread over the groups at random), and that it matters.
// Groups of a single sample tell nothing.
[[nodiscard]] bool differ(std::span<const SampleCounts* const> groups);

}  // namespace longpole::recording
