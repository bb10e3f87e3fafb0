// Which computers and models a request wants simulated: marshalling.h for what concerns them.
#pragma once

#include <vector>

#include "analysis/forecast.h"
#include "longpole/v1/simulation.pb.h"
#include "trace/error.h"

namespace longpole::service {

// The computers that are asked for, one per CPU count, and the model.
[[nodiscard]] Expected<std::vector<analysis::Computer>> read_computers(
    const v1::PredictRequest& request, const Recording& recording);
[[nodiscard]] Expected<analysis::ModelChoice> read_models(const v1::PredictRequest& request,
                                                          const Recording& recording);

// The same of a single simulation.
[[nodiscard]] v1::PredictRequest as_prediction(const v1::Simulation& simulation);

}  // namespace longpole::service
