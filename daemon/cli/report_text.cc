#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "cli/file_names.h"
#include "cli/human.h"
#include "cli/report_tables.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

using Align = TextTable::Align;

constexpr const char* unknown = "(function unknown)";
constexpr const char* of_machine_note =
    "\ncritical: what of the path through this run is spent there; the path waits for CPUs too, "
    "and "
    "goes\nthrough whoever had them (--by path).\n";
constexpr const char* of_machine = "(the machine: wake-ups, signals)";

const char* waiting_text(const Recording& recording) {
  for (const Thread& thread : recording.threads)
    if (std::any_of(thread.events.begin(), thread.events.end(), analysis::is_unexplained_wait))
      return "(waiting: sleep, I/O, unknown)";
  return "(waiting: sleep, I/O)";
}

std::string calls_text(const std::optional<std::uint64_t>& calls) {
  return calls ? count_text(*calls) : nothing;
}

// Only a function that leads has a lead to lose.
std::string headroom_text(const std::optional<double>& headroom) {
  if (!headroom)
    return "all";
  return *headroom > 0 ? percent_text(*headroom) : nothing;
}

constexpr const char* of_margins =
    "±: with so many samples, the share is within this of the true one 19 times in 20.\n";

template <typename Row>
bool is_sampled(const analysis::Table<Row>& table) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [](const Row& row) { return row.margin_ns > 0; });
}

template <typename Row>
double share(double part, const analysis::Table<Row>& table) {
  return table.total_ns > 0 ? part / table.total_ns : 0;
}

// The rows to show: the first, without those in which nothing would be told from zero.
template <typename Row, typename Matters>
std::vector<const Row*> rows_shown(const analysis::Table<Row>& table, const TableView& view,
                                   const Matters& matters) {
  constexpr double least_share = 0.0005;  // 0.1% when rounded
  std::vector<const Row*> out;
  for (const Row& row : table.rows)
    if (view.top == 0 || (out.size() < view.top && matters(row, least_share * table.total_ns)))
      out.push_back(&row);
  return out;
}

}  // namespace

std::string rows_left(std::size_t left, const char* thing) {
  return left == 0 ? std::string()
                   : fmt::format("and {}; --top 0 shows all\n",
                                 count_text(left, fmt::format("more {}", thing)));
}

std::string text_of(const analysis::Table<analysis::FunctionRow>& table, const Recording& recording,
                    const TableView& view) {
  const bool calls = std::any_of(table.rows.begin(), table.rows.end(),
                                 [](const auto& row) { return row.calls.has_value(); });
  const bool sampled = is_sampled(table);
  std::vector<TextTable::Column> columns = {{"critical"}, {"share"}};
  if (sampled)
    columns.push_back({"±"});
  columns.insert(columns.end(), {{"with callees"}, {"share"}, {"CPU time"}});
  if (calls)
    columns.insert(columns.end(), {{"calls"}, {"critical calls"}});
  const bool on_machine = table.machine_ns.has_value();
  if (!on_machine)
    columns.push_back({"headroom"});
  columns.insert(columns.end(), {{"defined at", Align::left}, {"function", Align::left}});
  TextTable out(std::move(columns));

  const auto add = [&](double critical, const std::string& margin, double with_callees,
                       const std::string& cpu, const std::string& all_calls,
                       const std::string& critical_calls, const std::string& headroom,
                       const std::string& place, const std::string& name) {
    std::vector<std::string> cells = {duration_text(critical),
                                      percent_text(share(critical, table))};
    if (sampled)
      cells.push_back(margin);
    cells.insert(cells.end(),
                 {duration_text(with_callees), percent_text(share(with_callees, table)), cpu});
    if (calls)
      cells.insert(cells.end(), {all_calls, critical_calls});
    if (!on_machine)
      cells.push_back(headroom);
    cells.insert(cells.end(), {place, name});
    out.add(std::move(cells));
  };
  const FileNames files(recording);
  const auto shown = rows_shown(table, view, [](const analysis::FunctionRow& row, double least) {
    return std::abs(row.critical_self_ns) >= least || std::abs(row.critical_total_ns) >= least ||
           row.self_ns >= least;
  });
  for (const analysis::FunctionRow* row : shown) {
    const Function function = row->function.known() ? recording.functions[row->function.index()]
                                                    : Function{.name = unknown};
    add(row->critical_self_ns, percent_text(share(row->margin_ns, table)), row->critical_total_ns,
        duration_text(row->self_ns), calls_text(row->calls), calls_text(row->critical_calls),
        headroom_text(row->headroom), files.place(function.file, function.line), function.name);
  }
  if (table.waiting_ns != 0)
    add(table.waiting_ns, nothing, table.waiting_ns, nothing, nothing, nothing, nothing, nothing,
        waiting_text(recording));
  const double machine = table.machine_ns.value_or(0);
  if (machine != 0)
    add(machine, nothing, machine, nothing, nothing, nothing, nothing, nothing, of_machine);
  return out.text(view.width) + rows_left(table.rows.size() - shown.size(), "function") +
         (on_machine
              ? of_machine_note
              : "\ncritical: what the function holds back the whole program by. headroom: how "
                "much shorter\nit can get before another function is worth more.\n") +
         (sampled ? of_margins : "");
}

std::string text_of(const analysis::Table<analysis::LineRow>& table, const Recording& recording,
                    const TableView& view) {
  const bool sampled = is_sampled(table);
  std::vector<TextTable::Column> columns = {{"critical"}, {"share"}};
  if (sampled)
    columns.push_back({"±"});
  columns.insert(columns.end(), {{"CPU time"}, {"line", Align::left}, {"function", Align::left}});
  TextTable out(std::move(columns));
  const FileNames files(recording);
  const auto shown = rows_shown(table, view, [](const analysis::LineRow& row, double least) {
    return std::abs(row.critical_ns) >= least || row.self_ns >= least;
  });
  bool thin = false;
  const auto add = [&](std::vector<std::string> cells, const std::string& margin) {
    if (sampled)
      cells.insert(cells.begin() + 2, margin);
    out.add(std::move(cells));
  };
  for (const analysis::LineRow* row : shown) {
    // Of lines that weigh next to nothing nobody asks which comes first.
    const bool mark = !row->distinct && row->critical_share >= 0.005;
    thin = thin || mark;
    add({duration_text(row->critical_ns), percent_text(row->critical_share),
         duration_text(row->self_ns), files.place(row->file, row->line),
         row->function.known() ? recording.functions[row->function.index()].name : nothing},
        (mark ? "≈ " : "") + percent_text(share(row->margin_ns, table)));
  }
  if (table.waiting_ns != 0)
    add({duration_text(table.waiting_ns), percent_text(share(table.waiting_ns, table)), nothing,
         nothing, waiting_text(recording)},
        nothing);
  const double machine = table.machine_ns.value_or(0);
  if (machine != 0)
    add({duration_text(machine), percent_text(share(machine, table)), nothing, nothing, of_machine},
        nothing);
  std::string text =
      out.text(view.width) + rows_left(table.rows.size() - shown.size(), "line") +
      (table.machine_ns ? of_machine_note
                        : "\ncritical: what the line holds back the whole program by.\n");
  if (sampled)
    text += of_margins;
  if (thin)
    text +=
        "≈: too few samples to tell it from the line below; record longer, or with a higher "
        "--rate.\n";
  return text;
}

std::string text_of(const analysis::Table<analysis::SegmentRow>& table, const Recording& recording,
                    const TableView& view) {
  TextTable out({{"thread", Align::left},
                 {"start"},
                 {"end"},
                 {"length"},
                 {"weight"},
                 {"function", Align::left}});
  const auto shown =
      rows_shown(table, view, [](const analysis::SegmentRow&, double) { return true; });
  const std::string waiting = waiting_text(recording);
  for (const analysis::SegmentRow* row : shown) {
    const std::string function =
        row->function.known() ? recording.functions[row->function.index()].name : nothing;
    out.add({recording.threads[row->thread.index()].name, duration_text(row->start_ns),
             duration_text(row->end_ns), duration_text(row->end_ns - row->start_ns),
             fmt::format("{:.3g}", row->weight), row->running ? function : waiting});
  }
  return out.text(view.width) + rows_left(table.rows.size() - shown.size(), "segment") +
         "\nweight: by how much the whole program gets shorter per unit that the segment does.\n";
}

}  // namespace longpole::cli
