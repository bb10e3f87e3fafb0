// The options that say on which computer a recording is simulated, and by which model: of `simulate`
// and of whatever else simulates. Errors name the option and the value.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/forecast.h"
#include "trace/error.h"

namespace longpole::cli {

// As they were written; empty: not given.
struct ComputerOptions {
  std::string scheduler;
  std::vector<std::string> models;
  std::string bind;
  std::string priority;
  std::string nice;
  std::string latency;
  std::string nodes;
  std::string node_latency;
  std::string speeds;
  std::string switch_cost;
  std::string migration_cost;
  std::string wake_up;
  std::string interrupt;
  std::string costs;
  std::string devices;
  std::string lwps;
};

// The scheduler where none is named: what runs the program today. `report` and `whatif` have that of
// the weights instead, `shared`.
inline constexpr const char* default_scheduler = "linux";

// `options` must live until the command line has been parsed.
void add_computer_options(CLI::App& command, ComputerOptions& options);

// Those of them that say what the machine is like, and nothing of its threads.
void add_machine_options(CLI::App& command, ComputerOptions& options);

// visit(name, value) for each option that was given, as it was written.
void for_each_option(const ComputerOptions& options,
                     const std::function<void(const char*, const std::string&)>& visit);

// That there is none of this name, and which there are.
[[nodiscard]] tl::unexpected<Error> unknown_scheduler(const std::string& name);

// What can be said before the recording has been read: of the scheduler and the models.
[[nodiscard]] Expected<void> check_names(const ComputerOptions& options);

// The computers with so many CPUs, in order. `usual`: what costs are there unless the options say others; none: the
// recording's.
[[nodiscard]] Expected<std::vector<analysis::Computer>> read_computers(
    const ComputerOptions& options, const Recording& recording,
    const std::vector<std::uint32_t>& cpus, const std::optional<HostCosts>& usual = std::nullopt);

[[nodiscard]] Expected<analysis::ModelChoice> read_models(const ComputerOptions& options,
                                                          const Recording& recording);

// "10us", "1.5 ms"; a bare number is milliseconds.
[[nodiscard]] Expected<Nanoseconds> parse_duration(const std::string& option,
                                                   const std::string& text);

}  // namespace longpole::cli
