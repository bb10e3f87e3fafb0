// The costs of this machine, measured once and kept in the user's cache folder
// ($XDG_CACHE_HOME/longpole/host-costs.json, else ~/.cache/longpole/…). What was kept on another
// machine, or under another kernel, does not count; what was measured while other programs used the CPUs
// counts for ten minutes.
//
// Any thread may call these; two at once measure twice at worst.
#pragma once

#include <filesystem>
#include <functional>

#include "trace/recording.h"

namespace longpole::calibration {

struct Calibration {
  HostCosts costs;
  // What other programs took of the CPUs while these were measured, 0 to 1.
  double others = 0;

  // Waits and switches then took another time than they do. Idle machines take some hundredths.
  [[nodiscard]] bool is_disturbed() const { return others > 0.1; }
};

// But for those that were measured as it was recorded (recording/thread_changes.h). With a notice where they are disturbed.
void put_into(Recording& recording, const Calibration& calibration);

// Empty where the user has no home.
[[nodiscard]] std::filesystem::path kept_at();

// Measures, and keeps the outcome. Errors: of measuring and of writing the file.
[[nodiscard]] Expected<Calibration> calibrate();

// Measured now, and kept if that is possible. All 0 where nothing can be measured. Takes a second, and up to four
// where other programs want the CPUs.
[[nodiscard]] Calibration costs_of_now();

// Those that are kept, else measured now and kept if that is possible. All 0 where nothing can be
// measured. `measuring`, unless empty, is told before that time passes.
[[nodiscard]] Calibration host_costs(const std::function<void()>& measuring = {});

}  // namespace longpole::calibration
