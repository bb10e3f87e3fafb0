// Random valid Recordings that between them hold every kind of event, every outcome, every optional
// field, present and absent, and names of any bytes.
#pragma once

#include <cstdint>
#include <random>

#include "trace/recording.h"

namespace longpole::tests {

// The same seed gives the same Recording.
[[nodiscard]] Recording random_recording(std::uint32_t seed);

}  // namespace longpole::tests
