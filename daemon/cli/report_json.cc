#include "cli/report_tables.h"

namespace longpole::cli {
Json function_name(const Recording& recording, FunctionId function) {
  return function.known() ? Json(recording.functions[function.index()].name) : Json(nullptr);
}

Json file_path(const Recording& recording, FileId file) {
  return file.known() ? Json(recording.files[file.index()].path) : Json(nullptr);
}

Json line_number(std::uint32_t line) {
  return line == 0 ? Json(nullptr) : Json(line);
}

namespace {

Json count(const std::optional<std::uint64_t>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename Row>
Json document(const analysis::Table<Row>& table, Json rows) {
  Json out = {{"cpus", table.cpus},
              {"total_ns", number(table.total_ns)},
              {"waiting_ns", number(table.waiting_ns)}};
  if (table.machine_ns)
    out["machine_ns"] = number(*table.machine_ns);
  out["rows"] = std::move(rows);
  return out;
}

}  // namespace

Json json_of(const analysis::Table<analysis::FunctionRow>& table, const Recording& recording) {
  Json rows = Json::array();
  for (const analysis::FunctionRow& row : table.rows) {
    const Function function =
        row.function.known() ? recording.functions[row.function.index()] : Function{};
    rows.push_back({{"function", function_name(recording, row.function)},
                    {"file", file_path(recording, function.file)},
                    {"line", line_number(function.line)},
                    {"calls", count(row.calls)},
                    {"critical_calls", count(row.critical_calls)},
                    {"self_ns", number(row.self_ns)},
                    {"total_ns", number(row.total_ns)},
                    {"critical_self_ns", number(row.critical_self_ns)},
                    {"critical_total_ns", number(row.critical_total_ns)},
                    {"critical_share", fraction(row.critical_share)},
                    {"normalized_self_ns", number(row.normalized_self_ns)},
                    {"normalized_total_ns", number(row.normalized_total_ns)},
                    {"headroom", row.headroom ? fraction(*row.headroom) : Json(nullptr)},
                    {"next_leader", function_name(recording, row.next_leader)},
                    {"critical_margin_ns", number(row.margin_ns)}});
  }
  return document(table, std::move(rows));
}

Json json_of(const std::vector<analysis::Lead>& leads, const Recording& recording) {
  Json rows = Json::array();
  for (const analysis::Lead& lead : leads)
    rows.push_back({{"from", lead.from_cpus},
                    {"to", lead.to_cpus},
                    {"function", function_name(recording, lead.function)}});
  return rows;
}

Json json_of(const analysis::Table<analysis::LineRow>& table, const Recording& recording) {
  Json rows = Json::array();
  for (const analysis::LineRow& row : table.rows)
    rows.push_back({{"file", file_path(recording, row.file)},
                    {"line", line_number(row.line)},
                    {"function", function_name(recording, row.function)},
                    {"self_ns", number(row.self_ns)},
                    {"critical_ns", number(row.critical_ns)},
                    {"critical_share", fraction(row.critical_share)},
                    {"critical_margin_ns", number(row.margin_ns)},
                    {"samples", row.samples},
                    {"distinct", row.distinct}});
  return document(table, std::move(rows));
}

Json json_of(const analysis::Table<analysis::SegmentRow>& table, const Recording& recording) {
  Json rows = Json::array();
  for (const analysis::SegmentRow& row : table.rows)
    rows.push_back({{"thread", recording.threads[row.thread.index()].name},
                    {"function", function_name(recording, row.function)},
                    {"start_ns", number(row.start_ns)},
                    {"end_ns", number(row.end_ns)},
                    {"weight", fraction(row.weight)}});
  // Waits are rows of their own here.
  return {{"cpus", table.cpus}, {"total_ns", number(table.total_ns)}, {"rows", std::move(rows)}};
}

}  // namespace longpole::cli
