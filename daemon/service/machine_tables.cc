#include "service/machine_tables.h"

#include "service/timeline_requests.h"

namespace longpole::service {
namespace {

using analysis::Execution;
using analysis::Table;

// What Study has sums for, at any number of CPUs.
template <typename Request>
bool is_usual(const Request& request) {
  return (request.scheduler().empty() || request.scheduler() == "shared") &&
         request.model().empty() && request.object_models().empty() && !request.has_machine();
}

template <typename Row, typename Request, typename Make>
Expected<std::vector<Table<Row>>> on_machines(const OpenRecording& opened, const Request& request,
                                              std::span<const std::uint32_t> cpus,
                                              const Make& make) {
  std::vector<Table<Row>> tables;
  for (const std::uint32_t count : cpus) {
    v1::Simulation simulation;
    simulation.set_cpus(count);
    simulation.set_scheduler(request.scheduler());
    simulation.set_model(request.model());
    *simulation.mutable_object_models() = request.object_models();
    if (request.has_machine())
      *simulation.mutable_machine() = request.machine();
    const auto drawn = read_timeline(opened, simulation);
    if (!drawn)
      return tl::unexpected(drawn.error());
    tables.push_back(make(drawn->timeline->execution()));
  }
  return tables;
}

}  // namespace

Expected<std::vector<Table<analysis::LineRow>>> lines_on(const OpenRecording& opened,
                                                         const v1::GetLinesRequest& request,
                                                         std::span<const std::uint32_t> cpus,
                                                         const analysis::SumsByCpus& of) {
  if (is_usual(request))
    return opened.lines(cpus, of);
  return on_machines<analysis::LineRow>(opened, request, cpus, [&](const Execution& execution) {
    return opened.study().lines(execution, of);
  });
}

Expected<std::vector<Table<analysis::FunctionRow>>> functions_on(
    const OpenRecording& opened, const v1::GetFunctionsRequest& request,
    std::span<const std::uint32_t> cpus, const analysis::SumsByCpus& of) {
  if (is_usual(request))
    return opened.functions(cpus, of);
  return on_machines<analysis::FunctionRow>(opened, request, cpus, [&](const Execution& execution) {
    return opened.study().functions(execution, of);
  });
}

}  // namespace longpole::service
