#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "calibration/host_costs.h"
#include "cli/command.h"
#include "cli/human.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "cli/text_table.h"
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

std::string text_of(const calibration::Calibration& calibration) {
  const HostCosts& costs = calibration.costs;
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
  const std::string busy = calibration.is_disturbed()
                               ? fmt::format(
                                     "\nnote: other programs took {} of the CPUs meanwhile; "
                                     "measure again when they are quiet\n",
                                     percent_text(calibration.others))
                               : "";
  return table.text(terminal_width()) + unknown + busy;
}

Expected<int> calibrate(bool json) {
  std::optional<Expected<calibration::Calibration>> measured;
  {
    const ProgressLine progress("measuring this machine");
    measured = calibration::calibrate();
  }
  if (!*measured)
    return tl::unexpected(measured->error());
  const calibration::Calibration& calibration = **measured;
  if (const auto printed = print(json ? json_of(calibration.costs) : text_of(calibration));
      !printed)
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
      "recording, with what switches, blocking and releases took on the program's CPU as it ran;\n"
      "simulations of the recording go by it. Measure again when the machine was busy, or its\n"
      "kernel's settings have changed.\n"
      "interrupt: until a busy CPU takes up a thread that another woke; interruption: what that "
      "takes\n"
      "of whoever runs there.\n"
      "deep-sleep: how long a CPU has been idle when wake-up and release-afar become those of "
      "deep\n"
      "sleep; missing where CPUs do not sleep deeper.\n"
      "tick: of the system's clock. idle-look: how often a CPU that is idle looks for a thread "
      "that waits\n"
      "for another one, where that is not as the kernel has it. packed-use: how much of a second "
      "two\n"
      "threads may use a CPU for the one to wake up beside the other, though another CPU is idle;\n"
      "missing where threads wake up on idle CPUs.");
  command->callback([json, &chosen] { chosen.run = [json] { return calibrate(*json); }; });
}

}  // namespace longpole::cli
