#include "service/computer_messages.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "service/limits.h"
#include "service/marshalling.h"

namespace longpole::service {
namespace {

Expected<std::uint32_t> find_thread(const Recording& recording, const std::string& name) {
  for (std::uint32_t i = 0; i < recording.threads.size(); ++i) {
    if (to_utf8(recording.threads[i].name) == name)
      return i;
  }
  return not_found("cannot simulate this machine",
                   fmt::format("the recording has no thread called '{}'", name));
}

Expected<void> read_machine(const v1::Machine& message, const Recording& recording,
                            simulation::Machine& machine) {
  machine.latency = Nanoseconds{message.latency_ns()};
  if (message.switch_cost_ns() != 0)
    machine.switch_cost = Nanoseconds{message.switch_cost_ns()};
  if (message.migration_cost_ns() != 0)
    machine.migration_cost = Nanoseconds{message.migration_cost_ns()};
  machine.parallel_devices = message.parallel_devices();
  machine.lwps = message.lwps();
  machine.nodes.assign(message.nodes().begin(), message.nodes().end());
  machine.node_latency = Nanoseconds{message.node_latency_ns()};
  for (const double speed : message.speeds()) {
    // What is no number, or out of range, the machine refuses.
    const double scaled = std::round(speed * simulation::recorded_speed);
    machine.speeds.push_back(scaled >= 1 && scaled <= std::numeric_limits<std::uint32_t>::max()
                                 ? static_cast<std::uint32_t>(scaled)
                                 : 0);
  }
  for (const v1::ThreadSettings& settings : message.threads()) {
    const auto thread = find_thread(recording, settings.thread());
    if (!thread)
      return tl::unexpected(thread.error());
    machine.threads.resize(recording.threads.size());
    simulation::ThreadSettings& out = machine.threads[*thread];
    if (settings.has_cpu())
      out.cpu = settings.cpu();
    if (settings.has_priority())
      out.priority = settings.priority();
    out.nice = settings.nice();
  }
  return {};
}

Expected<std::optional<simulation::Model>> read_model(const std::string& name, bool may_be_auto) {
  if (may_be_auto && (name.empty() || name == "auto"))
    return std::nullopt;
  if (const auto model = simulation::model_named(name))
    return model;
  return bad_input(fmt::format("cannot simulate by the model '{}'", name), "there is no such model",
                   "the models are direct, client-server and strict");
}

}  // namespace

Expected<std::vector<analysis::Computer>> read_computers(const v1::PredictRequest& request,
                                                         const Recording& recording) {
  const auto cpus = read_cpu_counts(request.cpus());
  if (!cpus)
    return tl::unexpected(cpus.error());
  const std::string name = request.scheduler().empty() ? "shared" : request.scheduler();
  auto computer = analysis::computer_named(name);
  if (!computer) {
    std::string known = "ideal, shared";
    for (std::size_t i = 0; i < simulation::scheduler_kind_count; ++i)
      known += fmt::format(", {}", name_of(static_cast<simulation::SchedulerKind>(i)));
    return bad_input(fmt::format("cannot simulate under the scheduler '{}'", name),
                     "there is no such scheduler", "the schedulers are " + known);
  }
  if (request.has_machine()) {
    if (computer->kind != analysis::Computer::Kind::machine)
      return bad_input("cannot simulate this machine",
                       fmt::format("under the scheduler {} all CPUs and threads are alike", name),
                       "leave the machine out, or name another scheduler");
    if (auto read = read_machine(request.machine(), recording, computer->machine); !read)
      return tl::unexpected(read.error());
  }
  std::vector<analysis::Computer> computers;
  for (const std::uint32_t count : *cpus) {
    computers.push_back(*computer);
    computers.back().machine.cpus = count;
  }
  return computers;
}

v1::PredictRequest as_prediction(const v1::Simulation& simulation) {
  v1::PredictRequest request;
  request.add_cpus(simulation.cpus());
  request.set_scheduler(simulation.scheduler());
  request.set_model(simulation.model());
  *request.mutable_object_models() = simulation.object_models();
  if (simulation.has_machine())
    *request.mutable_machine() = simulation.machine();
  return request;
}

Expected<analysis::ModelChoice> read_models(const v1::PredictRequest& request,
                                            const Recording& recording) {
  analysis::ModelChoice choice;
  const auto general = read_model(request.model(), true);
  if (!general)
    return tl::unexpected(general.error());
  choice.general = *general;
  for (const v1::ObjectModel& one : request.object_models()) {
    const auto model = read_model(one.model(), false);
    if (!model)
      return tl::unexpected(model.error());
    const std::size_t before = choice.objects.size();
    for (std::uint32_t i = 0; i < recording.objects.size(); ++i) {
      if (to_utf8(recording.objects[i].name) == one.object())
        choice.objects.push_back({ObjectId{i}, **model});
    }
    if (choice.objects.size() == before)
      return not_found(fmt::format("cannot simulate by the model '{}'", one.model()),
                       fmt::format("the recording has no object called '{}'", one.object()));
  }
  return choice;
}

}  // namespace longpole::service
