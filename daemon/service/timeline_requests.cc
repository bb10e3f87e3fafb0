#include "service/timeline_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "service/computer_messages.h"
#include "service/limits.h"
#include "service/marshalling.h"

namespace longpole::service {

using analysis::Execution;
using analysis::Timeline;
using analysis::TimelineView;

Expected<OpenRecording::Drawn> read_timeline(const OpenRecording& opened,
                                             const v1::Simulation& simulation) {
  const v1::PredictRequest request = as_prediction(simulation);
  const auto computers = read_computers(request, opened.recording());
  if (!computers)
    return tl::unexpected(computers.error());
  const auto models = read_models(request, opened.recording());
  if (!models)
    return tl::unexpected(models.error());
  return opened.timeline(simulation.SerializeAsString(), computers->front(), *models);
}

Expected<TimelineView> read_view(const v1::TimelineView& view, const Timeline& timeline) {
  const std::string what = "cannot show this part of the timeline";
  if (view.pixels() < 1 || view.pixels() > max_pixels)
    return bad_input(what, fmt::format("{} pixels are not between 1 and {} (max_pixels)",
                                       view.pixels(), max_pixels));
  TimelineView read;
  read.pixels = view.pixels();
  if (view.from_ns() == 0 && view.to_ns() == 0) {
    read.to = std::max(timeline.execution().total(), Nanoseconds{1});
    return read;
  }
  const auto latest = std::ldexp(1.0, 62);
  // False of what is no number, too.
  const bool is_interval =
      view.from_ns() >= 0 && view.to_ns() <= latest && view.from_ns() < view.to_ns();
  if (!is_interval)
    return bad_input(what, fmt::format("{} to {} ns is no interval", view.from_ns(), view.to_ns()),
                     "it begins at 0 or later, and ends later than it begins");
  read.from = Nanoseconds{static_cast<std::int64_t>(std::floor(view.from_ns()))};
  read.to = Nanoseconds{static_cast<std::int64_t>(std::ceil(view.to_ns()))};
  return read;
}

Expected<RowChoice> read_rows(const v1::GetTimelineRequest& request, const Timeline& timeline,
                              const TimelineView& view) {
  RowChoice choice;
  if (request.without_rows())
    return choice;
  const auto threads = static_cast<std::uint32_t>(timeline.execution().thread_count());
  const std::size_t most = std::min(max_timeline_rows, max_timeline_cells / view.pixels);
  if (request.rows().empty()) {
    for (std::uint32_t t = 0; t < threads; ++t) {
      if (!timeline.is_active(t, view))
        continue;
      if (choice.threads.size() < most)
        choice.threads.push_back(t);
      else
        ++choice.left;
    }
    return choice;
  }
  const auto rows = static_cast<std::size_t>(request.rows_size());
  const std::string what = fmt::format("cannot draw {} threads", rows);
  if (rows > max_timeline_rows)
    return over_limit(
        what, fmt::format("an answer has at most {} (max_timeline_rows)", max_timeline_rows),
        "ask in several requests");
  if (rows > most)
    return over_limit(
        what + fmt::format(" of {} pixels", view.pixels),
        fmt::format("an answer has at most {} pixels (max_timeline_cells)", max_timeline_cells),
        "ask in several requests");
  for (const std::uint32_t thread : request.rows()) {
    if (thread >= threads)
      return not_found(what, fmt::format("the recording has no thread {}", thread));
  }
  choice.threads.assign(request.rows().begin(), request.rows().end());
  return choice;
}

analysis::SummaryContent read_content(v1::TimelineColour colour) {
  // Of a colour that a later editor has: all of it.
  const bool all = colour < v1::TIMELINE_COLOUR_STATE || colour > v1::TIMELINE_COLOUR_OBJECT;
  return {.weight = all || colour == v1::TIMELINE_COLOUR_WEIGHT,
          .run = all || colour == v1::TIMELINE_COLOUR_PLACE,
          .wait = all || colour == v1::TIMELINE_COLOUR_OBJECT};
}

Expected<std::vector<std::uint32_t>> read_cpu_rows(const v1::GetTimelineRequest& request,
                                                   const Timeline& timeline,
                                                   const TimelineView& view, std::size_t threads) {
  const auto cpus = static_cast<std::size_t>(request.cpu_rows_size());
  if (cpus == 0)
    return std::vector<std::uint32_t>{};
  const std::string what = fmt::format("cannot draw {} CPUs", cpus);
  if (threads + cpus > max_timeline_rows)
    return over_limit(
        what, fmt::format("an answer has at most {} rows (max_timeline_rows)", max_timeline_rows),
        "ask in several requests");
  if ((threads + cpus) * view.pixels > max_timeline_cells)
    return over_limit(
        what + fmt::format(" in {} pixels", view.pixels),
        fmt::format("an answer has at most {} pixels (max_timeline_cells)", max_timeline_cells),
        "ask in several requests");
  for (const std::uint32_t cpu : request.cpu_rows()) {
    if (cpu >= timeline.execution().cpus())
      return not_found(what, fmt::format("the machine has no CPU {}", cpu));
  }
  return std::vector<std::uint32_t>(request.cpu_rows().begin(), request.cpu_rows().end());
}

Expected<analysis::TimelineItem> read_item(const v1::GetTimelineItemRequest& request,
                                           const Execution& execution) {
  const std::string what = "cannot show what is there";
  const std::uint32_t thread = request.thread();
  if (thread >= execution.thread_count())
    return not_found(what, fmt::format("the recording has no thread {}", thread));
  if (request.following() > max_following)
    return over_limit(
        what,
        fmt::format("an answer has at most {} calls (max_following) behind it", max_following),
        "ask for fewer, and go on behind the last one");
  std::optional<analysis::TimelineItem> item;
  if (request.has_event()) {
    if (request.event() >= execution.recording().threads[thread].events.size())
      return not_found(what, fmt::format("thread {} has no call {}", thread, request.event()));
    item = item_of(execution, {thread, request.event()});
  } else {
    const double time = request.time_ns();
    if (time >= 0 && time <= std::ldexp(1.0, 62))
      item = item_at(execution, thread, Nanoseconds{static_cast<std::int64_t>(time)});
  }
  if (!item)
    return not_found(what, "the thread does nothing there in this simulation");
  std::optional<analysis::CallId> next;
  switch (request.step()) {
    case v1::GetTimelineItemRequest::STEP_NEXT:
      next = neighbour(execution, item->call, analysis::Direction::next);
      break;
    case v1::GetTimelineItemRequest::STEP_PREVIOUS:
      next = neighbour(execution, item->call, analysis::Direction::previous);
      break;
    case v1::GetTimelineItemRequest::STEP_NEXT_SIMILAR:
      next = similar(execution, item->call, analysis::Direction::next);
      break;
    case v1::GetTimelineItemRequest::STEP_PREVIOUS_SIMILAR:
      next = similar(execution, item->call, analysis::Direction::previous);
      break;
    default:
      return *item;
  }
  if (next)
    item = item_of(execution, *next);
  if (!next || !item)
    return not_found("cannot go further", "there is no such call in that direction");
  return *item;
}

Expected<analysis::Sought> read_sought(const v1::FindInTimelineRequest& request,
                                       const OpenRecording& opened) {
  if (!request.function().empty()) {
    const Recording& recording = opened.recording();
    // By the name that the client was told, which is not always that of the program.
    for (std::uint32_t f = 0; f < recording.functions.size(); ++f) {
      if (function_name(recording, FunctionId{f}) == request.function())
        return *analysis::seek_function(recording, recording.functions[f].name);
    }
    return not_found("cannot show " + request.function() + " in the timeline",
                     "the recording has no function of that name");
  }
  if (request.file().empty())
    return bad_input("cannot show a line in the timeline",
                     "neither a file nor a function is named");
  const auto choice = read_file(opened, request.file());
  if (!choice)
    return tl::unexpected(choice.error());
  return analysis::seek_line(opened.recording(), choice->files, request.line());
}

}  // namespace longpole::service
