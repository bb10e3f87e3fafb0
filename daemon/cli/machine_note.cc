#include "cli/machine_note.h"

#include <fmt/format.h>

#include <future>

#include "cli/human.h"

namespace longpole::cli {

std::string machine_note(const analysis::Forecaster& forecaster,
                         const analysis::ModelChoice& models,
                         const analysis::Prediction& prediction) {
  auto computer = analysis::computer_named("linux");
  if (!computer)
    return {};
  const std::uint32_t cpus = prediction.cpus;
  computer->machine.cpus = cpus;
  auto beside = std::async(std::launch::async,
                           [&] { return forecaster.on(with_one_cpu(*computer), models); });
  const auto on_machine = forecaster.on(*computer, models);
  const auto on_one = beside.get();
  if (!on_machine || !on_one || on_machine->deadlock || on_one->deadlock ||
      on_machine->total_ns <= 0)
    return {};
  const double there = on_one->total_ns / on_machine->total_ns;
  if (analysis::are_alike(prediction.speedup, there) &&
      analysis::are_alike(prediction.total_ns, on_machine->total_ns))
    return {};
  const std::string speedup =
      cpus == 1 ? "" : fmt::format(", {:.2f} times as fast as on one", there);
  return fmt::format(
      "note: with what wake-ups and switches take, by the scheduler linux, it is {} on {}{} "
      "(--scheduler linux)\n",
      duration_text(on_machine->total_ns), count_text(cpus, "CPU"), speedup);
}

}  // namespace longpole::cli
