#include "analysis/timeline_item.h"

#include <algorithm>
#include <tuple>

namespace longpole::analysis {
namespace {

// All parts of the thread for one call: what leads to it, and what it waits for.
struct Parts {
  PartIndex first = no_part;
  PartIndex last = no_part;  // behind them
  PartIndex made = no_part;  // that ends in the call
};

Parts parts_of(const Execution& execution, PartIndex any) {
  const ExecutionPart part = execution.part(any);
  Parts parts{any, any + 1, no_part};
  while (parts.first > execution.begin(part.thread) &&
         execution.part(parts.first - 1).event == part.event)
    --parts.first;
  while (parts.last < execution.end(part.thread) && execution.part(parts.last).event == part.event)
    ++parts.last;
  for (PartIndex index = parts.first; index < parts.last; ++index) {
    if (execution.makes_call(index)) {
      parts.made = index;
      break;
    }
  }
  return parts;
}

Waker waker(const Execution& execution, PartIndex index) {
  const ExecutionPart part = execution.part(index);
  return {{part.thread, part.event}, part.end};
}

TimelineItem item(const Execution& execution, PartIndex any) {
  const Parts parts = parts_of(execution, any);
  const ExecutionPart first = execution.part(parts.first);
  TimelineItem item;
  item.call = {first.thread, first.event};
  item.made = parts.made != no_part;
  Nanoseconds length{};
  for (PartIndex index = parts.first; index < parts.last; ++index) {
    const ExecutionPart part = execution.part(index);
    if (!part.running)
      continue;
    item.work += part.end - part.start;
    length += part.length;
    item.critical_ns += execution.weight(index) * static_cast<double>(part.length.count());
    item.cpu = part.cpu;
    if (item.made && index == parts.made)
      break;
  }
  if (length > Nanoseconds{})
    item.weight = item.critical_ns / static_cast<double>(length.count());
  const PartIndex end = execution.end(first.thread);
  const PartIndex last = item.made ? parts.made : parts.last - 1;
  item.elapsed = execution.end_of(last) - first.ready;
  for (PartIndex index = parts.first; index <= last; ++index) {
    const ExecutionPart part = execution.part(index);
    if (part.given_by != no_part)
      item.cpu_from = waker(execution, part.given_by);
  }
  if (!item.made)
    return item;
  item.call_time = item.return_time = execution.end_of(parts.made);
  for (PartIndex index = parts.made + 1; index < end && index <= parts.last; ++index) {
    const ExecutionPart part = execution.part(index);
    item.return_time = part.ready;
    if (part.released_by != no_part && execution.part(part.released_by).thread != part.thread)
      item.woken_by = waker(execution, part.released_by);
  }
  if (parts.last == end && execution.stands_still(first.thread))
    item.return_time = execution.total();
  return item;
}

// What the thread does from `time` on.
std::optional<Span> span_at(const Execution& execution, std::uint32_t thread, Nanoseconds time) {
  std::optional<Span> found;
  execution.spans(thread, time, [&](const Span& span) {
    if (span.start <= time)
      found = span;
    return false;
  });
  return found;
}

bool is_similar(const Event& a, const Event& b) {
  return a.kind == b.kind && a.subject == b.subject;
}

}  // namespace

std::optional<TimelineItem> item_at(const Execution& execution, std::uint32_t thread,
                                    Nanoseconds time) {
  const std::optional<Span> span = span_at(execution, thread, time);
  if (!span)
    return std::nullopt;
  PartIndex part = span->part;
  if (part == no_part)
    part = execution.end(thread) - 1;
  else if (span->state == SpanState::blocked && !span->is_of_part)
    --part;
  TimelineItem result = item(execution, part);
  result.span = *span;
  return result;
}

std::optional<TimelineItem> item_of(const Execution& execution, CallId call) {
  const PartIndex made = execution.part_of_call(call.thread, call.event);
  if (made == no_part)
    return std::nullopt;
  TimelineItem result = item(execution, made);
  const ExecutionPart part = execution.part(made);
  const bool waits = result.return_time > result.call_time;
  const auto span = span_at(execution, call.thread, waits ? part.end : part.start);
  if (span && (waits || part.end > part.start)) {
    result.span = *span;
  } else {  // a moment
    result.span.start = result.span.end = part.end;
    result.span.part = made;
    result.span.event = call.event;
  }
  return result;
}

std::optional<CallId> neighbour(const Execution& execution, CallId call, Direction direction) {
  PartIndex index = execution.part_of_call(call.thread, call.event);
  if (index == no_part)
    return std::nullopt;
  const auto fits = [&](PartIndex at) {
    const ExecutionPart part = execution.part(at);
    return is_shown_call(execution.event(part).kind) && execution.makes_call(at);
  };
  if (direction == Direction::next) {
    for (++index; index < execution.end(call.thread); ++index) {
      if (fits(index))
        return CallId{call.thread, execution.part(index).event};
    }
  } else {
    while (index-- > execution.begin(call.thread)) {
      if (fits(index))
        return CallId{call.thread, execution.part(index).event};
    }
  }
  return std::nullopt;
}

std::optional<CallId> similar(const Execution& execution, CallId call, Direction direction) {
  const PartIndex from = execution.part_of_call(call.thread, call.event);
  if (from == no_part)
    return std::nullopt;
  const Event& event = execution.event(execution.part(from));
  const Nanoseconds time = execution.end_of(from);
  const bool forward = direction == Direction::next;
  // The best so far, by time and thread; calls of one thread at one time by their order.
  std::optional<std::tuple<Nanoseconds, std::uint32_t, PartIndex>> best;
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t) {
    const PartIndex begin = execution.begin(t);
    const PartIndex end = execution.end(t);
    // At the same time, smaller threads come first.
    PartIndex index = 0;
    if (t == call.thread)
      index = forward ? from + 1 : from;
    else
      index = execution.first_after(t, t > call.thread ? time - Nanoseconds{1} : time);
    const auto fits = [&](PartIndex at) {
      return is_similar(execution.event(execution.part(at)), event) && execution.makes_call(at);
    };
    if (forward) {
      for (; index < end; ++index) {
        const Nanoseconds at = execution.end_of(index);
        if (best && at > std::get<0>(*best))
          break;
        if (!fits(index))
          continue;
        if (!best || std::tuple(at, t) < std::tuple(std::get<0>(*best), std::get<1>(*best)))
          best = {at, t, index};
        break;
      }
    } else {
      while (index-- > begin) {
        const Nanoseconds at = execution.end_of(index);
        if (best && at < std::get<0>(*best))
          break;
        if (!fits(index))
          continue;
        if (!best || std::tuple(at, t) > std::tuple(std::get<0>(*best), std::get<1>(*best)))
          best = {at, t, index};
        break;
      }
    }
  }
  if (!best)
    return std::nullopt;
  const auto [at, thread, index] = *best;
  return CallId{thread, execution.part(index).event};
}

}  // namespace longpole::analysis
