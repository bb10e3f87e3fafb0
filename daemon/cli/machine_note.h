// What a machine makes of a prediction in which threads share the CPUs evenly and nothing takes time but
// their own work. A program that wakes threads up all the time is as good as serial there, and nearly
// linear here.
#pragma once

#include <string>

#include "analysis/forecast.h"

namespace longpole::cli {

// "note: with what wake-ups and switches take, by the scheduler linux, it is 176 ms on 4 CPUs, 1.23 times
// as fast as on one (--scheduler linux)", as a line, where that is another time or another speed-up than
// the `prediction` of the scheduler `shared`. Empty where both are alike (analysis::are_alike), and where
// the program stands still. Simulates it twice, side by side.
[[nodiscard]] std::string machine_note(const analysis::Forecaster& forecaster,
                                       const analysis::ModelChoice& models,
                                       const analysis::Prediction& prediction);

}  // namespace longpole::cli
