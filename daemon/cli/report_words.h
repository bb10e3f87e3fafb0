// What `longpole report` begins with: at most five sentences that a person can act on, each with its
// number and its line.
#pragma once

#include <string>

#include "analysis/study.h"

namespace longpole::cli {

inline constexpr std::size_t most_sentences = 5;
// The lead is followed up to here, or to the CPU count that was asked for where that is more.
inline constexpr std::uint32_t leads_up_to_cpus = 64;

// `functions` is the study's own table at that scheduler, with headroom. A line a sentence. Empty
// where there is nothing to say.
[[nodiscard]] std::string words_of(const analysis::Study& study,
                                   const analysis::Table<analysis::FunctionRow>& functions,
                                   analysis::Scheduler scheduler);

}  // namespace longpole::cli
