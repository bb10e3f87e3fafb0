// `longpole report --by object`.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cli/file_names.h"
#include "cli/human.h"
#include "cli/report_tables.h"
#include "cli/text_table.h"
#include "trace/event_forms.h"

namespace longpole::cli {
namespace {

using analysis::Collision;
using analysis::ObjectLine;
using analysis::ObjectRow;
using analysis::ObjectTable;
using Align = TextTable::Align;

constexpr std::size_t most_collisions_shown = 3;

double per_access(Nanoseconds sum, const ObjectRow& row) {
  return static_cast<double>(sum.count()) / static_cast<double>(row.acquisitions);
}

// How many wait at a time, on average over the whole run.
double queue_mean(const ObjectRow& row) {
  double sum = 0;
  double all = 0;
  for (std::size_t length = 0; length < row.queue.size(); ++length) {
    const auto time = static_cast<double>(row.queue[length].count());
    sum += static_cast<double>(length) * time;
    all += time;
  }
  return all > 0 ? sum / all : 0;
}

Json time_or_null(const std::optional<double>& time) {
  return time ? number(*time) : Json(nullptr);
}

double gain(const ObjectRow& row, const ObjectTable& table) {
  return row.freed_ns && table.total_ns > 0 ? (table.total_ns - *row.freed_ns) / table.total_ns : 0;
}

Json lines_of(const ObjectRow& row, const Recording& recording) {
  Json lines = Json::array();
  for (const ObjectLine& line : row.lines)
    lines.push_back({{"file", file_path(recording, line.file)},
                     {"line", line_number(line.line)},
                     {"function", function_name(recording, line.function)},
                     {"acquisitions", line.acquisitions},
                     {"wait_ns", line.wait.count()}});
  return lines;
}

Json collisions_of(const ObjectRow& row, const Recording& recording) {
  Json collisions = Json::array();
  for (const Collision& collision : row.collisions)
    collisions.push_back({{"waker", recording.threads[collision.waker.index()].name},
                          {"waiter", recording.threads[collision.waiter.index()].name},
                          {"times", collision.times},
                          {"wait_ns", collision.wait.count()}});
  return collisions;
}

}  // namespace

Json json_of(const ObjectTable& table, const Recording& recording) {
  Json rows = Json::array();
  for (const ObjectRow& row : table.rows) {
    const Object& object = recording.objects[row.object.index()];
    Json queue = Json::array();
    for (const Nanoseconds time : row.queue)
      queue.push_back(time.count());
    const bool held = row.hold.has_value();
    rows.push_back({{"object", object.name},
                    {"kind", object_kind_word(object.kind)},
                    {"acquisitions", row.acquisitions},
                    {"contended", row.contended},
                    {"wait_ns", row.wait.count()},
                    {"wait_mean_ns", number(per_access(row.wait, row))},
                    {"wait_worst_ns", row.longest_wait.count()},
                    {"hold_ns", held ? Json(row.hold->count()) : Json(nullptr)},
                    {"hold_mean_ns", held ? number(per_access(*row.hold, row)) : Json(nullptr)},
                    {"hold_worst_ns", held ? Json(row.longest_hold.count()) : Json(nullptr)},
                    {"queue_mean", fraction(queue_mean(row))},
                    {"queue_ns", std::move(queue)},
                    {"critical_ns", time_or_null(row.critical_ns)},
                    {"critical_share", row.critical_ns && table.total_ns > 0
                                           ? fraction(*row.critical_ns / table.total_ns)
                                           : Json(nullptr)},
                    {"freed_total_ns", time_or_null(row.freed_ns)},
                    {"gain", row.freed_ns ? fraction(gain(row, table)) : Json(nullptr)},
                    {"lines", lines_of(row, recording)},
                    {"collisions", collisions_of(row, recording)}});
  }
  return {{"cpus", table.cpus}, {"total_ns", number(table.total_ns)}, {"rows", std::move(rows)}};
}

std::string text_of(const ObjectTable& table, const Recording& recording, const TableView& view) {
  if (table.rows.empty())
    return "No thread took a lock, or waited for anything that has a name.\n";
  TextTable out({{"gain"},
                 {"taken"},
                 {"waited"},
                 {"wait"},
                 {"mean"},
                 {"worst"},
                 {"queue"},
                 {"held"},
                 {"worst"},
                 {"critical"},
                 {"most waiting at", Align::left},
                 {"object", Align::left}});
  const FileNames files(recording);
  const std::size_t shown =
      view.top == 0 ? table.rows.size() : std::min(view.top, table.rows.size());
  std::string collisions;
  for (std::size_t i = 0; i < shown; ++i) {
    const ObjectRow& row = table.rows[i];
    const Object& object = recording.objects[row.object.index()];
    const std::string name = fmt::format("{} {}", object_kind_word(object.kind), object.name);
    out.add({row.freed_ns ? percent_text(gain(row, table)) : nothing, count_text(row.acquisitions),
             count_text(row.contended), duration_text(row.wait),
             duration_text(per_access(row.wait, row)), duration_text(row.longest_wait),
             fmt::format("{:.2f}", queue_mean(row)), row.hold ? duration_text(*row.hold) : nothing,
             row.hold ? duration_text(row.longest_hold) : nothing,
             row.critical_ns && table.total_ns > 0 ? percent_text(*row.critical_ns / table.total_ns)
                                                   : nothing,
             row.lines.empty() ? nothing : files.place(row.lines[0].file, row.lines[0].line),
             name});
    for (std::size_t c = 0; c < std::min(row.collisions.size(), most_collisions_shown); ++c)
      collisions += fmt::format("{}: {} waited for {} {}, {} in all\n", printable(name),
                                printable(recording.threads[row.collisions[c].waiter.index()].name),
                                printable(recording.threads[row.collisions[c].waker.index()].name),
                                count_text(row.collisions[c].times, "time"),
                                duration_text(row.collisions[c].wait));
  }
  return out.text(view.width) + rows_left(table.rows.size() - shown, "object") +
         (collisions.empty() ? "" : "\n" + collisions) +
         "\ngain: what the whole program would gain if nobody ever waited for it. queue: how "
         "many\n"
         "threads wait for it at a time, on average. critical: what is done while it is held.\n";
}

}  // namespace longpole::cli
