#include "cli/real_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cli/human.h"
#include "recording/fewer_at_once.h"
#include "recording/measured_run.h"
#include "recording/stop_signals.h"

namespace longpole::cli {

namespace fs = std::filesystem;
using analysis::RealRun;
using recording::OwnAffinity;

namespace {

// On how many CPUs a round tries the program by itself, and from how many it starts it on several; the next round begins
// with the next one.
constexpr std::size_t cpus_begun_on = 2;
// Times the longest of the others.
constexpr int patience_with_copies = 10;

bool are_known_to(double within, const RealRuns& measured) {
  const std::vector<RealRun>& on_one = measured.by_cpus.at(1);
  const auto is_real_known = [&](const auto& runs) {
    if (runs.first == 1)
      return true;
    const analysis::Real real = analysis::real_speedup(on_one, runs.second, runs.first);
    return real.confidence && analysis::is_known_to(within, real.speedup, *real.confidence);
  };
  const auto are_copies_known = [&](const auto& copies) {
    const auto ratio = analysis::cpu_time_ratio(on_one, copies.second);
    return analysis::is_known_to(within, ratio.median, ratio.interval);
  };
  return std::ranges::all_of(measured.by_cpus, is_real_known) &&
         std::ranges::all_of(measured.in_turns.of_copies, are_copies_known);
}

}  // namespace

tl::unexpected<Error> ends_differently(const fs::path& program, const std::string& where,
                                       int status, int recorded_status) {
  return failure(fmt::format("cannot compare runs of {}", program.string()),
                 fmt::format("on {} it ended with exit status {}, and when it was recorded with {}",
                             where, status, recorded_status),
                 "take a job that comes out the same each time, and does not read what it is given "
                 "on standard input");
}

namespace {

// None: the program left the CPUs that it was given, as it may where its own affinity is granted.
Expected<std::optional<RealRuns>> run_rounds(
    const fs::path& program, const std::vector<std::string>& arguments,
    const std::vector<std::uint32_t>& machine, const std::vector<std::uint32_t>& counts,
    const std::optional<std::vector<std::uint32_t>>& in_turns_as_on, const Rounds& rounds,
    int exit_status, const std::function<void(std::string)>& begin_round, OwnAffinity affinity) {
  struct Run {
    std::vector<std::uint32_t> cpus;  // started from the first of them
    RealRun* result = nullptr;
    Nanoseconds slice{};
    std::uint32_t copies_as_on = 0;  // so many CPUs, on each of the CPUs; 0: one program on all
  };
  const recording::StopSignals signals;
  const auto first_cpus = [&](std::size_t count) {
    std::vector<std::uint32_t> cpus = machine;
    cpus.resize(std::min(count, cpus.size()));
    return cpus;
  };
  std::vector<std::uint32_t> copied;
  std::string why_no_copies;
  if (in_turns_as_on && !in_turns_as_on->empty()) {
    if (machine.size() == 1)
      why_no_copies = "copies of it would need others";
    else if (!recording::may_hold_threads())
      why_no_copies =
          "this system does not let a program stop threads of its children (ptrace), as it must "
          "for copies; kernel.yama.ptrace_scope at 2 or 3, or a container, may forbid that";
    else
      copied = *in_turns_as_on;
  }
  // What the largest number of CPUs uses.
  std::size_t used = *std::ranges::max_element(counts);
  for (const std::uint32_t count : copied)
    used = std::max(used, first_cpus(count).size());

  RealRuns measured;
  analysis::TurnRuns& in_turns = measured.in_turns;
  Nanoseconds longest{};
  bool has_left_its_cpus = false;
  const auto make = [&](const Run& run) -> Expected<std::vector<recording::MeasuredRun>> {
    if (run.copies_as_on != 0)
      return recording::run_copies(program, arguments, run.cpus, run.copies_as_on,
                                   patience_with_copies * longest, affinity);
    const bool has_all = run.cpus.size() == machine.size();
    const auto one = recording::run_measured(program, arguments, run.cpus, run.slice,
                                             has_all ? OwnAffinity::granted : affinity);
    if (!one)
      return tl::unexpected(one.error());
    has_left_its_cpus |= !has_all && recording::left_its_cpus(*one, run.cpus.size());
    longest = std::max(longest, one->elapsed);
    return std::vector{*one};
  };
  for (std::uint32_t round = 0; round < rounds.most; ++round) {
    if (round >= rounds.fewest && are_known_to(rounds.within, measured))
      break;
    begin_round(fmt::format("running it as it is, round {} of {}{}", round + 1,
                            rounds.most > rounds.fewest ? "up to " : "", rounds.most));
    std::vector<RealRun>& on_one =
        measured.on_one.emplace_back(std::min<std::size_t>(cpus_begun_on, used));
    std::vector<Run> runs;
    for (std::size_t i = 0; i < on_one.size(); ++i)
      runs.push_back({{machine[(round + i) % used]}, &on_one[i]});
    if (in_turns_as_on)
      runs.push_back(
          {runs.front().cpus, &in_turns.in_long_slices.emplace_back(), recording::long_slice});
    std::map<std::uint32_t, std::vector<RealRun>> on_several;
    for (const std::uint32_t count : counts) {
      if (count == 1)
        continue;
      std::vector<RealRun>& of_count = on_several[count];
      of_count.resize(cpus_begun_on);
      for (std::size_t i = 0; i < of_count.size(); ++i) {
        std::vector<std::uint32_t> cpus = first_cpus(count);
        std::ranges::rotate(cpus, cpus.begin() + static_cast<std::ptrdiff_t>((round + i) % count));
        runs.push_back({std::move(cpus), &of_count[i]});
      }
    }
    for (const std::uint32_t count : copied)
      runs.push_back({first_cpus(count), &in_turns.of_copies[count].emplace_back(), {}, count});
    // So that no number is always the first after a pause.
    if (round % 2 == 1)
      std::ranges::reverse(runs);
    for (const Run& run : runs) {
      if (run.copies_as_on != 0 && copied.empty())
        continue;
      const auto ended = make(run);
      if (!ended)
        return tl::unexpected(ended.error());
      if (recording::StopSignals::has_come())
        return failure(fmt::format("cannot run {} again", program.string()), "it was stopped");
      if (has_left_its_cpus && affinity == OwnAffinity::granted)
        return std::nullopt;
      std::vector<RealRun> each;
      for (const recording::MeasuredRun& one : *ended) {
        if (one.exit_status != exit_status && run.copies_as_on == 0)
          return ends_differently(program, count_text(run.cpus.size(), "CPU"), one.exit_status,
                                  exit_status);
        if (one.exit_status != exit_status) {
          copied.clear();
          why_no_copies =
              "beside copies of itself, which write to the same files, it ended otherwise, or had "
              "to be killed; let it write to standard output, if it can";
        }
        each.push_back(analysis::without_stolen_time(
            {one.elapsed, one.cpu_time, one.others, one.stolen, one.read_from_disk}));
      }
      *run.result = analysis::on_average_cpu(each);
    }
    if (in_turns_as_on)
      in_turns.usual.push_back(on_one.front());
    measured.by_cpus[1].push_back(analysis::on_average_cpu(on_one));
    for (const auto& [count, of_count] : on_several)
      measured.by_cpus[count].push_back(analysis::on_average_cpu(of_count));
    if (copied.empty())
      in_turns.of_copies.clear();
  }
  if (!why_no_copies.empty())
    measured.no_copies = {
        "no-copies",
        fmt::format("What CPU time it takes on several CPUs is guessed from runs on one: {}.",
                    why_no_copies),
        0};
  return measured;
}

}  // namespace

Expected<RealRuns> run_for_real(const fs::path& program, const std::vector<std::string>& arguments,
                                const std::vector<std::uint32_t>& machine,
                                const std::vector<std::uint32_t>& counts,
                                const std::optional<std::vector<std::uint32_t>>& in_turns_as_on,
                                const Rounds& rounds, int exit_status,
                                const std::function<void(std::string)>& begin_round) {
  const auto run = [&](OwnAffinity affinity) {
    return run_rounds(program, arguments, machine, counts, in_turns_as_on, rounds, exit_status,
                      begin_round, affinity);
  };
  auto measured = run(OwnAffinity::granted);
  const bool keep_on_cpus = measured && !*measured;
  if (keep_on_cpus)
    measured = run(OwnAffinity::ignored);
  if (!measured)
    return tl::unexpected(measured.error());
  (*measured)->kept_on_cpus = keep_on_cpus;
  return **std::move(measured);
}

}  // namespace longpole::cli
