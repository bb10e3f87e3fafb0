#include "cli/report_concurrency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "analysis/call_tree.h"
#include "cli/bars.h"
#include "cli/file_names.h"
#include "cli/human.h"
#include "cli/text_table.h"
#include "trace/event_forms.h"

namespace longpole::cli {
namespace {

using analysis::concurrency_class_count;
using analysis::ConcurrencyLevel;
using analysis::ConcurrencyReport;
using analysis::path_class_count;
using analysis::PathTimes;
using Align = TextTable::Align;

constexpr std::array<const char*, concurrency_class_count> class_names = {
    "idle", "serial", "undersubscribed", "parallel", "oversubscribed"};
constexpr std::array<const char*, path_class_count> path_names = {"cruise", "overhead", "blocking",
                                                                  "impact"};
// Intel Thread Profiler's shades: the brighter, the worse.
constexpr std::array<const char*, path_class_count> path_shades = {"░", "▒", "▓", "█"};
constexpr std::size_t most_levels = 20;
constexpr std::size_t most_impacts = 10;

Json path_times(const PathTimes& times) {
  Json out = Json::object();
  for (std::size_t kind = 0; kind < times.size(); ++kind)
    out[fmt::format("{}_ns", path_names[kind])] = number(times[kind]);
  return out;
}

// What has no object was the end of a thread.
std::string cause_text(const Recording& recording, ObjectId id) {
  return id.known() ? object_text(recording, id) : "end of a thread";
}

const std::string& thread_name(const Recording& recording, ThreadId id) {
  return recording.threads[id.index()].name;
}

// The user's line of a call.
class Places {
 public:
  explicit Places(const Recording& recording)
      : recording_(recording), charged_(analysis::charged_frames(recording)), files_(recording) {}

  [[nodiscard]] Json json(StackId site) const {
    const Stack* const place = find(site);
    if (place == nullptr)
      return nullptr;
    return {{"file", place->file.known() ? Json(recording_.files[place->file.index()].path)
                                         : Json(nullptr)},
            {"line", place->line == 0 ? Json(nullptr) : Json(place->line)},
            {"function", recording_.functions[place->function.index()].name}};
  }
  [[nodiscard]] std::string text(StackId site) const {
    const Stack* const place = find(site);
    if (place == nullptr)
      return nothing;
    return place->file.known() ? files_.place(place->file, place->line)
                               : recording_.functions[place->function.index()].name;
  }

 private:
  [[nodiscard]] const Stack* find(StackId site) const {
    return site.known() ? &recording_.stacks[charged_[site.index()].index()] : nullptr;
  }

  const Recording& recording_;
  std::vector<StackId> charged_;
  FileNames files_;
};

double share(double part, const ConcurrencyReport& report) {
  return report.total_ns > 0 ? part / report.total_ns : 0;
}

// Neighbouring levels, so that a table of them fits a screen.
struct Band {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  std::uint32_t idle_cpus = 0;  // beside threads that could run, all the time
  double time_ns = 0;
  PathTimes path_ns{};
};

std::vector<Band> bands(const ConcurrencyReport& report, std::size_t most) {
  const auto active = [](const ConcurrencyLevel& level) { return level.running + level.runnable; };
  // The first levels are those that say something; what is far above is put together.
  const std::size_t single = most == 0 ? report.levels.size() : most / 2;
  std::vector<Band> out;
  std::uint32_t width = 1;
  if (most > single && report.levels.size() > most) {
    const std::uint32_t rest = active(report.levels.back()) - active(report.levels[single]) + 1;
    width = static_cast<std::uint32_t>((rest + most - single - 1) / (most - single));
  }
  for (std::size_t i = 0; i < report.levels.size(); ++i) {
    const ConcurrencyLevel& level = report.levels[i];
    const bool joins = width > 1 && i > single && active(level) < out.back().least + width;
    const std::uint32_t busy_at_most = std::min(active(level), report.cpus);
    const std::uint32_t idle_cpus = busy_at_most - std::min(level.running, busy_at_most);
    if (!joins)
      out.push_back({active(level), active(level), idle_cpus});
    Band& band = out.back();
    band.idle_cpus = std::min(band.idle_cpus, idle_cpus);
    band.most = active(level);
    band.time_ns += level.time_ns;
    for (std::size_t kind = 0; kind < band.path_ns.size(); ++kind)
      band.path_ns[kind] += level.path_ns[kind];
  }
  return out;
}

std::string levels_text(const ConcurrencyReport& report, const TableView& view) {
  TextTable table({{"threads"},
                   {"time"},
                   {"share"},
                   {"class", Align::left},
                   {"the path meanwhile", Align::left}});
  double longest = 0;
  const std::vector<Band> shown = bands(report, view.top == 0 ? 0 : most_levels);
  for (const Band& band : shown)
    longest = std::max(longest, band.time_ns);
  for (const Band& band : shown) {
    std::array<BarPart, path_class_count> parts;
    // The worst first, where all bars begin.
    for (std::size_t kind = 0; kind < parts.size(); ++kind)
      parts[parts.size() - 1 - kind] = {longest > 0 ? band.path_ns[kind] / longest : 0,
                                        path_shades[kind]};
    const auto of_class =
        static_cast<std::size_t>(analysis::concurrency_class(band.least, report.cpus));
    table.add({band.least == band.most
                   ? count_text(band.least)
                   : fmt::format("{}–{}", count_text(band.least), count_text(band.most)),
               duration_text(band.time_ns), percent_text(share(band.time_ns, report)),
               band.idle_cpus == 0 ? class_names[of_class]
                                   : fmt::format("{}, but {} idle", class_names[of_class],
                                                 count_text(band.idle_cpus, "CPU")),
               bar_text(parts, bar_width)});
  }
  return table.text(view.width);
}

std::string crossed_text(const ConcurrencyReport& report, const TableView& view) {
  TextTable table({{"", Align::left},
                   {"time"},
                   {"share"},
                   {"cruise ░"},
                   {"overhead ▒"},
                   {"blocking ▓"},
                   {"impact █"}});
  const auto add = [&](const char* name, double time, const PathTimes& path) {
    std::vector<std::string> cells = {name, duration_text(time), percent_text(share(time, report))};
    for (const double part : path)
      cells.push_back(part == 0 ? nothing : duration_text(part));
    table.add(std::move(cells));
  };
  const auto classes = report.classes();
  for (std::size_t c = 0; c < classes.size(); ++c)
    add(class_names[c], classes[c], report.crossed[c]);
  add("critical path", report.total_ns, report.critical_path());
  return table.text(view.width);
}

std::string impact_text(const ConcurrencyReport& report, const Recording& recording,
                        const TableView& view) {
  if (report.objects.empty())
    return "No thread alone kept the next one on the critical path waiting.\n";
  const std::size_t most = view.top == 0 ? report.objects.size() + report.threads.size()
                                         : std::min(view.top, most_impacts);
  const auto rest = [&](std::size_t rows, const char* thing) {
    return rows <= most ? std::string()
                        : fmt::format("and {}; --top 0 shows all\n",
                                      count_text(rows - most, fmt::format("more {}", thing)));
  };
  const Places places(recording);
  TextTable objects({{"impact"},
                     {"share"},
                     {"times"},
                     {"waited at", Align::left},
                     {"let go at", Align::left},
                     {"waited for", Align::left}});
  for (std::size_t i = 0; i < std::min(most, report.objects.size()); ++i) {
    const analysis::ObjectImpact& row = report.objects[i];
    objects.add({duration_text(row.impact_ns), percent_text(share(row.impact_ns, report)),
                 count_text(row.times), places.text(row.waited_at), places.text(row.released_at),
                 cause_text(recording, row.object)});
  }
  TextTable threads(
      {{"impact"}, {"share"}, {"times"}, {"thread", Align::left}, {"delayed", Align::left}});
  for (std::size_t i = 0; i < std::min(most, report.threads.size()); ++i) {
    const analysis::ThreadImpact& row = report.threads[i];
    threads.add({duration_text(row.impact_ns), percent_text(share(row.impact_ns, report)),
                 count_text(row.times), thread_name(recording, row.delays),
                 thread_name(recording, row.delayed)});
  }
  return objects.text(view.width) + rest(report.objects.size(), "object") + "\n" +
         threads.text(view.width) + rest(report.threads.size(), "pair");
}

}  // namespace

Json json_of(const ConcurrencyReport& report, const Recording& recording) {
  Json levels = Json::array();
  for (const ConcurrencyLevel& level : report.levels)
    levels.push_back({{"running", level.running},
                      {"runnable", level.runnable},
                      {"time_ns", number(level.time_ns)}});
  Json classes = Json::object();
  Json crossed = Json::object();
  const auto sums = report.classes();
  for (std::size_t c = 0; c < sums.size(); ++c) {
    classes[fmt::format("{}_ns", class_names[c])] = number(sums[c]);
    crossed[class_names[c]] = path_times(report.crossed[c]);
  }
  const Places places(recording);
  Json objects = Json::array();
  for (const analysis::ObjectImpact& row : report.objects)
    objects.push_back(
        {{"object",
          row.object.known() ? Json(recording.objects[row.object.index()].name) : Json(nullptr)},
         {"kind", row.object.known()
                      ? Json(object_kind_word(recording.objects[row.object.index()].kind))
                      : Json("thread-end")},
         {"times", row.times},
         {"impact_ns", number(row.impact_ns)},
         {"waited_at", places.json(row.waited_at)},
         {"released_at", places.json(row.released_at)}});
  Json threads = Json::array();
  for (const analysis::ThreadImpact& row : report.threads)
    threads.push_back({{"thread", thread_name(recording, row.delays)},
                       {"delayed", thread_name(recording, row.delayed)},
                       {"times", row.times},
                       {"impact_ns", number(row.impact_ns)}});
  return {{"cpus", report.cpus},
          {"total_ns", number(report.total_ns)},
          {"levels", std::move(levels)},
          {"classes", std::move(classes)},
          {"critical_path", path_times(report.critical_path())},
          {"crossed", std::move(crossed)},
          {"impact", {{"objects", std::move(objects)}, {"threads", std::move(threads)}}}};
}

std::string text_of(const ConcurrencyReport& report, const Recording& recording,
                    const TableView& view) {
  return levels_text(report, view) + "\n" + crossed_text(report, view) + "\n" +
         impact_text(report, recording, view) +
         "\nthreads: how many run or could run at once. On the critical path: impact, a thread "
         "alone\n"
         "keeps the one that comes next waiting; blocking, it sleeps or does I/O; overhead, it was "
         "let\n"
         "go and is not yet back; cruise, the rest.\n";
}

}  // namespace longpole::cli
