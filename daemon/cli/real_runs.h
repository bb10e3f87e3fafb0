// Real runs, in rounds: those that `longpole validate` holds its predictions against, and those in other turns that say how
// much CPU time a program takes on several CPUs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cpu_time_on.h"
#include "analysis/validation.h"
#include "trace/error.h"

namespace longpole::cli {

inline constexpr std::uint32_t most_rounds = 10'000;

// As many as the fewest, and up to the most until the medians that are compared are known to that, as a fraction
// (analysis::is_known_to): the real speed-ups, and the CPU times of copies.
struct Rounds {
  std::uint32_t fewest = 1;
  std::uint32_t most = 1;
  double within = 0;
};

struct RealRuns {
  std::vector<std::vector<analysis::RealRun>> on_one;  // of each round, each on another CPU
  analysis::TurnRuns in_turns;                         // those on one CPU on the first of these
  std::optional<Notice> no_copies;  // that there were none, where they were wanted, and why
  // The program left the CPUs that it was given, and was kept there (recording::OwnAffinity).
  bool kept_on_cpus = false;
  // By number of CPUs: on_average_cpu() of each round's.
  std::map<std::uint32_t, std::vector<analysis::RealRun>> by_cpus;
};

// Of a run that ended with another exit status than the recorded one. `where`: as in "on 2 CPUs".
[[nodiscard]] tl::unexpected<Error> ends_differently(const std::filesystem::path& program,
                                                     const std::string& where, int status,
                                                     int recorded_status);

// In each of the rounds the program runs on each of `counts`, which holds 1: analysis/validation.h says how often. With
// `in_turns_as_on`, cpu_counts_to_try(), it runs there in long slices, too, and copies of it run, to know of its CPU time on
// so many CPUs (analysis/cpu_time_on.h): not for programs whose threads spin, which use up what time they wait. Where the
// machine has fewer CPUs, a copy on each of these stands for more, and where it has one, there are none; nor where one ends
// with another status than the program alone, be it that it took ten times as long, or its threads may not be held. A program
// that leaves the CPUs that it is given begins anew, and is kept on them. `machine`:
// its CPUs, in the order in which to use them. `begin_round` hears before each what is going on. Errors: of starting the
// program; that a signal has asked to stop (recording/stop_signals.h); and it must end with `exit_status` each time. As
// recording::run_measured(), not to be called by two threads at once.
[[nodiscard]] Expected<RealRuns> run_for_real(
    const std::filesystem::path& program, const std::vector<std::string>& arguments,
    const std::vector<std::uint32_t>& machine, const std::vector<std::uint32_t>& counts,
    const std::optional<std::vector<std::uint32_t>>& in_turns_as_on, const Rounds& rounds,
    int exit_status, const std::function<void(std::string)>& begin_round);

}  // namespace longpole::cli
