// The values of options that more than one command takes. Errors name the option and the value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/study.h"
#include "trace/error.h"

namespace longpole::cli {

inline constexpr std::uint32_t most_cpus = 65536;
inline constexpr std::size_t longest_cpu_list = 4096;

// "1,2,4" and "1-8", in any mixture, in the order given. `option` as the user wrote it.
[[nodiscard]] Expected<std::vector<std::uint32_t>> parse_cpu_list(
    const std::string& text, const std::string& option = "--cpus");

// A whole number of at least `least` and at most `most`; `option` as the user wrote it.
[[nodiscard]] Expected<std::uint32_t> parse_number(const std::string& option,
                                                   const std::string& text, std::uint32_t least,
                                                   std::uint32_t most);

[[nodiscard]] Expected<analysis::Scheduler> parse_scheduler(const std::string& name);

}  // namespace longpole::cli
