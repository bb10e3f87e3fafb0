// The costs of this machine, measured once and kept in the user's cache folder
// ($XDG_CACHE_HOME/longpole/host-costs.json, else ~/.cache/longpole/…). What was kept on another
// machine, or under another kernel, does not count.
//
// Any thread may call these; two at once measure twice at worst.
#pragma once

#include <filesystem>
#include <functional>

#include "trace/recording.h"

namespace longpole::calibration {

// Empty where the user has no home.
[[nodiscard]] std::filesystem::path kept_at();

// Measures, and keeps the outcome. Errors: of measuring and of writing the file.
[[nodiscard]] Expected<HostCosts> calibrate();

// Measured now, and kept if that is possible. All 0 where nothing can be measured. Takes half a second.
[[nodiscard]] HostCosts costs_of_now();

// Those that are kept, else measured now and kept if that is possible. All 0 where nothing can be
// measured. `measuring`, unless empty, is told before half a second passes.
[[nodiscard]] HostCosts host_costs(const std::function<void()>& measuring = {});

}  // namespace longpole::calibration
