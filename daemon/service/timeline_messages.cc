#include "service/timeline_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "service/all_cpus.h"
#include "service/limits.h"
#include "service/marshalling.h"
#include "trace/event_forms.h"

namespace longpole::service {
namespace {

using analysis::Execution;
using analysis::Span;
using analysis::SpanState;
using analysis::Timeline;
using analysis::TimelineView;

double to_double(Nanoseconds time) {
  return static_cast<double>(time.count());
}

std::string label(std::string_view name) {
  if (name.size() <= max_label_bytes)
    return to_utf8(name);
  return to_utf8(name.substr(0, max_label_bytes)) + "…";
}

v1::TimelineState state_of(SpanState state) {
  switch (state) {
    case SpanState::running:
      return v1::TIMELINE_STATE_RUNNING;
    case SpanState::runnable:
      return v1::TIMELINE_STATE_RUNNABLE;
    case SpanState::blocked:
      return v1::TIMELINE_STATE_BLOCKED;
    case SpanState::io:
      return v1::TIMELINE_STATE_IO;
    case SpanState::sleeping:
      return v1::TIMELINE_STATE_SLEEPING;
  }
  return v1::TIMELINE_STATE_UNSPECIFIED;
}

void write_place(const Recording& recording, StackId frame, v1::Place& message) {
  const Stack& stack = recording.stacks[frame.index()];
  message.set_file(label(file_path(recording, stack.file)));
  message.set_line(stack.line);
  message.set_function(label(function_name(recording, stack.function)));
}

// What a call is about: an object, or a thread.
bool write_object(const Recording& recording, const Event& event, v1::TimelineObject& message) {
  if (event.subject == unknown_count)
    return false;
  message.set_id(event.subject);
  switch (event_form(event.kind).subject) {
    case SubjectForm::object: {
      const Object& object = recording.objects[event.subject];
      message.set_kind(std::string(object_kind_word(object.kind)));
      message.set_name(label(object.name));
      return true;
    }
    case SubjectForm::thread:
      message.set_kind("thread-end");
      message.set_name(label(recording.threads[event.subject].name));
      return true;
    case SubjectForm::function:
    case SubjectForm::descriptor:
    case SubjectForm::none:
      return false;
  }
  return false;
}

// The tables of one answer.
class Tables {
 public:
  Tables(const OpenRecording& opened, v1::GetTimelineResponse& message)
      : opened_(opened),
        recording_(opened.recording()),
        message_(message),
        objects_(recording_.objects.size(), 0),
        threads_(recording_.threads.size(), 0),
        places_(recording_.stacks.size(), 0) {}

  // Index plus one; 0: none.
  std::uint32_t object(const Event& event) {
    const SubjectForm form = event_form(event.kind).subject;
    if (event.subject == unknown_count ||
        (form != SubjectForm::object && form != SubjectForm::thread))
      return 0;
    std::uint32_t& at = (form == SubjectForm::thread ? threads_ : objects_)[event.subject];
    if (at == 0) {
      static_cast<void>(write_object(recording_, event, *message_.add_objects()));
      at = static_cast<std::uint32_t>(message_.objects_size());
    }
    return at;
  }
  // Of computing.
  std::uint32_t work_place(const Event& event) {
    return event.profile.known() ? place(opened_.leading_places()[event.profile.index()]) : 0;
  }
  std::uint32_t call_place(const Event& event) {
    return event.site.known() ? place(opened_.charged_frames()[event.site.index()]) : 0;
  }
  std::uint32_t object_of(std::uint32_t thread, const Span& span) {
    if (span.state == SpanState::running || span.state == SpanState::runnable)
      return 0;
    return object(event_of(thread, span));
  }
  std::uint32_t place_of(std::uint32_t thread, const Span& span) {
    const Event& event = event_of(thread, span);
    return span.state == SpanState::running || span.state == SpanState::runnable
               ? work_place(event)
               : call_place(event);
  }

 private:
  [[nodiscard]] const Event& event_of(std::uint32_t thread, const Span& span) const {
    return recording_.threads[thread].events[span.event];
  }
  std::uint32_t place(StackId frame) {
    std::uint32_t& at = places_[frame.index()];
    if (at == 0) {
      write_place(recording_, frame, *message_.add_places());
      at = static_cast<std::uint32_t>(message_.places_size());
    }
    return at;
  }

  const OpenRecording& opened_;
  const Recording& recording_;
  v1::GetTimelineResponse& message_;
  // By id: index plus one.
  std::vector<std::uint32_t> objects_;
  std::vector<std::uint32_t> threads_;
  std::vector<std::uint32_t> places_;
};

// All but what is in the tables.
void write_row(const Execution& execution, std::uint32_t thread, const analysis::TimelineRow& row,
               v1::TimelineRow& message) {
  const std::vector<Event>& events_of = execution.recording().threads[thread].events;
  message.set_thread(thread);
  v1::TimelineStretches& stretches = *message.mutable_stretches();
  for (const Span& span : row.spans) {
    stretches.add_start_ns(to_double(span.start));
    stretches.add_end_ns(to_double(span.end));
    stretches.mutable_state()->push_back(static_cast<char>(state_of(span.state)));
    const std::uint32_t cpu = span.state == SpanState::running && span.part != analysis::no_part
                                  ? execution.cpu_of(span.part)
                                  : simulation::no_cpu;
    stretches.add_cpu(cpu == simulation::no_cpu ? 0 : cpu + 1);
    stretches.add_weight(span.is_of_part ? static_cast<float>(execution.weight(span.part)) : 0.0F);
    stretches.add_event(span.event);
  }
  v1::TimelineSummaries& summaries = *message.mutable_summaries();
  const auto count = static_cast<int>(row.summaries.size());
  summaries.mutable_pixel()->Reserve(count);
  summaries.mutable_weight()->Reserve(count);
  std::string& shares = *summaries.mutable_shares();
  shares.reserve(row.summaries.size() * analysis::span_state_count);
  for (const analysis::PixelSummary& summary : row.summaries) {
    summaries.add_pixel(summary.pixel);
    summaries.add_weight(summary.weight);
    shares.append(summary.shares.begin(), summary.shares.end());
  }
  v1::TimelineEvents& events = *message.mutable_events();
  for (const analysis::TimelineCall& call : row.calls) {
    events.add_event(call.event);
    events.add_time_ns(to_double(call.time));
    events.mutable_kind()->push_back(static_cast<char>(events_of[call.event].kind));
  }
  v1::TimelineEventCounts& counts = *message.mutable_event_counts();
  for (const analysis::CallCount& of_kind : row.counts) {
    counts.add_cell(of_kind.cell);
    counts.mutable_kind()->push_back(static_cast<char>(of_kind.kind));
    counts.add_count(of_kind.count);
  }
}

void write_names(const Execution& execution, const analysis::TimelineRow& row,
                 analysis::WithNames names, Tables& tables, v1::TimelineRow& message) {
  const std::uint32_t thread = message.thread();
  const std::vector<Event>& events_of = execution.recording().threads[thread].events;
  v1::TimelineStretches& stretches = *message.mutable_stretches();
  for (const Span& span : row.spans) {
    stretches.add_object(tables.object_of(thread, span));
    stretches.add_place(tables.place_of(thread, span));
  }
  v1::TimelineSummaries& summaries = *message.mutable_summaries();
  const auto count = static_cast<int>(row.summaries.size());
  if (names == analysis::WithNames::no) {
    summaries.mutable_place()->Resize(count, 0);
    summaries.mutable_object()->Resize(count, 0);
  } else {
    summaries.mutable_place()->Reserve(count);
    summaries.mutable_object()->Reserve(count);
    for (const analysis::PixelSummary& summary : row.summaries) {
      summaries.add_place(summary.run == analysis::no_part
                              ? 0
                              : tables.work_place(events_of[execution.event_number(summary.run)]));
      summaries.add_object(summary.wait ? tables.object(events_of[*summary.wait]) : 0);
    }
  }
  v1::TimelineEvents& events = *message.mutable_events();
  for (const analysis::TimelineCall& call : row.calls) {
    events.add_object(tables.object(events_of[call.event]));
    events.add_place(tables.call_place(events_of[call.event]));
  }
}

void write_cpu_row(std::uint32_t cpu, const analysis::CpuRow& row, v1::TimelineCpuRow& message) {
  message.set_cpu(cpu);
  v1::TimelineTurns& turns = *message.mutable_turns();
  for (const analysis::CpuTurn& turn : row.turns) {
    turns.add_start_ns(to_double(turn.start));
    turns.add_end_ns(to_double(turn.end));
    turns.add_thread(turn.thread);
    turns.mutable_migrated()->push_back(turn.moved ? '\1' : '\0');
  }
  v1::TimelineCpuSummaries& summaries = *message.mutable_summaries();
  for (const analysis::CpuPixel& pixel : row.pixels) {
    summaries.add_pixel(pixel.pixel);
    summaries.mutable_busy()->push_back(static_cast<char>(pixel.busy));
    summaries.add_thread(pixel.thread);
    summaries.add_threads(pixel.threads);
    summaries.add_migrations(pixel.moves);
  }
  message.set_busy_ns(to_double(row.busy));
  message.set_threads(row.threads);
  message.set_turns_begun(row.begun);
  message.set_migrations(row.moves);
}

void write_times(const analysis::SpanTimes& of, v1::TimelineTimes& message) {
  const auto time = [&](SpanState state) { return to_double(of[static_cast<std::size_t>(state)]); };
  message.set_running_ns(time(SpanState::running));
  message.set_runnable_ns(time(SpanState::runnable));
  message.set_blocked_ns(time(SpanState::blocked));
  message.set_io_ns(time(SpanState::io));
  message.set_sleeping_ns(time(SpanState::sleeping));
}

// With the times of `row`, and without what else is of an interval.
void write_thread_itself(const Recording& recording, std::uint32_t thread,
                         const analysis::TimelineThread& row, v1::TimelineThread& message) {
  const Thread& recorded = recording.threads[thread];
  message.set_thread(thread);
  message.set_name(label(recorded.name));
  message.set_function(label(function_name(recording, recorded.start_function)));
  if (recorded.creator.known())
    message.set_creator(recorded.creator.value);
  message.set_start_ns(to_double(row.start));
  message.set_end_ns(to_double(row.end));
  message.set_critical_ns(row.critical_ns);
  message.set_started(row.started);
  write_times(row.times, *message.mutable_times());
}

void write_thread(const Recording& recording, std::uint32_t thread,
                  const analysis::TimelineThread& row, v1::TimelineThread& message) {
  write_thread_itself(recording, thread, row, message);
  message.set_active(row.active);
  message.set_critical_in_view_ns(row.critical_in_view_ns);
  message.set_events(row.calls);
}

void write_parallelism(const std::vector<analysis::ParallelismPixel>& pixels,
                       v1::TimelineParallelism& message) {
  for (const analysis::ParallelismPixel& pixel : pixels) {
    message.add_least_running(pixel.least.running);
    message.add_most_running(pixel.most.running);
    message.add_mean_running(static_cast<float>(pixel.mean_running));
    message.add_least_runnable(pixel.least.runnable);
    message.add_most_runnable(pixel.most.runnable);
    message.add_mean_runnable(static_cast<float>(pixel.mean_runnable));
  }
}

void write_levels(const analysis::TimelineLevels& levels, v1::GetTimelineResponse& message) {
  for (const analysis::TimelineLevel& level : levels.levels) {
    v1::TimelineLevel& row = *message.add_levels();
    row.set_running(level.running);
    row.set_runnable(level.runnable);
    row.set_time_ns(to_double(level.time));
  }
  const auto time = [&](analysis::ConcurrencyClass of) {
    return to_double(levels.classes[static_cast<std::size_t>(of)]);
  };
  v1::TimelineClasses& classes = *message.mutable_classes();
  classes.set_idle_ns(time(analysis::ConcurrencyClass::idle));
  classes.set_serial_ns(time(analysis::ConcurrencyClass::serial));
  classes.set_undersubscribed_ns(time(analysis::ConcurrencyClass::undersubscribed));
  classes.set_parallel_ns(time(analysis::ConcurrencyClass::parallel));
  classes.set_oversubscribed_ns(time(analysis::ConcurrencyClass::oversubscribed));
}

void write_waker(const Recording& recording, const OpenRecording& opened,
                 const analysis::Waker& waker, v1::TimelineWaker& message) {
  const Event& event = recording.threads[waker.call.thread].events[waker.call.event];
  message.set_thread(waker.call.thread);
  message.set_name(label(recording.threads[waker.call.thread].name));
  message.set_event(waker.call.event);
  message.set_time_ns(to_double(waker.time));
  message.set_kind(std::string(event_form(event.kind).word));
  if (event.site.known())
    write_place(recording, opened.charged_frames()[event.site.index()], *message.mutable_place());
}

}  // namespace

void write_timeline(const OpenRecording& opened, const OpenRecording::Drawn& drawn,
                    const TimelineView& view, const RowChoice& rows,
                    const std::vector<std::uint32_t>& cpus, const v1::GetTimelineRequest& request,
                    v1::GetTimelineResponse& message) {
  const Timeline& timeline = *drawn.timeline;
  const Execution& execution = timeline.execution();
  const Recording& recording = opened.recording();
  message.set_total_ns(to_double(execution.total()));
  message.set_model(std::string(name_of(drawn.model)));
  if (execution.deadlock())
    write_deadlock(*execution.deadlock(), recording, *message.mutable_deadlock());
  message.mutable_view()->set_from_ns(to_double(view.from));
  message.mutable_view()->set_to_ns(to_double(view.to));
  message.mutable_view()->set_pixels(view.pixels);
  write_parallelism(timeline.parallelism(view), *message.mutable_parallelism());
  write_levels(timeline.levels(view), message);

  v1::TimelinePath& path = *message.mutable_path();
  for (const analysis::PathPiece& piece : timeline.path(view)) {
    path.add_thread(piece.thread);
    path.add_start_ns(to_double(piece.start));
    path.add_end_ns(to_double(piece.end));
    path.add_parts(piece.parts);
    path.mutable_arrival()->push_back(static_cast<char>(piece.arrival));
  }
  if (request.list_threads()) {
    std::vector<analysis::TimelineThread> listed(
        std::min(execution.thread_count(), max_timeline_threads));
    on_all_cpus(listed.size(), [&](std::size_t t) {
      listed[t] = timeline.thread(static_cast<std::uint32_t>(t), view);
    });
    for (std::uint32_t t = 0; t < listed.size(); ++t)
      write_thread(recording, t, listed[t], *message.add_threads());
    message.set_threads_left(execution.thread_count() - listed.size());
  }
  Tables tables(opened, message);
  const auto names = request.without_names() ? analysis::WithNames::no : analysis::WithNames::yes;
  std::vector<analysis::TimelineRow> drawn_rows(rows.threads.size());
  for (std::size_t i = 0; i < drawn_rows.size(); ++i)
    message.add_rows();
  on_all_cpus(drawn_rows.size(), [&](std::size_t i) {
    drawn_rows[i] = timeline.row(rows.threads[i], view, names);
    write_row(execution, rows.threads[i], drawn_rows[i],
              *message.mutable_rows(static_cast<int>(i)));
  });
  for (std::size_t i = 0; i < drawn_rows.size(); ++i)
    write_names(execution, drawn_rows[i], names, tables,
                *message.mutable_rows(static_cast<int>(i)));
  message.set_rows_left(rows.left);
  if (!cpus.empty()) {
    const analysis::CpuTurns& turns = timeline.cpu_turns();
    std::vector<analysis::CpuRow> cpu_rows(cpus.size());
    on_all_cpus(cpus.size(), [&](std::size_t i) { cpu_rows[i] = turns.row(cpus[i], view); });
    for (std::size_t i = 0; i < cpus.size(); ++i)
      write_cpu_row(cpus[i], cpu_rows[i], *message.add_cpu_rows());
  }
  for (std::size_t kind = 0; kind < event_kind_count; ++kind)
    message.add_event_kinds(std::string(event_form(static_cast<EventKind>(kind)).word));
  message.set_event_cell_pixels(analysis::cell_pixels);
}

void write_item(const OpenRecording& opened, const Timeline& timeline,
                const analysis::TimelineItem& item, v1::GetTimelineItemResponse& message) {
  const Recording& recording = opened.recording();
  const Event& event = recording.threads[item.call.thread].events[item.call.event];
  const TimelineView whole{{}, std::max(timeline.execution().total(), Nanoseconds{1}), 1};
  write_thread_itself(recording, item.call.thread, timeline.thread(item.call.thread, whole),
                      *message.mutable_thread());
  message.set_event(item.call.event);
  message.set_state(state_of(item.span.state));
  message.set_start_ns(to_double(item.span.start));
  message.set_end_ns(to_double(item.span.end));
  message.set_kind(std::string(event_form(event.kind).word));
  message.set_outcome(std::string(outcome_word(event.outcome)));
  message.set_made(item.made);
  if (item.made) {
    message.set_call_ns(to_double(item.call_time));
    message.set_return_ns(to_double(item.return_time));
  }
  message.set_work_ns(to_double(item.work));
  message.set_total_ns(to_double(item.elapsed));
  if (item.cpu != simulation::no_cpu)
    message.set_cpu(item.cpu);
  v1::TimelineObject object;
  if (write_object(recording, event, object))
    *message.mutable_object() = std::move(object);
  if (event.site.known())
    write_place(recording, opened.charged_frames()[event.site.index()], *message.mutable_place());
  if (event.profile.known())
    write_place(recording, opened.leading_places()[event.profile.index()],
                *message.mutable_work_place());
  message.set_weight(item.weight);
  message.set_critical_ns(item.critical_ns);
  if (item.woken_by)
    write_waker(recording, opened, *item.woken_by, *message.mutable_woken_by());
  if (item.cpu_from)
    write_waker(recording, opened, *item.cpu_from, *message.mutable_cpu_from());
  if (const ThreadId creator = recording.threads[item.call.thread].creator; creator.known()) {
    for (const Event& call : recording.threads[creator.index()].events) {
      if (call.kind != EventKind::thread_create || call.subject != item.call.thread ||
          !call.site.known())
        continue;
      write_place(recording, opened.charged_frames()[call.site.index()],
                  *message.mutable_created_at());
      break;
    }
  }
}

void write_found(const Execution& execution, const analysis::Sought& sought,
                 const TimelineView& view, v1::FindInTimelineResponse& message) {
  double time = 0;
  std::uint64_t left = 0;
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t) {
    const analysis::Found found = find(execution, t, sought, view);
    time += found.time_ns;
    if (found.pixels.empty())
      continue;
    if (static_cast<std::size_t>(message.rows_size()) == max_rows) {
      ++left;
      continue;
    }
    v1::TimelineFound& row = *message.add_rows();
    row.set_thread(t);
    for (const analysis::FoundPixel& pixel : found.pixels) {
      row.add_pixel(pixel.pixel);
      row.mutable_share()->push_back(static_cast<char>(pixel.share));
    }
  }
  message.set_rows_left(left);
  message.set_time_ns(time);
  if (const auto next = next_found(execution, sought, view.to))
    message.set_next_ns(to_double(*next));
  if (const auto last = last_found(execution, sought, view.from))
    message.set_previous_ns(to_double(*last));
}

}  // namespace longpole::service
