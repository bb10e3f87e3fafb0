// The real runs that `longpole validate` holds its predictions against.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/cpu_time_on.h"
#include "analysis/validation.h"
#include "trace/error.h"

namespace longpole::cli {

struct RealRuns {
  std::vector<std::vector<analysis::RealRun>> on_one;  // of each round, each on another CPU
  // On the first of these CPUs.
  std::vector<analysis::RealRun> in_long_slices;
  std::map<std::uint32_t, std::vector<analysis::RealRun>> in_groups;  // by number of groups
  // By number of CPUs; on one: on_average_cpu().
  std::map<std::uint32_t, std::vector<analysis::RealRun>> by_cpus;

  // Those that the others on that CPU are held against among them.
  [[nodiscard]] analysis::TurnRuns turn_runs() const;
};

// Of a run that ended with another exit status than the recorded one. `where`: as in "on 2 CPUs".
[[nodiscard]] tl::unexpected<Error> ends_differently(const std::filesystem::path& program,
                                                     const std::string& where, int status,
                                                     int recorded_status);

// In each round the program runs once on each of `counts`, which holds 1; how often and where on one CPU:
// analysis/validation.h; and there in long slices, and in as many groups as `groups` says, where it may. `machine`: its CPUs, in the order in which to use them. Shows how far it is. Errors: of
// starting the program; and it must end with `exit_status` each time. As recording::run_measured(), not to be
// called by two threads at once.
[[nodiscard]] Expected<RealRuns> run_for_real(const std::filesystem::path& program,
                                              const std::vector<std::string>& arguments,
                                              const std::vector<std::uint32_t>& machine,
                                              const std::vector<std::uint32_t>& counts,
                                              const std::vector<std::uint32_t>& groups,
                                              std::uint32_t rounds, int exit_status);

}  // namespace longpole::cli
