// The tables of `longpole report`, as text for people and as JSON for scripts.
#pragma once

#include <string>
#include <vector>

#include "analysis/call_paths.h"
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

[[nodiscard]] Json json_of(const analysis::Table<analysis::PathRow>& table,
                           const Recording& recording);
[[nodiscard]] Json json_of(const analysis::CallPathTable& table, const Recording& recording);
[[nodiscard]] Json json_of(const analysis::MachinePath& path, const Recording& recording);
[[nodiscard]] Json json_of(const std::vector<analysis::Lead>& leads, const Recording& recording);
[[nodiscard]] Json json_of(const analysis::ObjectTable& table, const Recording& recording);
[[nodiscard]] Json json_of(const analysis::ThreadTable& table, const Recording& recording);

[[nodiscard]] std::string text_of(const analysis::Table<analysis::FunctionRow>& table,
                                  const Recording& recording, const TableView& view);
[[nodiscard]] std::string text_of(const analysis::Table<analysis::LineRow>& table,
                                  const Recording& recording, const TableView& view);
[[nodiscard]] std::string text_of(const analysis::Table<analysis::SegmentRow>& table,
                                  const Recording& recording, const TableView& view);
[[nodiscard]] std::string text_of(const analysis::Table<analysis::PathRow>& table,
                                  const Recording& recording, const TableView& view);
[[nodiscard]] std::string text_of(const analysis::CallPathTable& table, const Recording& recording,
                                  const TableView& view);
[[nodiscard]] std::string text_of(const analysis::MachinePath& path, const Recording& recording,
                                  const TableView& view);
[[nodiscard]] std::string text_of(const analysis::ObjectTable& table, const Recording& recording,
                                  const TableView& view);
[[nodiscard]] std::string text_of(const analysis::ThreadTable& table, const Recording& recording,
                                  const TableView& view);

// Names and numbers as JSON, null where they are not known.
[[nodiscard]] Json function_name(const Recording& recording, FunctionId function);
[[nodiscard]] Json file_path(const Recording& recording, FileId file);
[[nodiscard]] Json line_number(std::uint32_t line);
// "and 3 more locks; --top 0 shows all", or nothing.
[[nodiscard]] std::string rows_left(std::size_t left, const char* thing);

}  // namespace longpole::cli
