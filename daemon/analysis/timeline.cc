#include "analysis/timeline.h"

#include <algorithm>
#include <map>
#include <utility>

namespace longpole::analysis {
namespace {

__extension__ using Wide = __int128;

constexpr std::size_t index_of(SpanState state) {
  return static_cast<std::size_t>(state);
}

// The part of the span that the view shows.
struct Shown {
  Nanoseconds start;
  Nanoseconds end;
};
Shown shown_of(const Span& span, const TimelineView& view) {
  return {std::max(span.start, view.from), std::min(span.end, view.to)};
}

// In parts of whole_pixel: none is lost, and all of it is whole.
std::array<std::uint8_t, span_state_count> shares_of(const SpanTimes& times, Nanoseconds width) {
  std::array<std::uint8_t, span_state_count> shares{};
  std::uint32_t sum = 0;
  Nanoseconds all{};
  std::size_t most = 0;
  for (std::size_t s = 0; s < times.size(); ++s) {
    if (times[s] == Nanoseconds{})
      continue;
    const auto share = static_cast<std::uint32_t>(
        std::max<Wide>(1, Wide{times[s].count()} * whole_pixel / width.count()));
    shares[s] = static_cast<std::uint8_t>(share);
    sum += share;
    all += times[s];
    if (times[s] > times[most])
      most = s;
  }
  const std::uint32_t goal = all == width ? whole_pixel : std::min(sum, whole_pixel - 1);
  shares[most] = static_cast<std::uint8_t>(shares[most] + goal - sum);
  return shares;
}

// Takes the spans of a row in order of time.
class RowBuilder {
 public:
  RowBuilder(const Execution& execution, const TimelineView& view, TimelineRow& row)
      : execution_(execution), view_(view), row_(row) {}

  void add(const Span& span) {
    const auto [start, end] = shown_of(span, view_);
    const std::uint32_t first = view_.pixel(start);
    const std::uint32_t last = view_.pixel(end - Nanoseconds{1});
    enter(first);
    const bool within = first == last && span.start >= left_ && span.end <= right_;
    if (within && (span.start > left_ || span.end < right_))
      crowded_ = true;
    else
      row_.spans.push_back(span);
    count(span, start, std::min(end, right_));
    if (last != first) {
      enter(last);
      count(span, left_, end);
    }
  }
  void finish() {
    if (crowded_)
      flush();
  }

 private:
  void enter(std::uint32_t pixel) {
    if (pixel == pixel_)
      return;
    if (crowded_)
      flush();
    pixel_ = pixel;
    left_ = view_.edge(pixel);
    right_ = view_.edge(pixel + 1);
    crowded_ = false;
    times_ = {};
    run_ = wait_ = Span{};
    weighted_ = 0;
  }
  void count(const Span& span, Nanoseconds start, Nanoseconds end) {
    const Nanoseconds length = end - start;
    times_[index_of(span.state)] += length;
    Span& longest = span.state == SpanState::running ? run_ : wait_;
    if (span.state != SpanState::runnable && length > longest.end - longest.start) {
      longest = span;
      longest.start = start;
      longest.end = end;
    }
    if (span.state == SpanState::running)
      weighted_ += execution_.weight(span.part) * static_cast<double>(length.count());
  }
  void flush() {
    PixelSummary summary;
    summary.pixel = pixel_;
    summary.shares = shares_of(times_, right_ - left_);
    const auto ran = static_cast<double>(times_[index_of(SpanState::running)].count());
    summary.weight = ran > 0 ? weighted_ / ran : 0;
    summary.longest_run = run_;
    summary.longest_wait = wait_;
    row_.summaries.push_back(summary);
  }

  const Execution& execution_;
  const TimelineView& view_;
  TimelineRow& row_;
  std::uint32_t pixel_ = 0xffffffffU;
  Nanoseconds left_{};
  Nanoseconds right_{};
  bool crowded_ = false;
  SpanTimes times_{};
  Span run_;
  Span wait_;
  double weighted_ = 0;
};

// Takes the calls of a row in order of time.
class CallBuilder {
 public:
  CallBuilder(const Execution& execution, TimelineRow& row) : execution_(execution), row_(row) {}

  void add(std::uint32_t cell, const TimelineCall& call) {
    if (cell != cell_)
      finish();
    cell_ = cell;
    calls_.push_back(call);
  }
  void finish() {
    if (calls_.size() <= most_calls_of_a_cell) {
      row_.calls.insert(row_.calls.end(), calls_.begin(), calls_.end());
    } else {
      std::array<std::uint32_t, event_kind_count> counts{};
      for (const TimelineCall& call : calls_)
        ++counts[static_cast<std::size_t>(execution_.event(execution_.part(call.part)).kind)];
      for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        if (counts[kind] > 0)
          row_.counts.push_back({cell_, static_cast<EventKind>(kind), counts[kind]});
      }
    }
    calls_.clear();
  }

 private:
  const Execution& execution_;
  TimelineRow& row_;
  std::uint32_t cell_ = 0;
  std::vector<TimelineCall> calls_;
};

}  // namespace

Nanoseconds TimelineView::edge(std::uint32_t pixel) const {
  return from + Nanoseconds{static_cast<std::int64_t>(Wide{(to - from).count()} * pixel / pixels)};
}

std::uint32_t TimelineView::pixel(Nanoseconds time) const {
  if (time >= to)
    return pixels - 1;
  const Wide width = (to - from).count();
  return static_cast<std::uint32_t>(
      ((Wide{(time - from).count()} + 1) * pixels + width - 1) / width - 1);
}

bool is_shown_call(EventKind kind) {
  return kind != EventKind::run && kind != EventKind::enter && kind != EventKind::leave;
}

Timeline::Timeline(std::shared_ptr<const Execution> execution)
    : execution_(std::move(execution)), critical_(execution_->thread_count(), 0) {
  find_steps();
  for (std::uint32_t t = 0; t < execution_->thread_count(); ++t) {
    for (PartIndex index = execution_->begin(t); index < execution_->end(t); ++index)
      critical_[t] +=
          execution_->weight(index) * static_cast<double>(execution_->part(index).length.count());
  }
}

void Timeline::find_steps() {
  struct Change {
    std::int32_t running = 0;
    std::int32_t runnable = 0;
  };
  std::map<Nanoseconds, Change> changes;
  for (std::uint32_t t = 0; t < execution_->thread_count(); ++t) {
    execution_->spans(t, execution_->begin(t), [&](const Span& span) {
      if (span.state == SpanState::running) {
        ++changes[span.start].running;
        --changes[span.end].running;
      } else if (span.state == SpanState::runnable) {
        ++changes[span.start].runnable;
        --changes[span.end].runnable;
      }
      return true;
    });
  }
  std::uint32_t running = 0;
  std::uint32_t runnable = 0;
  steps_.push_back({});
  for (const auto& [time, change] : changes) {
    running += static_cast<std::uint32_t>(change.running);
    runnable += static_cast<std::uint32_t>(change.runnable);
    Step step{time, running, runnable};
    if (execution_->shares()) {
      step.running = std::min(running, execution_->cpus());
      step.runnable = running - step.running;
    }
    if (steps_.back().time == time)
      steps_.pop_back();
    steps_.push_back(step);
  }
}

// Calls `take(start, end, step)` for each stretch of the interval.
template <typename Take>
void Timeline::steps_in(const TimelineView& view, const Take& take) const {
  auto step = std::upper_bound(steps_.begin(), steps_.end(), view.from,
                               [](Nanoseconds time, const Step& at) { return time < at.time; }) -
              1;
  Nanoseconds at = view.from;
  while (at < view.to) {
    const Nanoseconds until =
        step + 1 == steps_.end() ? view.to : std::min(view.to, (step + 1)->time);
    take(at, until, *step);
    at = until;
    if (step + 1 != steps_.end())
      ++step;
  }
}

Parallelism Timeline::parallelism(const TimelineView& view) const {
  Parallelism result;
  result.pixels.resize(view.pixels);
  std::vector<bool> seen(view.pixels, false);
  steps_in(view, [&](Nanoseconds start, Nanoseconds end, const Step& step) {
    for (std::uint32_t i = view.pixel(start); i < view.pixels && view.edge(i) < end; ++i) {
      const Nanoseconds left = view.edge(i);
      const Nanoseconds right = view.edge(i + 1);
      if (right == left)
        continue;
      const double part =
          static_cast<double>((std::min(end, right) - std::max(start, left)).count()) /
          static_cast<double>((right - left).count());
      Parallelism::Pixel& pixel = result.pixels[i];
      pixel.least_running = seen[i] ? std::min(pixel.least_running, step.running) : step.running;
      pixel.most_running = std::max(pixel.most_running, step.running);
      pixel.mean_running += part * step.running;
      pixel.least_runnable =
          seen[i] ? std::min(pixel.least_runnable, step.runnable) : step.runnable;
      pixel.most_runnable = std::max(pixel.most_runnable, step.runnable);
      pixel.mean_runnable += part * step.runnable;
      seen[i] = true;
    }
  });
  // Pixels without a whole nanosecond look as the one before.
  for (std::uint32_t i = 1; i < view.pixels; ++i) {
    if (!seen[i])
      result.pixels[i] = result.pixels[i - 1];
  }
  return result;
}

TimelineLevels Timeline::levels(const TimelineView& view) const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Nanoseconds> times;
  TimelineView run = view;
  run.to = std::min(view.to, execution_->total());
  TimelineLevels result;
  if (run.to <= run.from)
    return result;
  steps_in(run, [&](Nanoseconds start, Nanoseconds end, const Step& step) {
    times[{step.running + step.runnable, step.running}] += end - start;
  });
  for (const auto& [level, time] : times) {
    const auto [active, running] = level;
    result.levels.push_back({running, active - running, time});
    result.classes[static_cast<std::size_t>(concurrency_class(active, execution_->cpus()))] += time;
  }
  return result;
}

std::vector<PathPiece> Timeline::path(const TimelineView& view) const {
  const std::vector<PathPart>& path = execution_->path();
  std::vector<PathPiece> pieces;
  // Of those that are within one pixel: the time of each thread.
  std::vector<std::pair<std::uint32_t, Nanoseconds>> times;
  std::uint32_t pixel = 0;
  for (auto at =
           std::upper_bound(path.begin(), path.end(), view.from,
                            [](Nanoseconds time, const PathPart&part) { return time < part.end; });
       at != path.end() && at->start < view.to; ++at) {
    const std::uint32_t thread = execution_->part(at->part).thread;
    if (!pieces.empty() && at->arrival == Arrival::onward && pieces.back().parts == 1 &&
        pieces.back().thread == thread && pieces.back().end == at->start) {
      pieces.back().end = at->end;
      continue;
    }
    const bool within = at->start >= view.from && at->end <= view.to &&
                        view.pixel(at->start) == view.pixel(at->end - Nanoseconds{1});
    const bool joins =
        within && !pieces.empty() && !times.empty() && pixel == view.pixel(at->start);
    if (!joins) {
      pieces.push_back({thread, at->start, at->end, 1, at->arrival});
      times.clear();
      if (within) {
        pixel = view.pixel(at->start);
        times.emplace_back(thread, at->end - at->start);
      }
      continue;
    }
    PathPiece& piece = pieces.back();
    ++piece.parts;
    piece.end = at->end;
    auto found = std::find_if(times.begin(), times.end(),
                              [&](const auto& entry) { return entry.first == thread; });
    if (found == times.end())
      found = times.insert(times.end(), {thread, Nanoseconds{}});
    found->second += at->end - at->start;
    piece.thread = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) {
                     return a.second < b.second;
                   })->first;
  }
  return pieces;
}

// A call at the end of the run is in the view that ends there.
bool Timeline::is_behind(Nanoseconds call, const TimelineView& view) const {
  return call > view.to || (call == view.to && call != execution_->total());
}

TimelineRow Timeline::row(std::uint32_t thread, const TimelineView& view) const {
  TimelineRow row;
  RowBuilder builder(*execution_, view, row);
  const PartIndex first = execution_->first_after(thread, view.from);
  execution_->spans(thread, first, [&](const Span& span) {
    if (span.start >= view.to)
      return false;
    if (span.end > view.from)
      builder.add(span);
    return true;
  });
  builder.finish();

  CallBuilder calls(*execution_, row);
  for (PartIndex index = execution_->first_after(thread, view.from - Nanoseconds{1});
       index < execution_->end(thread); ++index) {
    const Nanoseconds time = execution_->end_of(index);
    if (is_behind(time, view))
      break;
    const Part part = execution_->part(index);
    if (is_shown_call(execution_->event(part).kind) && execution_->makes_call(index))
      calls.add(view.pixel(time) / cell_pixels, {index, part.event, time});
  }
  calls.finish();
  return row;
}

bool Timeline::is_active(std::uint32_t thread, const TimelineView& view) const {
  bool active = false;
  const PartIndex first = execution_->first_after(thread, view.from - Nanoseconds{1});
  execution_->spans(thread, first, [&](const Span& span) {
    if (span.start >= view.to)
      return false;
    active = (span.end > view.from && span.state != SpanState::blocked &&
              span.state != SpanState::sleeping && span.state != SpanState::io) ||
             (span.part != no_part && span.end >= view.from && span.end < view.to &&
              span.state == SpanState::running);
    return !active;
  });
  return active;
}

TimelineThread Timeline::thread(std::uint32_t thread, const TimelineView& view) const {
  TimelineThread result;
  const PartIndex begin = execution_->begin(thread);
  const PartIndex end = execution_->end(thread);
  if (begin == end)
    return result;
  result.started = true;
  result.start = execution_->part(begin).ready;
  result.end = execution_->stands_still(thread) ? execution_->total() : execution_->end_of(end - 1);
  result.critical_ns = critical_[thread];
  execution_->spans(thread, execution_->first_after(thread, view.from), [&](const Span& span) {
    if (span.start >= view.to)
      return false;
    const auto [from, to] = shown_of(span, view);
    if (to > from) {
      result.times[index_of(span.state)] += to - from;
      if (span.part != no_part && span.state != SpanState::runnable) {
        const Part part = execution_->part(span.part);
        if (span.start >= part.start)
          result.critical_in_view_ns += execution_->weight(span.part) *
                                        static_cast<double>(part.length.count()) *
                                        (static_cast<double>((to - from).count()) /
                                         static_cast<double>((span.end - span.start).count()));
      }
    }
    return true;
  });
  for (PartIndex index = execution_->first_after(thread, view.from - Nanoseconds{1}); index < end;
       ++index) {
    if (is_behind(execution_->end_of(index), view))
      break;
    const Part part = execution_->part(index);
    if (is_shown_call(execution_->event(part).kind) && execution_->makes_call(index))
      ++result.calls;
  }
  result.active = result.calls > 0 || result.times[index_of(SpanState::running)] > Nanoseconds{} ||
                  result.times[index_of(SpanState::runnable)] > Nanoseconds{};
  return result;
}

}  // namespace longpole::analysis
