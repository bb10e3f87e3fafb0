#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibration/host_costs.h"
#include "cli/command.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "cli/text_table.h"
#include "recording/system.h"
#include "trace/host_costs.h"

namespace longpole::cli {
namespace {

std::string json_of(const HostCosts& costs) {
  Json times = Json::object();
  for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
    if (const Nanoseconds time = host_cost(costs, cost); time > Nanoseconds{})
      times[std::string(host_cost_word(cost)) + "_ns"] = time.count();
  }
  return json_text({{"costs", std::move(times)}});
}

// `others`: the share of the CPUs that other programs took meanwhile.
std::string text_of(const HostCosts& costs, double others) {
  TextTable table({{"what", TextTable::Align::left}, {"takes"}});
  for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
    if (const Nanoseconds time = host_cost(costs, cost); time > Nanoseconds{})
      table.add(
          {std::string(host_cost_word(cost)), duration_text(static_cast<double>(time.count()))});
  }
  const std::string unknown =
      costs.wake_up == Nanoseconds{} && costs.migration == Nanoseconds{}
          ? "\nnote: wake-ups and migrations are between two CPUs, and only one may be used\n"
          : "";
  constexpr double quiet = 0.1;
  const std::string busy =
      others > quiet ? fmt::format(
                           "\nnote: other programs took {} of the CPUs meanwhile; measure "
                           "again when they are quiet\n",
                           percent_text(others))
                     : "";
  return table.text(terminal_width()) + unknown + busy;
}

Expected<int> calibrate(bool json) {
  std::optional<Expected<HostCosts>> costs;
  const std::vector<std::uint32_t> cpus = recording::usable_cpus();
  const Nanoseconds others_before = recording::busy_time(cpus) - recording::own_cpu_time();
  const auto started = std::chrono::steady_clock::now();
  {
    const ProgressLine progress("measuring this machine");
    costs = calibration::calibrate();
  }
  if (!*costs)
    return tl::unexpected(costs->error());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  const std::chrono::duration<double> others =
      recording::busy_time(cpus) - recording::own_cpu_time() - others_before;
  const double share = others / took / static_cast<double>(cpus.size());
  if (const auto printed = print(json ? json_of(**costs) : text_of(**costs, share)); !printed)
    return tl::unexpected(printed.error());
  if (!json)
    fmt::print(stderr, "longpole: kept in {}\n", calibration::kept_at().string());
  return 0;
}

}  // namespace

void add_calibrate(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "calibrate", "Measure what calls, switches and wake-ups of threads take on this machine");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one JSON document");
  command->footer(
      "`record` measures the same by itself where nobody did before, and writes it into each\n"
      "recording; simulations of the recording go by it. Measure again when the machine was busy,\n"
      "or its kernel's settings have changed.");
  command->callback([json, &chosen] { chosen.run = [json] { return calibrate(*json); }; });
}

}  // namespace longpole::cli
