#include "cli/real_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/human.h"
#include "recording/measured_run.h"
#include "recording/stop_signals.h"

namespace longpole::cli {

namespace fs = std::filesystem;
using analysis::RealRun;

namespace {

// How many CPUs a round tries by themselves; the next round begins with the next one.
constexpr std::size_t cpus_tried_alone = 2;

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
                                const std::vector<std::uint32_t>& counts, std::uint32_t rounds,
                                int exit_status, const std::function<void(std::string)>& progress) {
  struct Run {
    std::vector<std::uint32_t> cpus;
    RealRun* result = nullptr;
    Nanoseconds slice{};
  };
  const recording::StopSignals signals;
  // What the largest number of CPUs uses.
  const std::uint32_t used = *std::max_element(counts.begin(), counts.end());
  RealRuns measured;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    progress(fmt::format("running it as it is, round {} of {}", round + 1, rounds));
    std::vector<RealRun>& on_one =
        measured.on_one.emplace_back(std::min<std::size_t>(cpus_tried_alone, used));
    std::vector<Run> runs;
    for (std::size_t i = 0; i < on_one.size(); ++i)
      runs.push_back({{machine[(round + i) % used]}, &on_one[i]});
    const std::vector<std::uint32_t> first = runs.front().cpus;
    analysis::TurnRuns& in_turns = measured.in_turns;
    runs.push_back({first, &in_turns.in_long_slices.emplace_back(), recording::long_slice});
    for (const std::uint32_t count : counts)
      if (count > 1)
        runs.push_back(
            {{machine.begin(), machine.begin() + count}, &measured.by_cpus[count].emplace_back()});
    // So that no number is always the first after a pause.
    if (round % 2 == 1)
      std::reverse(runs.begin(), runs.end());
    for (const auto& [cpus, result, slice] : runs) {
      const auto run = recording::run_measured(program, arguments, cpus, slice);
      if (!run)
        return tl::unexpected(run.error());
      if (recording::StopSignals::has_come())
        return failure(fmt::format("cannot run {} again", program.string()), "it was stopped");
      if (run->exit_status != exit_status)
        return ends_differently(program, count_text(cpus.size(), "CPU"), run->exit_status,
                                exit_status);
      *result = {run->elapsed, run->cpu_time, run->others};
    }
    in_turns.usual.push_back(on_one.front());
    measured.by_cpus[1].push_back(analysis::on_average_cpu(on_one));
  }
  return measured;
}

}  // namespace longpole::cli
