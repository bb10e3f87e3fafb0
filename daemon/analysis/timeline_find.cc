#include "analysis/timeline_find.h"

#include <algorithm>

#include "analysis/call_tree.h"
#include "analysis/leading_places.h"

namespace longpole::analysis {
namespace {

template <typename Predicate>
Sought seek(const Recording& recording, const Predicate& is_there) {
  const std::vector<StackId> charged = charged_frames(recording);
  Sought sought{shares_at(recording, charged, is_there),
                std::vector<bool>(recording.stacks.size(), false)};
  for (std::size_t s = 0; s < charged.size(); ++s)
    sought.of_stack[s] = is_there(recording.stacks[charged[s].index()]);
  return sought;
}

// The share of the span that is at it.
double share_of(const Execution& execution, std::uint32_t thread, const Sought& sought,
                const Span& span) {
  if (span.state == SpanState::runnable)
    return 0;
  const Event& event = execution.recording().threads[thread].events[span.event];
  if (span.state == SpanState::running)
    return event.profile.known() ? sought.of_profile[event.profile.index()] : 0;
  return event.site.known() && sought.of_stack[event.site.index()] ? 1 : 0;
}

}  // namespace

Sought seek_line(const Recording& recording, const std::vector<FileId>& files, std::uint32_t line) {
  return seek(recording, [&](const Stack& frame) {
    return frame.line == line && std::find(files.begin(), files.end(), frame.file) != files.end();
  });
}

std::optional<Sought> seek_function(const Recording& recording, std::string_view name) {
  const auto& functions = recording.functions;
  if (std::none_of(functions.begin(), functions.end(),
                   [&](const Function& function) { return function.name == name; }))
    return std::nullopt;
  return seek(recording,
              [&](const Stack& frame) { return functions[frame.function.index()].name == name; });
}

Found find(const Execution& execution, std::uint32_t thread, const Sought& sought,
           const TimelineView& view) {
  Found found;
  std::uint32_t pixel = view.pixels;
  double time = 0;
  const auto flush = [&] {
    if (pixel == view.pixels || time == 0)
      return;
    const auto width = static_cast<double>((view.edge(pixel + 1) - view.edge(pixel)).count());
    found.pixels.push_back({pixel, static_cast<std::uint8_t>(std::clamp<double>(
                                       time / width * whole_pixel + 0.5, 1, whole_pixel))});
  };
  execution.spans(thread, view.from, [&](const Span& span) {
    if (span.start >= view.to)
      return false;
    const double share = share_of(execution, thread, sought, span);
    const Nanoseconds start = std::max(span.start, view.from);
    const Nanoseconds end = std::min(span.end, view.to);
    if (share == 0 || end <= start)
      return true;
    for (std::uint32_t i = view.pixel(start); i < view.pixels && view.edge(i) < end; ++i) {
      const Nanoseconds part = std::min(end, view.edge(i + 1)) - std::max(start, view.edge(i));
      if (part <= Nanoseconds{})
        continue;
      if (i != pixel) {
        flush();
        pixel = i;
        time = 0;
      }
      time += share * static_cast<double>(part.count());
    }
    found.time_ns += share * static_cast<double>((end - start).count());
    return true;
  });
  flush();
  return found;
}

std::optional<Nanoseconds> next_found(const Execution& execution, const Sought& sought,
                                      Nanoseconds behind) {
  std::optional<Nanoseconds> first;
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t) {
    execution.spans(t, behind, [&](const Span& span) {
      if (first && span.start >= *first)
        return false;
      if (span.start < behind || share_of(execution, t, sought, span) == 0)
        return true;
      first = span.start;
      return false;
    });
  }
  return first;
}

std::optional<Nanoseconds> last_found(const Execution& execution, const Sought& sought,
                                      Nanoseconds before) {
  std::optional<Nanoseconds> last;
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t) {
    execution.spans(t, Nanoseconds{-1}, [&](const Span& span) {
      if (span.start >= before)
        return false;
      if ((!last || span.start > *last) && span.end <= before &&
          share_of(execution, t, sought, span) > 0)
        last = span.start;
      return true;
    });
  }
  return last;
}

}  // namespace longpole::analysis
