#include "cli/report_quartz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "analysis/change.h"
#include "cli/bars.h"
#include "cli/file_names.h"
#include "cli/human.h"
#include "cli/text_table.h"
#include "trace/event_forms.h"

namespace longpole::cli {
namespace {

using analysis::Entity;
using analysis::EntityKind;
using analysis::Part;
using analysis::QuartzChild;
using analysis::QuartzNode;
using analysis::QuartzReport;
using analysis::QuartzRow;
using analysis::QuartzTimes;
using analysis::StateTime;
using analysis::thread_state_count;
using Align = TextTable::Align;

constexpr std::array<const char*, thread_state_count> state_names = {"busy", "spinning", "blocked",
                                                                     "ready"};
constexpr std::size_t most_columns = 32;  // of a row of bars
constexpr std::size_t most_bars = 20;
constexpr std::size_t most_children = 10;
constexpr double least_share = 0.005;  // of the program, for a line of the walk

const char* kind_name(const Recording& recording, const Entity& entity) {
  switch (entity.kind) {
    case EntityKind::program:
      return "program";
    case EntityKind::function:
      return "function";
    case EntityKind::object:
      return object_kind_word(recording.objects[entity.id].kind).data();
    case EntityKind::thread:
      return "thread";
  }
  return "";
}

std::string name_of(const Recording& recording, const Entity& entity) {
  switch (entity.kind) {
    case EntityKind::program:
      return "";
    case EntityKind::function:
      return recording.functions[entity.id].name;
    case EntityKind::object:
      return recording.objects[entity.id].name;
    case EntityKind::thread:
      return recording.threads[entity.id].name;
  }
  return "";
}

// "merge", "mutex M", "thread T1", "(program)".
std::string label(const Recording& recording, const Entity& entity) {
  if (entity.kind == EntityKind::program)
    return "(program)";
  if (entity.kind == EntityKind::function)
    return name_of(recording, entity);
  return fmt::format("{} {}", kind_name(recording, entity), name_of(recording, entity));
}

std::string place_of(const Recording& recording, const FileNames& files, const Entity& entity) {
  if (entity.kind != EntityKind::function)
    return nothing;
  const Function& function = recording.functions[entity.id];
  return files.place(function.file, function.line);
}

std::string calls_text(const std::optional<std::uint64_t>& calls) {
  return calls && *calls > 0 ? count_text(*calls) : nothing;
}

constexpr auto spinning = static_cast<std::size_t>(analysis::ThreadState::spinning);

double spinning_of(const QuartzRow& row) {
  return row.total.states.at(spinning).time_ns;
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

// As many columns as there are terms, or neighbours together.
std::string small_bars(const std::vector<double>& terms) {
  const std::size_t together = (terms.size() + most_columns - 1) / most_columns;
  std::vector<double> heights;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i % together == 0)
      heights.push_back(0);
    heights.back() += terms[i];
  }
  const double highest = heights.empty() ? 0 : *std::max_element(heights.begin(), heights.end());
  return columns_text(heights, highest);
}

// "1–8 busy": what the columns of small_bars() stand for.
std::string bars_header(const QuartzReport& report) {
  return report.most_busy == 1
             ? "1 busy"
             : fmt::format("1–{}{} busy", report.most_busy, report.more_busy ? "+" : "");
}

// The paper's Figure 1: what the code itself and what is below it have for each number of busy CPUs.
std::string figure(const QuartzReport& report, const QuartzRow& row, const TableView& view) {
  TextTable table({{"CPUs busy"}, {"time"}, {"share"}, {"█ itself, ░ what is below", Align::left}});
  const std::vector<double>& total = row.total.terms_ns;
  const std::vector<double>& self = row.self.terms_ns;
  const std::size_t together =
      view.top == 0 ? 1 : std::max<std::size_t>(1, (total.size() + most_bars - 1) / most_bars);
  struct Bar {
    double total = 0;
    double self = 0;
  };
  std::vector<Bar> bars((total.size() + together - 1) / together);
  for (std::size_t i = 0; i < total.size(); ++i) {
    bars[i / together].total += total[i];
    bars[i / together].self += i < self.size() ? self[i] : 0;
  }
  double longest = 0;
  for (const Bar& bar : bars)
    longest = std::max(longest, bar.total);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const std::size_t from = i * together + 1;
    const std::size_t to = std::min((i + 1) * together, total.size());
    const bool is_last = to == total.size() && report.more_busy;
    const std::array<BarPart, 2> parts = {
        BarPart{share(bars[i].self, longest), "█"},
        BarPart{share(bars[i].total - bars[i].self, longest), "░"}};
    table.add(
        {fmt::format("{}{}", from == to ? fmt::to_string(from) : fmt::format("{}–{}", from, to),
                     is_last ? "+" : ""),
         duration_text(bars[i].total), percent_text(share(bars[i].total, row.total.normalized_ns)),
         bar_text(parts, bar_width)});
  }
  return table.text(view.width);
}

std::string states_text(const QuartzRow& row, const TableView& view) {
  TextTable table({{"", Align::left},
                   {"itself"},
                   {"with what is below"},
                   {"runnable meanwhile"},
                   {"0, 1, 2, … runnable", Align::left}});
  for (std::size_t s = 0; s < thread_state_count; ++s) {
    const StateTime& total = row.total.states.at(s);
    if (total.time_ns == 0)
      continue;
    table.add({state_names.at(s), duration_text(row.self.states.at(s).time_ns),
               duration_text(total.time_ns), fmt::format("{:.1f}", total.average_runnable),
               small_bars(total.at_runnable)});
  }
  return table.text(view.width);
}

std::string children_text(const QuartzReport& report, const QuartzRow& row,
                          const Recording& recording, const TableView& view) {
  TextTable table({{"normalized"}, {"share"}, {"calls"}, {"of what is below", Align::left}});
  const double whole = row.total.normalized_ns;
  const std::size_t most = view.top == 0 ? row.children.size() : most_children;
  std::vector<const QuartzChild*> shown;
  for (const QuartzChild& child : row.children) {
    if (shown.size() < most && (view.top == 0 || child.normalized_ns >= 0.0005 * whole))
      shown.push_back(&child);
  }
  bool self_shown = row.self.normalized_ns <= 0;
  const auto add_self = [&] {
    table.add({duration_text(row.self.normalized_ns),
               percent_text(share(row.self.normalized_ns, whole)), nothing, "itself"});
    self_shown = true;
  };
  for (const QuartzChild* child : shown) {
    if (!self_shown && row.self.normalized_ns >= child->normalized_ns)
      add_self();
    table.add({duration_text(child->normalized_ns),
               percent_text(share(child->normalized_ns, whole)), calls_text(child->calls),
               label(recording, report.rows[child->row].entity)});
  }
  if (!self_shown)
    add_self();
  const std::size_t left = row.children.size() - shown.size();
  return table.text(view.width) +
         (left == 0 ? ""
                    : fmt::format("and {} more with less; --top 0 shows all\n", count_text(left)));
}

std::string ranking_text(const QuartzReport& report, const Recording& recording,
                         const TableView& view) {
  const double whole = report.rows.front().total.normalized_ns;
  const bool spins = spinning_of(report.rows.front()) > 0;
  std::vector<TextTable::Column> columns = {{"normalized"}, {"share"}, {"itself"}};
  for (std::size_t s = 0; s < thread_state_count; ++s) {
    if (spins || s != spinning)
      columns.push_back({state_names.at(s)});
  }
  columns.insert(columns.end(), {{"calls"},
                                 {bars_header(report), Align::left},
                                 {"defined at", Align::left},
                                 {"what", Align::left}});
  TextTable table(std::move(columns));
  const FileNames files(recording);
  std::size_t shown = 0;
  for (std::size_t i = 1; i < report.rows.size() && (view.top == 0 || shown < view.top); ++i) {
    const QuartzRow& row = report.rows[i];
    std::vector<std::string> cells = {duration_text(row.total.normalized_ns),
                                      percent_text(share(row.total.normalized_ns, whole)),
                                      duration_text(row.self.normalized_ns)};
    for (std::size_t s = 0; s < thread_state_count; ++s) {
      const double time = row.total.states.at(s).time_ns;
      if (spins || s != spinning)
        cells.push_back(time == 0 ? nothing : duration_text(time));
    }
    cells.insert(cells.end(),
                 {calls_text(row.calls), small_bars(row.total.terms_ns),
                  place_of(recording, files, row.entity), label(recording, row.entity)});
    table.add(std::move(cells));
    ++shown;
  }
  const std::size_t left = report.rows.size() - 1 - shown;
  return table.text(view.width) +
         (left == 0 ? "" : fmt::format("and {} more; --top 0 shows all\n", count_text(left)));
}

std::string walk_text(const QuartzReport& report, const Recording& recording,
                      const TableView& view) {
  const std::vector<QuartzNode>& tree = report.tree;
  const double whole = tree.front().normalized_ns;
  std::vector<std::vector<std::size_t>> below(tree.size());
  for (std::size_t i = 1; i < tree.size(); ++i)
    below[tree[i].parent].push_back(i);
  const bool spins = tree.front().spinning_ns > 0;
  std::vector<TextTable::Column> columns = {{"normalized"}, {"share"}, {"itself"}};
  if (spins)
    columns.push_back({"spinning"});
  columns.insert(columns.end(), {{"blocked"},
                                 {"calls"},
                                 {bars_header(report), Align::left},
                                 {"from the top down", Align::left}});
  TextTable table(std::move(columns));
  struct Open {
    std::size_t node;
    std::size_t depth;
  };
  std::vector<Open> open{{0, 0}};
  std::size_t shown = 0;
  while (!open.empty() && (view.top == 0 || shown < 2 * view.top)) {
    const auto [at, depth] = open.back();
    open.pop_back();
    const QuartzNode& node = tree[at];
    for (std::size_t i = below[at].size(); i-- > 0;) {
      const std::size_t child = below[at][i];
      if (view.top == 0 || tree[child].normalized_ns >= least_share * whole)
        open.push_back({child, depth + 1});
    }
    const auto waited = [](double time) { return time == 0 ? nothing : duration_text(time); };
    std::vector<std::string> cells = {duration_text(node.normalized_ns),
                                      percent_text(share(node.normalized_ns, whole)),
                                      duration_text(node.self_normalized_ns)};
    if (spins)
      cells.push_back(waited(node.spinning_ns));
    cells.insert(cells.end(),
                 {waited(node.blocked_ns), calls_text(node.calls), small_bars(node.terms_ns),
                  std::string(2 * depth, ' ') + label(recording, node.entity)});
    table.add(std::move(cells));
    ++shown;
  }
  const std::size_t left = tree.size() - shown;
  return table.text(view.width) +
         (left == 0 ? "" : fmt::format("and {} more; --top 0 shows all\n", count_text(left)));
}

Json place_json(const Recording& recording, const Entity& entity) {
  Json out = {{"kind", kind_name(recording, entity)}, {"name", name_of(recording, entity)}};
  if (entity.kind != EntityKind::function)
    return out;
  const Function& function = recording.functions[entity.id];
  out["file"] =
      function.file.known() ? Json(recording.files[function.file.index()].path) : Json(nullptr);
  out["line"] = function.line == 0 ? Json(nullptr) : Json(function.line);
  return out;
}

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values)
    out.push_back(number(value));
  return out;
}

Json times_json(const QuartzTimes& times) {
  Json out = {{"normalized_ns", number(times.normalized_ns)},
              {"terms_ns", numbers(times.terms_ns)}};
  for (std::size_t s = 0; s < thread_state_count; ++s) {
    const StateTime& state = times.states.at(s);
    out[state_names.at(s)] = {{"time_ns", number(state.time_ns)},
                              {"average_runnable", number(state.average_runnable)},
                              {"at_runnable_ns", numbers(state.at_runnable)}};
  }
  return out;
}

Json calls_json(const std::optional<std::uint64_t>& calls) {
  return calls ? Json(*calls) : Json(nullptr);
}

bool is_part(const Entity& entity, const Part& part) {
  switch (entity.kind) {
    case EntityKind::function:
      return std::find(part.functions.begin(), part.functions.end(), FunctionId{entity.id}) !=
             part.functions.end();
    case EntityKind::thread:
      return part.thread == ThreadId{entity.id};
    case EntityKind::object:
      return part.lock == ObjectId{entity.id};
    case EntityKind::program:
      break;
  }
  return false;
}

Expected<std::size_t> find_row(const QuartzReport& report, const Recording& recording,
                               const std::string& name) {
  if (name.empty())
    return 0U;
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const Entity& entity = report.rows[i].entity;
    const std::string with_kind =
        fmt::format("{} {}", kind_name(recording, entity), name_of(recording, entity));
    if (name_of(recording, entity) == name || with_kind == name)
      return i;
  }
  // By what `whatif` takes for a name, too.
  const auto part = analysis::find_part(recording, name, false);
  if (!part && part.error().kind == ErrorKind::bad_input)
    return tl::unexpected(
        bad_input(fmt::format("--of {}", name), part.error().why, part.error().remedy));
  for (std::size_t i = 0; part && i < report.rows.size(); ++i) {
    if (is_part(report.rows[i].entity, *part))
      return i;
  }
  std::string heaviest;
  for (std::size_t i = 1; i < std::min<std::size_t>(report.rows.size(), 4); ++i)
    heaviest += (i == 1 ? "" : ", ") + label(recording, report.rows[i].entity);
  return tl::unexpected(
      bad_input(fmt::format("--of {}", name),
                "no function, lock or thread of that name computed, waited or was called",
                heaviest.empty() ? "leave it out" : "the heaviest are " + heaviest));
}

}  // namespace

Expected<QuartzView> look_at(const analysis::Study& study, std::uint32_t cpus,
                             analysis::Scheduler scheduler, const std::string& name) {
  QuartzView view{analysis::Quartz(study.recording(), study.ideal()).report(cpus, scheduler)};
  const auto row = find_row(view.report, study.recording(), name);
  if (!row)
    return tl::unexpected(row.error());
  view.row = *row;
  return view;
}

Json json_of(const QuartzView& view, const Recording& recording) {
  const QuartzReport& report = view.report;
  Json rows = Json::array();
  for (const QuartzRow& row : report.rows) {
    Json out = place_json(recording, row.entity);
    out["calls"] = calls_json(row.calls);
    out["self"] = times_json(row.self);
    out["total"] = times_json(row.total);
    Json children = Json::array();
    for (const QuartzChild& child : row.children)
      children.push_back({{"row", child.row},
                          {"normalized_ns", number(child.normalized_ns)},
                          {"calls", calls_json(child.calls)}});
    out["children"] = std::move(children);
    rows.push_back(std::move(out));
  }
  Json tree = Json::array();
  for (const QuartzNode& node : report.tree) {
    Json out = place_json(recording, node.entity);
    out["parent"] = node.parent;
    out["calls"] = calls_json(node.calls);
    out["normalized_ns"] = number(node.normalized_ns);
    out["self_normalized_ns"] = number(node.self_normalized_ns);
    out["blocked_ns"] = number(node.blocked_ns);
    out["spinning_ns"] = number(node.spinning_ns);
    out["terms_ns"] = numbers(node.terms_ns);
    tree.push_back(std::move(out));
  }
  return {{"cpus", report.cpus},           {"total_ns", number(report.total_ns)},
          {"most_busy", report.most_busy}, {"more_busy", report.more_busy},
          {"rows", std::move(rows)},       {"tree", std::move(tree)}};
}

std::string text_of(const QuartzView& quartz, const Recording& recording, const TableView& view) {
  const QuartzReport& report = quartz.report;
  const std::size_t index = quartz.row;
  const QuartzRow& row = report.rows[index];
  const double whole = report.rows.front().total.normalized_ns;
  std::string out = fmt::format(
      "{}: {} of normalized processor time ({}){}\n\n", label(recording, row.entity),
      duration_text(row.total.normalized_ns), percent_text(share(row.total.normalized_ns, whole)),
      index == 0 ? fmt::format(", {} with no CPU busy",
                               duration_text(std::max(report.total_ns - whole, 0.0)))
                 : "");
  out += figure(report, row, view) + "\n" + states_text(row, view) + "\n";
  if (!row.children.empty())
    out += children_text(report, row, recording, view) + "\n";
  if (index == 0)
    out += ranking_text(report, recording, view) + "\n" + walk_text(report, recording, view) + "\n";
  return out +
         "normalized: CPU time, each stretch divided by how many CPUs were busy meanwhile; so that "
         "of\n"
         "the program is the elapsed time with any CPU busy. It takes in what was called, what was "
         "done\n"
         "with a lock held, and the threads that were created meanwhile. busy, blocked, ready: "
         "elapsed\n"
         "time of all threads; ready is waiting for a CPU." +
         (spinning_of(report.rows.front()) > 0
              ? " spinning: for a spin lock, or trying in\nvain again and again."
              : "") +
         " --of NAME shows one row closely.\n";
}

}  // namespace longpole::cli
