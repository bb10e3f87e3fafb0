// `longpole report --by concurrency`, as text for people and as JSON for scripts.
#pragma once

#include <string>

#include "analysis/concurrency_classes.h"
#include "cli/json_document.h"
#include "cli/report_tables.h"

namespace longpole::cli {

[[nodiscard]] Json json_of(const analysis::ConcurrencyReport& report, const Recording& recording);
[[nodiscard]] std::string text_of(const analysis::ConcurrencyReport& report,
                                  const Recording& recording, const TableView& view);

}  // namespace longpole::cli
