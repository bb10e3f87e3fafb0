#include "cli/real_runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/human.h"
#include "recording/measured_run.h"
#include "recording/stop_signals.h"

namespace longpole::cli {

namespace fs = std::filesystem;
using analysis::RealRun;

namespace {

// How many CPUs a round tries by themselves; the next round begins with the next one.
constexpr std::size_t cpus_tried_alone = 2;
// Times the longest of the others.
constexpr int patience_with_copies = 10;

}  // namespace

tl::unexpected<Error> ends_differently(const fs::path& program, const std::string& where,
                                       int status, int recorded_status) {
  return failure(fmt::format("cannot compare runs of {}", program.string()),
                 fmt::format("on {} it ended with exit status {}, and when it was recorded with {}",
                             where, status, recorded_status),
                 "take a job that comes out the same each time, and does not read what it is given "
                 "on standard input");
}

Expected<RealRuns> run_for_real(const fs::path& program, const std::vector<std::string>& arguments,
                                const std::vector<std::uint32_t>& machine,
                                const std::vector<std::uint32_t>& counts,
                                const std::optional<OtherTurns>& turns, std::uint32_t rounds,
                                int exit_status, const std::function<void(std::string)>& progress) {
  const recording::StopSignals signals;
  const auto first_cpus = [&](std::size_t count) {
    std::vector<std::uint32_t> cpus = machine;
    cpus.resize(std::min(count, cpus.size()));
    return cpus;
  };
  // What the largest number of CPUs uses.
  std::size_t used = *std::max_element(counts.begin(), counts.end());
  std::vector<std::uint32_t> copied;
  if (turns && machine.size() > 1)
    copied = turns->copies;
  for (const std::uint32_t count : copied)
    used = std::max(used, first_cpus(count).size());

  RealRuns measured;
  analysis::TurnRuns& in_turns = measured.in_turns;
  Nanoseconds longest{};
  const auto run_on = [&](const std::vector<std::uint32_t>& cpus, RealRun& result,
                          Nanoseconds slice = {}) -> Expected<void> {
    const auto run = recording::run_measured(program, arguments, cpus, slice);
    if (!run)
      return tl::unexpected(run.error());
    if (!recording::StopSignals::has_come() && run->exit_status != exit_status)
      return ends_differently(program, count_text(cpus.size(), "CPU"), run->exit_status,
                              exit_status);
    result = {run->elapsed, run->cpu_time, run->others};
    longest = std::max(longest, run->elapsed);
    return {};
  };
  const auto run_copies = [&](std::uint32_t count, RealRun& result) -> Expected<void> {
    const auto runs = recording::run_copies(program, arguments, first_cpus(count),
                                            std::max((turns->threads + count - 1) / count, 1U),
                                            patience_with_copies * longest);
    if (!runs)
      return tl::unexpected(runs.error());
    std::vector<RealRun> each;
    for (const recording::MeasuredRun& run : *runs) {
      if (run.exit_status != exit_status)
        copied.clear();
      each.push_back({run.elapsed, run.cpu_time, run.others});
    }
    result = analysis::on_average_cpu(each);
    return {};
  };

  for (std::uint32_t round = 0; round < rounds; ++round) {
    progress(fmt::format("running it as it is, round {} of {}", round + 1, rounds));
    std::vector<RealRun>& on_one =
        measured.on_one.emplace_back(std::min<std::size_t>(cpus_tried_alone, used));
    std::vector<std::function<Expected<void>()>> runs;
    for (std::size_t i = 0; i < on_one.size(); ++i)
      runs.emplace_back([&, i] { return run_on({machine[(round + i) % used]}, on_one[i]); });
    if (turns)
      runs.emplace_back([&] {
        return run_on({machine[round % used]}, in_turns.in_long_slices.emplace_back(),
                      recording::long_slice);
      });
    for (const std::uint32_t count : counts)
      if (count > 1)
        runs.emplace_back([&, count] {
          return run_on(first_cpus(count), measured.by_cpus[count].emplace_back());
        });
    for (const std::uint32_t count : copied)
      runs.emplace_back([&, count]() -> Expected<void> {
        if (copied.empty())
          return {};
        return run_copies(count, in_turns.of_copies[count].emplace_back());
      });
    // So that no number is always the first after a pause.
    if (round % 2 == 1)
      std::reverse(runs.begin(), runs.end());
    for (const auto& run : runs) {
      if (const auto done = run(); !done)
        return tl::unexpected(done.error());
      if (recording::StopSignals::has_come())
        return failure(fmt::format("cannot run {} again", program.string()), "it was stopped");
    }
    if (turns)
      in_turns.usual.push_back(on_one.front());
    measured.by_cpus[1].push_back(analysis::on_average_cpu(on_one));
  }
  if (copied.empty())
    in_turns.of_copies.clear();
  in_turns.on_average_cpu = measured.by_cpus[1];
  return measured;
}

}  // namespace longpole::cli
