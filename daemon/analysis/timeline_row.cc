// One thread of a timeline: what a picture of its row shows.
#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/span_cursor.h"
#include "analysis/timeline.h"
#include "analysis/timeline_calls.h"
#include "analysis/timeline_pixel.h"

namespace longpole::analysis {
namespace {

// Goes from edge to edge of the pixels. What is between two edges is summarised where a whole span lies
// there; else the one or two spans that there are do reach out of it, and are shown.
class RowBuilder {
 public:
  RowBuilder(const Execution& execution, std::uint32_t thread, const TimelineView& view,
             const SummaryContent& content, TimelineRow& row)
      : execution_(execution),
        thread_(thread),
        events_(execution.recording().threads[thread].events),
        view_(view),
        content_(content),
        row_(row),
        pixel_(view),
        cursor_(execution, thread, view.from.count(), (view.to - view.from).count() / view.pixels,
                content.weight) {
    unnamed_runs_.reserve(content.run ? view.pixels : 0);
    unnamed_waits_.reserve(content.wait ? view.pixels : 0);
  }

  void build() {
    pixel_.go_to(0);
    const Moment* left = &cursor_.go_to(view_.from.count());
    begin_cell(0, *left);
    while (true) {
      const std::int64_t right = pixel_.right().count();
      if (left->span_end >= right) {
        show(*left);
        if (left->span_end >= view_.to.count()) {
          begin_cells_up_to(view_.pixels, *left);
          break;
        }
        const std::uint32_t next = pixel_.of(Nanoseconds{left->span_end});
        begin_cells_up_to(next, *left);
        pixel_.go_to(next);
        left = &cursor_.go_to(pixel_.left().count());
        continue;
      }
      const Moment& behind = cursor_.go_to(right);
      if (left->span_start == left->time || left->span_end < behind.span_start) {
        summarise(*left, behind);
      } else {
        show(*left);
        if (behind.span_start < right)
          show(behind);
      }
      begin_cell(pixel_.number() + 1, behind);
      if (pixel_.is_last())
        break;
      pixel_.go_to(pixel_.number() + 1);
      left = &behind;
    }
    find_events();
    find_names();
  }
  // For each cell, and for the end of the view: the first part that ends there or later.
  [[nodiscard]] const std::vector<PartIndex>& cells() const { return cells_; }

 private:
  static constexpr std::uint32_t no_cell = 0xffffffffU;

  // A summary that is named by the event of a part.
  struct Unnamed {
    std::size_t summary = 0;
    PartIndex part = no_part;
    std::uint32_t event = 0;  // once it is found
  };

  void show(const Moment& moment) {
    if (!moment.is_there || moment.span_start < shown_until_)
      return;
    shown_until_ = moment.span_end;
    const SpanIndex::Unpacked& spans = cursor_.spans(moment);
    Span& span = row_.spans.emplace_back();
    span.start = Nanoseconds{moment.span_start};
    span.end = Nanoseconds{moment.span_end};
    span.state = spans.state(moment.span);
    span.part = spans.part(moment.span);
    span.is_of_part = spans.ends_part(moment.span);
    // In place of the event, until all are found.
    span.event = execution_.part_of_event(thread_, span);
    execution_.prefetch(span.event);
  }
  // All together: parts and events are far from each other in memory, and here one does not wait for the
  // other. Whoever shows the row tells more of the events.
  void find_events() {
    for (Span& span : row_.spans) {
      span.event = execution_.event_number(span.event);
      prefetch(events_[span.event]);
    }
  }
  // What names it may be in two lines of the cache. Always inlined: see Execution::prefetch().
  [[gnu::always_inline]] static void prefetch(const Event& event) {
    __builtin_prefetch(&event.subject);
    __builtin_prefetch(&event.kind);
  }

  // Where the next cell begins with that pixel, or the last ends before it; `moment`: of its left edge.
  void begin_cell(std::uint32_t pixel, const Moment& moment) {
    if (next_cell_ == pixel)
      add_cell(cursor_.first_part_ending_at(moment));
  }
  // All those up to that pixel, whose left edge is within the moment's span.
  void begin_cells_up_to(std::uint32_t pixel, const Moment& moment) {
    while (next_cell_ <= pixel)
      add_cell(view_.edge(next_cell_).count() == moment.time
                   ? cursor_.first_part_ending_at(moment)
                   : cursor_.first_part_ending_behind(moment));
  }
  void add_cell(PartIndex first_part) {
    cells_.push_back(first_part);
    next_cell_ =
        next_cell_ == view_.pixels ? no_cell : std::min(next_cell_ + cell_pixels, view_.pixels);
  }

  void summarise(const Moment& left, const Moment& right) {
    const SpanTimes times = cursor_.times_between(left, right);
    PixelSummary& summary = row_.summaries.emplace_back();
    summary.pixel = pixel_.number();
    summary.shares = shares_of(times, pixel_.right() - pixel_.left(), pixel_.share_scale());
    const Nanoseconds ran = times[index_of(SpanState::running)];
    if (content_.weight && ran > Nanoseconds{})
      summary.weight =
          static_cast<float>(cursor_.weighted_between(left, right) /
                             (static_cast<double>(ran.count()) * execution_.weights().scale()));
    if (content_.run && ran > Nanoseconds{})
      name(cursor_.longest_run(left, right), unnamed_runs_,
           [&](SpanName name) { summary.run = ProfileId{name - 1}; });
    const bool waits = times[index_of(SpanState::blocked)] > Nanoseconds{} ||
                       times[index_of(SpanState::io)] > Nanoseconds{} ||
                       times[index_of(SpanState::sleeping)] > Nanoseconds{};
    if (content_.wait && waits)
      name(cursor_.longest_wait(left, right), unnamed_waits_,
           [&](SpanName name) { summary.wait = name; });
  }
  template <typename Set>
  void name(const LongestSpan& longest, std::vector<Unnamed>& unnamed, const Set& set) {
    if (longest.name) {
      set(*longest.name);
      return;
    }
    const PartIndex part = execution_.part_of_event(
        thread_, {.state = longest.state, .part = longest.part, .is_of_part = longest.is_of_part});
    execution_.prefetch(part);
    unnamed.push_back({row_.summaries.size() - 1, part, 0});
  }
  // All together, as above.
  void find_names() {
    for (std::vector<Unnamed>* const unnamed : {&unnamed_runs_, &unnamed_waits_}) {
      for (Unnamed& each : *unnamed) {
        each.event = execution_.event_number(each.part);
        prefetch(events_[each.event]);
      }
    }
    for (const Unnamed& run : unnamed_runs_)
      row_.summaries[run.summary].run = events_[run.event].profile;
    for (const Unnamed& wait : unnamed_waits_)
      row_.summaries[wait.summary].wait = execution_.subject_keys().of(events_[wait.event]);
  }

  const Execution& execution_;
  std::uint32_t thread_;
  const std::vector<Event>& events_;  // the thread's
  const TimelineView& view_;
  const SummaryContent& content_;
  TimelineRow& row_;
  Pixel pixel_;
  SpanCursor cursor_;
  std::vector<PartIndex> cells_;
  std::uint32_t next_cell_ = 0;  // the pixel that it begins with; view_.pixels: the end
  std::int64_t shown_until_ = std::numeric_limits<std::int64_t>::min();
  std::vector<Unnamed> unnamed_runs_;
  std::vector<Unnamed> unnamed_waits_;
};

}  // namespace

TimelineRow Timeline::row(std::uint32_t thread, const TimelineView& view,
                          const SummaryContent& content) const {
  TimelineRow row;
  if (execution_->begin(thread) == execution_->end(thread))
    return row;
  row.summaries.reserve(view.pixels);
  RowBuilder builder(*execution_, thread, view, content, row);
  builder.build();
  find_calls(*execution_, thread, view, builder.cells(), row);
  return row;
}

}  // namespace longpole::analysis
