#include "service/timeline_messages.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "service/all_cpus.h"
#include "service/limits.h"
#include "service/marshalling.h"
#include "service/timeline_names.h"
#include "service/timeline_rows.h"
#include "trace/event_forms.h"

namespace longpole::service {
namespace {

using analysis::Execution;
using analysis::SpanState;
using analysis::Timeline;
using analysis::TimelineView;

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

void write_path(const std::vector<analysis::PathPiece>& pieces, v1::TimelinePath& message) {
  for (const analysis::PathPiece& piece : pieces) {
    message.add_thread(piece.thread);
    message.add_start_ns(to_double(piece.start));
    message.add_end_ns(to_double(piece.end));
    message.add_parts(piece.parts);
    message.mutable_arrival()->push_back(static_cast<char>(piece.arrival));
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

// What a call is, without its thread.
void write_call(const OpenRecording& opened, const analysis::TimelineItem& item,
                v1::GetTimelineItemResponse& message) {
  const Recording& recording = opened.recording();
  const Event& event = recording.threads[item.call.thread].events[item.call.event];
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
  if (write_subject(recording, event, object))
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
}

// Where the thread was created.
void write_creation(const OpenRecording& opened, std::uint32_t thread,
                    v1::GetTimelineItemResponse& message) {
  const Recording& recording = opened.recording();
  const ThreadId creator = recording.threads[thread].creator;
  if (!creator.known())
    return;
  for (const Event& call : recording.threads[creator.index()].events) {
    if (call.kind != EventKind::thread_create || call.subject != thread || !call.site.known())
      continue;
    write_place(recording, opened.charged_frames()[call.site.index()],
                *message.mutable_created_at());
    return;
  }
}

}  // namespace

std::vector<std::string> write_timeline(const OpenRecording& opened,
                                        const OpenRecording::Drawn& drawn, const TimelineView& view,
                                        const RowChoice& rows,
                                        const std::vector<std::uint32_t>& cpus,
                                        const v1::GetTimelineRequest& request) {
  v1::GetTimelineResponse message;
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
  // Beside the rows, which go to whichever CPU is free.
  auto graph = std::async(std::launch::async, [&] { return timeline.parallelism(view); });
  auto path = std::async(std::launch::async, [&] { return timeline.path(view); });
  std::vector<std::string> pieces =
      write_rows(opened, timeline, view, rows.threads, read_content(request.colour()), message);
  message.set_rows_left(rows.left);
  write_levels(timeline.levels(view), message);
  write_parallelism(graph.get(), *message.mutable_parallelism());
  write_path(path.get(), *message.mutable_path());
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
  pieces.insert(pieces.begin(), message.SerializeAsString());
  return pieces;
}

void write_item(const OpenRecording& opened, const Timeline& timeline,
                const analysis::TimelineItem& item, const v1::GetTimelineItemRequest& request,
                v1::GetTimelineItemResponse& message) {
  const Execution& execution = timeline.execution();
  const std::uint32_t thread = item.call.thread;
  const TimelineView whole{{}, std::max(execution.total(), Nanoseconds{1}), 1};
  write_thread_itself(opened.recording(), thread, timeline.thread(thread, whole),
                      *message.mutable_thread());
  write_call(opened, item, message);
  write_creation(opened, thread, message);
  analysis::CallId call = item.call;
  for (std::uint32_t left = request.following(); left > 0; --left) {
    const auto next = neighbour(execution, call, analysis::Direction::next);
    const auto after = next ? item_of(execution, *next) : std::nullopt;
    if (!after || to_double(after->call_time - after->elapsed) >= request.until_ns())
      break;
    write_call(opened, *after, *message.add_following());
    call = *next;
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
