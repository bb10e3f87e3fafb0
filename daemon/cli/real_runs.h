// Real runs, in rounds: those that `longpole validate` holds its predictions against, and those in other turns that say how
// much CPU time a program takes on several CPUs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/cpu_time_on.h"
#include "analysis/validation.h"
#include "trace/error.h"

namespace longpole::cli {

inline constexpr std::uint32_t most_rounds = 10'000;

struct RealRuns {
  std::vector<std::vector<analysis::RealRun>> on_one;  // of each round, each on another CPU
  analysis::TurnRuns in_turns;                         // those on one CPU on the first of these
  // By number of CPUs; on one: on_average_cpu().
  std::map<std::uint32_t, std::vector<analysis::RealRun>> by_cpus;
};

// Of a run that ended with another exit status than the recorded one. `where`: as in "on 2 CPUs".
[[nodiscard]] tl::unexpected<Error> ends_differently(const std::filesystem::path& program,
                                                     const std::string& where, int status,
                                                     int recorded_status);

// What to run beside the program as it is, to know of its CPU time on several CPUs (analysis/cpu_time_on.h).
struct Copies {
  std::vector<std::uint32_t> cpus;  // numbers of them: copies_to_try()
  std::uint32_t threads = 1;        // that compute at once
};

// In each round the program runs once on each of `counts`, which holds 1; how often and where on one CPU:
// analysis/validation.h; there in long slices; and copies of it. Where the machine has fewer CPUs, a copy on each of these stands
// for more, and where it has one, there are none; nor where one ends with another status than the program alone, be it that it
// took ten times as long. `machine`: its CPUs, in the order in which to use them. `progress` hears before each round what is
// going on. Errors: of starting the program; that a signal has asked to stop (recording/stop_signals.h); and it must
// end with `exit_status` each time. As recording::run_measured(), not to be called by two threads at once.
[[nodiscard]] Expected<RealRuns> run_for_real(const std::filesystem::path& program,
                                              const std::vector<std::string>& arguments,
                                              const std::vector<std::uint32_t>& machine,
                                              const std::vector<std::uint32_t>& counts,
                                              const Copies& copies, std::uint32_t rounds,
                                              int exit_status,
                                              const std::function<void(std::string)>& progress);

}  // namespace longpole::cli
