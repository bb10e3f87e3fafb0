// `longpole report --by path`.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/call_text.h"
#include "analysis/call_tree.h"
#include "cli/file_names.h"
#include "cli/human.h"
#include "cli/report_tables.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

using analysis::PathRow;
using analysis::PathStep;
using Align = TextTable::Align;

const Event& wake_event(const Recording& recording, const PathStep& step) {
  return recording.threads[step.woken_by.index()].events[step.wake_event];
}

// The path on one thread, until it passes to another.
struct Leg {
  const PathStep* first = nullptr;
  Nanoseconds end{};
  double critical = 0;
  std::map<FunctionId, double> by_function;
};

std::vector<Leg> legs_of(const analysis::Table<PathRow>& table) {
  std::vector<Leg> legs;
  for (const PathRow& row : table.rows) {
    if (legs.empty() || legs.back().first->thread != row.step.thread)
      legs.push_back({&row.step, {}, 0, {}});
    const double critical =
        row.step.weight * static_cast<double>((row.step.end - row.step.start).count());
    legs.back().end = row.step.end;
    legs.back().critical += critical;
    if (row.function.known())
      legs.back().by_function[row.function] += critical;
  }
  return legs;
}

std::string turns_text(const analysis::Table<PathRow>& table, const Recording& recording,
                       const TableView& view) {
  TextTable out({{"start"},
                 {"end"},
                 {"critical"},
                 {"thread", Align::left},
                 {"mostly in", Align::left},
                 {"woken by", Align::left},
                 {"at", Align::left}});
  const FileNames files(recording);
  const std::vector<StackId> charged = analysis::charged_frames(recording);
  const std::vector<Leg> legs = legs_of(table);
  const std::size_t shown = view.top == 0 ? legs.size() : std::min(view.top, legs.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Leg& leg = legs[i];
    const auto most =
        std::max_element(leg.by_function.begin(), leg.by_function.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string woken_by = nothing;
    std::string at = nothing;
    if (leg.first->cpu_from.known())
      woken_by =
          fmt::format("{}: left its CPU", recording.threads[leg.first->cpu_from.index()].name);
    if (leg.first->woken_by.known()) {
      const Event& event = wake_event(recording, *leg.first);
      woken_by = fmt::format("{}: {}", recording.threads[leg.first->woken_by.index()].name,
                             analysis::call_text(recording, event));
      if (event.site.known()) {
        const Stack& frame = recording.stacks[charged[event.site.index()].index()];
        at = files.place(frame.file, frame.line);
      }
    }
    out.add(
        {duration_text(leg.first->start), duration_text(leg.end), duration_text(leg.critical),
         recording.threads[leg.first->thread.index()].name,
         most == leg.by_function.end() ? nothing : recording.functions[most->first.index()].name,
         woken_by, at});
  }
  return out.text(view.width) + rows_left(legs.size() - shown, "turn");
}

}  // namespace

Json json_of(const analysis::Table<PathRow>& table, const Recording& recording) {
  const std::vector<StackId> charged = analysis::charged_frames(recording);
  Json rows = Json::array();
  for (const PathRow& row : table.rows) {
    Json woken(nullptr);
    if (row.step.woken_by.known()) {
      const Event& event = wake_event(recording, row.step);
      const bool placed = event.site.known();
      const Stack frame = placed ? recording.stacks[charged[event.site.index()].index()] : Stack{};
      woken = {{"thread", recording.threads[row.step.woken_by.index()].name},
               {"call", analysis::call_text(recording, event)},
               {"file", file_path(recording, frame.file)},
               {"line", line_number(frame.line)}};
    }
    rows.push_back({{"thread", recording.threads[row.step.thread.index()].name},
                    {"function", function_name(recording, row.function)},
                    {"start_ns", row.step.start.count()},
                    {"end_ns", row.step.end.count()},
                    {"weight", fraction(row.step.weight)},
                    {"running", row.step.running},
                    {"woken_by", std::move(woken)},
                    {"cpu_from", row.step.cpu_from.known()
                                     ? Json(recording.threads[row.step.cpu_from.index()].name)
                                     : Json(nullptr)}});
  }
  return {{"cpus", table.cpus}, {"total_ns", number(table.total_ns)}, {"rows", std::move(rows)}};
}

std::string text_of(const analysis::Table<PathRow>& table, const Recording& recording,
                    const TableView& view) {
  return turns_text(table, recording, view) +
         "\nThe heaviest path, at its times with a CPU for each thread: each turn of a thread goes "
         "on\n"
         "from the one above, which let it go. critical: what it holds back the whole program "
         "by.\n";
}

Json json_of(const analysis::MachinePath& path, const Recording& recording) {
  return json_of(path.table, recording);
}

std::string text_of(const analysis::MachinePath& path, const Recording& recording,
                    const TableView& view) {
  return turns_text(path.table, recording, view) +
         "\nWhat the end of the run waited for, at its times on these CPUs: each turn of a thread "
         "goes on\n"
         "from the one above, which let it go or left it its CPU. Between two turns a CPU woke up "
         "or\n"
         "took up the thread.\n";
}

}  // namespace longpole::cli
