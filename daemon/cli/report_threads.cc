// `longpole report --by thread`.
#include <algorithm>
#include <string>
#include <utility>

#include "cli/human.h"
#include "cli/report_tables.h"
#include "cli/text_table.h"

namespace longpole::cli {

using analysis::ThreadRow;
using analysis::ThreadTable;
using Align = TextTable::Align;

namespace {

double share(const ThreadRow& row, const ThreadTable& table) {
  return table.total_ns > 0 ? row.critical_ns / table.total_ns : 0;
}

}  // namespace

Json json_of(const ThreadTable& table, const Recording& recording) {
  Json rows = Json::array();
  double waiting = 0;
  for (const ThreadRow& row : table.rows) {
    waiting += row.critical_waiting_ns;
    const Thread& thread = recording.threads[row.thread.index()];
    rows.push_back({{"thread", thread.name},
                    {"function", function_name(recording, thread.start_function)},
                    {"start_ns", row.start.count()},
                    {"end_ns", row.end.count()},
                    {"self_ns", row.running.count()},
                    {"waiting_ns", row.waiting.count()},
                    {"blocked_ns", row.blocked.count()},
                    {"critical_ns", number(row.critical_ns)},
                    {"critical_share", fraction(share(row, table))}});
  }
  return {{"cpus", table.cpus},
          {"total_ns", number(table.total_ns)},
          {"waiting_ns", number(waiting)},
          {"rows", std::move(rows)}};
}

std::string text_of(const ThreadTable& table, const Recording& recording, const TableView& view) {
  TextTable out({{"critical"},
                 {"share"},
                 {"CPU time"},
                 {"waits"},
                 {"blocked"},
                 {"thread", Align::left},
                 {"runs", Align::left}});
  const std::size_t shown =
      view.top == 0 ? table.rows.size() : std::min(view.top, table.rows.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const ThreadRow& row = table.rows[i];
    const Thread& thread = recording.threads[row.thread.index()];
    out.add({duration_text(row.critical_ns), percent_text(share(row, table)),
             duration_text(row.running), duration_text(row.waiting), duration_text(row.blocked),
             thread.name,
             thread.start_function.known() ? recording.functions[thread.start_function.index()].name
                                           : "–"});
  }
  return out.text(view.width) + rows_left(table.rows.size() - shown, "thread") +
         "\ncritical: what the thread's computing holds back the whole program by, for small "
         "changes: once\nit is faster, another path may be longer (`longpole whatif --speed "
         "thread:NAME=PERCENT` says).\nwaits: sleep and I/O. blocked: for other threads, with a "
         "CPU "
         "for each thread.\n";
}

}  // namespace longpole::cli
