// `longpole report --by call-path`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cli/file_names.h"
#include "cli/human.h"
#include "cli/report_tables.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

using analysis::CallPathRow;
using analysis::CallPathTable;
using Align = TextTable::Align;

double share_of(double critical, const CallPathTable& table) {
  return table.total_ns > 0 ? critical / table.total_ns : 0;
}

// The heaviest rows, and their callers.
std::vector<bool> shown_rows(const CallPathTable& table, std::size_t most) {
  std::vector<bool> shown(table.rows.size(), most == 0);
  if (most == 0)
    return shown;
  std::vector<std::size_t> heaviest(table.rows.size());
  std::iota(heaviest.begin(), heaviest.end(), 0);
  std::stable_sort(heaviest.begin(), heaviest.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(table.rows[a].critical_total_ns) > std::abs(table.rows[b].critical_total_ns);
  });
  std::size_t count = 0;
  for (std::size_t row : heaviest) {
    if (count >= most)
      break;
    for (; !shown[row]; row = table.rows[row].parent) {
      shown[row] = true;
      ++count;
    }
  }
  return shown;
}

}  // namespace

Json json_of(const CallPathTable& table, const Recording& recording) {
  Json rows = Json::array();
  for (const CallPathRow& row : table.rows) {
    std::vector<Json> path;
    for (const CallPathRow* at = &row;; at = &table.rows[at->parent]) {
      path.push_back(function_name(recording, at->function));
      if (at->depth == 0)
        break;
    }
    std::reverse(path.begin(), path.end());
    rows.push_back({{"path", std::move(path)},
                    {"self_ns", number(row.self_ns)},
                    {"total_ns", number(row.total_ns)},
                    {"critical_self_ns", number(row.critical_self_ns)},
                    {"critical_total_ns", number(row.critical_total_ns)},
                    {"critical_share", fraction(share_of(row.critical_total_ns, table))}});
  }
  return {{"cpus", table.cpus},
          {"total_ns", number(table.total_ns)},
          {"waiting_ns", number(table.waiting_ns)},
          {"rows", std::move(rows)}};
}

std::string text_of(const CallPathTable& table, const Recording& recording, const TableView& view) {
  TextTable out({{"critical"}, {"share"}, {"itself"}, {"CPU time"}, {"call path", Align::left}});
  const std::vector<bool> shown = shown_rows(table, view.top);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CallPathRow& row = table.rows[i];
    if (!shown[i])
      continue;
    out.add({duration_text(row.critical_total_ns),
             percent_text(share_of(row.critical_total_ns, table)),
             duration_text(row.critical_self_ns), duration_text(row.total_ns),
             std::string(std::size_t{2} * row.depth, ' ') +
                 (row.function.known() ? recording.functions[row.function.index()].name
                                       : std::string("(not known)"))});
  }
  const auto left = static_cast<std::size_t>(std::count(shown.begin(), shown.end(), false));
  return out.text(view.width) + rows_left(left, "call path") +
         "\ncritical: what the function holds back the whole program by when it is called this "
         "way, "
         "with\nall that it calls; itself: without that.\n";
}

}  // namespace longpole::cli
