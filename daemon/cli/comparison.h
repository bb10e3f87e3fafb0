// Two simulations of one recording side by side: `simulate --against`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/computer_options.h"

namespace longpole::cli {

// One of the two: what was asked for, and the CPU counts, as many as the other's.
struct Side {
  ComputerOptions options;
  std::string cpus;     // as written
  std::string written;  // the options as a user would write them; empty: none
};

// `text` is the value of --against; `cpus` what counts unless it says otherwise.
[[nodiscard]] Expected<Side> parse_against(const std::string& text, const std::string& cpus);

// The options of the command line that differ from the defaults, as they were written.
[[nodiscard]] std::string written(const ComputerOptions& options);

// Prints it. A program that stands still on either side is an error, as without --against.
[[nodiscard]] Expected<int> compare(const std::shared_ptr<const Recording>& recording,
                                    const Side& first, const Side& second, const std::string& file,
                                    bool json);

}  // namespace longpole::cli
