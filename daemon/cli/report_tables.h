// The tables of `longpole report`, as text for people and as JSON for scripts.
#pragma once

#include <string>

#include "analysis/study.h"
#include "cli/json_document.h"

namespace longpole::cli {

struct TableView {
  std::size_t top = 0;    // rows shown; 0: all
  std::size_t width = 0;  // columns of the terminal; 0: as wide as it takes
};

[[nodiscard]] Json json_of(const analysis::Table<analysis::FunctionRow>& table,
                           const Recording& recording);
[[nodiscard]] Json json_of(const analysis::Table<analysis::LineRow>& table,
                           const Recording& recording);
[[nodiscard]] Json json_of(const analysis::Table<analysis::SegmentRow>& table,
                           const Recording& recording);

[[nodiscard]] std::string text_of(const analysis::Table<analysis::FunctionRow>& table,
                                  const Recording& recording, const TableView& view);
[[nodiscard]] std::string text_of(const analysis::Table<analysis::LineRow>& table,
                                  const Recording& recording, const TableView& view);
[[nodiscard]] std::string text_of(const analysis::Table<analysis::SegmentRow>& table,
                                  const Recording& recording, const TableView& view);

}  // namespace longpole::cli
