// Bindings and bounds ↔ protobuf messages: marshalling.h for what concerns them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocation/bound_parameters.h"
#include "allocation/recommendation.h"
#include "longpole/v1/allocation.pb.h"
#include "simulation/machine.h"
#include "trace/error.h"

namespace longpole::service {

struct SearchRequest {
  simulation::Machine machine;
  allocation::Inquiry inquiry;
};
[[nodiscard]] Expected<SearchRequest> read_search(const v1::AllocateRequest& request,
                                                  const Recording& recording);

void write_search_progress(const allocation::Standing& standing, bool with_assignment,
                           const Recording& recording, v1::AllocateProgress& message);
void write_recommendation(const allocation::Recommendation& answer, const Recording& recording,
                          v1::AllocateResult& message);

[[nodiscard]] Expected<std::vector<Nanoseconds>> read_latencies(const v1::BoundRequest& request);
void write_bounds(const allocation::ProgramParameters& program,
                  const allocation::BoundFinder& finder, const std::vector<std::uint32_t>& cpus,
                  const std::vector<Nanoseconds>& latencies, v1::BoundResponse& message);

}  // namespace longpole::service
