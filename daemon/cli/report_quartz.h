// `longpole report --by quartz`, as text for people and as JSON for scripts.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/quartz.h"
#include "cli/json_document.h"
#include "cli/report_tables.h"
#include "trace/error.h"

namespace longpole::cli {

// The report, and the row to look at closely: that of the program, or of what the user named.
struct QuartzView {
  analysis::QuartzReport report;
  std::size_t row = 0;
};

// `name` is that of a function, lock or thread ("merge", "M", "mutex M", "thread T1"), of several the
// heaviest, or what analysis::find_part() takes for one; empty: the program. The error names the heaviest
// there are.
[[nodiscard]] Expected<QuartzView> look_at(const analysis::Study& study, std::uint32_t cpus,
                                           analysis::Scheduler scheduler, const std::string& name);

[[nodiscard]] Json json_of(const QuartzView& view, const Recording& recording);

// One row closely, as in the paper's Figure 1; of the program also the ranking and the walk from the
// top down.
[[nodiscard]] std::string text_of(const QuartzView& quartz, const Recording& recording,
                                  const TableView& view);

}  // namespace longpole::cli
