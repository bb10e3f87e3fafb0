#include "service/timeline_rows.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "service/all_cpus.h"
#include "service/timeline_names.h"

namespace longpole::service {
namespace {

using analysis::Execution;
using analysis::Span;
using analysis::SpanState;

// The numbers that stand for objects, threads and places until all rows are there: what there is of them
// is found row by row, on all CPUs, and numbered in one go. 0: none.
class Keys {
 public:
  Keys(const OpenRecording& opened, const Execution& execution)
      : opened_(opened), subject_keys_(execution.subject_keys()) {}

  [[nodiscard]] std::uint32_t object(const Event& event) const { return subject_keys_.of(event); }
  // Of computing.
  [[nodiscard]] std::uint32_t work_place(ProfileId profile) const {
    return profile.known() ? opened_.leading_places()[profile.index()].value + 1 : 0;
  }
  [[nodiscard]] std::uint32_t call_place(const Event& event) const {
    return event.site.known() ? opened_.charged_frames()[event.site.index()].value + 1 : 0;
  }

 private:
  const OpenRecording& opened_;
  const analysis::SubjectKeys& subject_keys_;
};

// What of one kind the rows of an answer name: a table in the answer, in the order of its keys, whatever the
// order in which they were found.
class Table {
 public:
  explicit Table(std::size_t keys) : is_named_(keys + 1), numbers_(keys + 1, 0) {}

  // From any thread.
  void note(const google::protobuf::RepeatedField<std::uint32_t>& keys) {
    for (const std::uint32_t key : keys) {
      // Read first: what only one CPU writes to is not taken from the others.
      if (!is_named_[key].load(std::memory_order_relaxed))
        is_named_[key].store(true, std::memory_order_relaxed);
    }
  }
  // Once all are there: `add(key)` for each.
  template <typename Add>
  void number(const Add& add) {
    std::uint32_t number = 0;
    for (std::uint32_t key = 1; key < is_named_.size(); ++key) {
      if (!is_named_[key].load(std::memory_order_relaxed))
        continue;
      add(key);
      numbers_[key] = ++number;
    }
  }
  // From keys to indexes plus one.
  void replace(google::protobuf::RepeatedField<std::uint32_t>& keys) const {
    for (std::uint32_t& key : keys)
      key = numbers_[key];
  }

 private:
  std::vector<std::atomic<bool>> is_named_;  // by key
  std::vector<std::uint32_t> numbers_;       // likewise
};

// The tables of one answer.
class Tables {
 public:
  explicit Tables(const Recording& recording)
      : recording_(recording),
        objects_(recording.objects.size() + recording.threads.size()),
        places_(recording.stacks.size()) {}

  // What the row names.
  void note(const v1::TimelineRow& row) {
    objects_.note(row.stretches().object());
    objects_.note(row.summaries().object());
    objects_.note(row.events().object());
    places_.note(row.stretches().place());
    places_.note(row.summaries().place());
    places_.note(row.events().place());
  }
  void write(v1::GetTimelineResponse& message) {
    objects_.number([&](std::uint32_t key) { write_object_of(key, *message.add_objects()); });
    places_.number([&](std::uint32_t key) {
      write_place(recording_, StackId{key - 1}, *message.add_places());
    });
  }
  // Once they are written.
  void replace(v1::TimelineRow& row) const {
    objects_.replace(*row.mutable_stretches()->mutable_object());
    objects_.replace(*row.mutable_summaries()->mutable_object());
    objects_.replace(*row.mutable_events()->mutable_object());
    places_.replace(*row.mutable_stretches()->mutable_place());
    places_.replace(*row.mutable_summaries()->mutable_place());
    places_.replace(*row.mutable_events()->mutable_place());
  }

 private:
  void write_object_of(std::uint32_t key, v1::TimelineObject& object) const {
    const auto objects = static_cast<std::uint32_t>(recording_.objects.size());
    if (key <= objects)
      write_object(recording_.objects[key - 1], key - 1, object);
    else
      write_thread_end(recording_.threads[key - 1 - objects], key - 1 - objects, object);
  }

  const Recording& recording_;
  Table objects_;
  Table places_;
};

// With keys in place of what will be in the tables.
class RowWriter {
 public:
  RowWriter(const Execution& execution, const Keys& keys, std::uint32_t thread,
            v1::TimelineRow& message)
      : execution_(execution),
        keys_(keys),
        events_(execution.recording().threads[thread].events),
        message_(message) {
    message_.set_thread(thread);
  }

  void write(const analysis::TimelineRow& row, const analysis::SummaryContent& content) {
    write_stretches(row.spans);
    write_summaries(row.summaries, content);
    write_calls(row.calls);
    write_counts(row.counts);
  }

 private:
  void write_stretches(const std::vector<Span>& spans) {
    v1::TimelineStretches& stretches = *message_.mutable_stretches();
    const auto count = static_cast<int>(spans.size());
    stretches.mutable_start_ns()->Reserve(count);
    stretches.mutable_end_ns()->Reserve(count);
    stretches.mutable_state()->reserve(spans.size());
    stretches.mutable_cpu()->Reserve(count);
    stretches.mutable_weight()->Reserve(count);
    stretches.mutable_event()->Reserve(count);
    stretches.mutable_object()->Reserve(count);
    stretches.mutable_place()->Reserve(count);
    std::string& states = *stretches.mutable_state();
    for (const Span& span : spans) {
      stretches.add_start_ns(to_double(span.start));
      stretches.add_end_ns(to_double(span.end));
      states.push_back(static_cast<char>(state_of(span.state)));
      const std::uint32_t cpu = span.state == SpanState::running && span.part != analysis::no_part
                                    ? execution_.cpu_of(span.part)
                                    : simulation::no_cpu;
      stretches.add_cpu(cpu == simulation::no_cpu ? 0 : cpu + 1);
      stretches.add_weight(span.is_of_part ? static_cast<float>(execution_.weight(span.part))
                                           : 0.0F);
      stretches.add_event(span.event);
      const Event& event = events_[span.event];
      const bool computes = span.state == SpanState::running || span.state == SpanState::runnable;
      stretches.add_object(computes ? 0 : keys_.object(event));
      stretches.add_place(computes ? keys_.work_place(event.profile) : keys_.call_place(event));
    }
  }
  void write_summaries(const std::vector<analysis::PixelSummary>& of,
                       const analysis::SummaryContent& content) {
    v1::TimelineSummaries& summaries = *message_.mutable_summaries();
    std::string& shares = *summaries.mutable_shares();
    shares.resize(of.size() * analysis::span_state_count);
    char* share = shares.data();
    for (const analysis::PixelSummary& summary : of)
      share = std::copy(summary.shares.begin(), summary.shares.end(), share);
    write_list(of, *summaries.mutable_pixel(), [](const auto& summary) { return summary.pixel; });
    if (content.weight)
      write_list(of, *summaries.mutable_weight(),
                 [](const auto& summary) { return summary.weight; });
    if (content.run)
      write_list(of, *summaries.mutable_place(),
                 [&](const auto& summary) { return keys_.work_place(summary.run); });
    if (content.wait)
      write_list(of, *summaries.mutable_object(), [](const auto& summary) { return summary.wait; });
  }
  template <typename T, typename Value>
  static void write_list(const std::vector<analysis::PixelSummary>& of,
                         google::protobuf::RepeatedField<T>& list, const Value& value) {
    list.Reserve(static_cast<int>(of.size()));
    for (const analysis::PixelSummary& summary : of)
      list.AddAlreadyReserved(value(summary));
  }
  void write_calls(const std::vector<analysis::TimelineCall>& calls) {
    v1::TimelineEvents& events = *message_.mutable_events();
    for (const analysis::TimelineCall& call : calls) {
      const Event& event = events_[call.event];
      events.add_event(call.event);
      events.add_time_ns(to_double(call.time));
      events.mutable_kind()->push_back(static_cast<char>(event.kind));
      events.add_object(keys_.object(event));
      events.add_place(keys_.call_place(event));
    }
  }
  void write_counts(const std::vector<analysis::CallCount>& of) {
    v1::TimelineEventCounts& counts = *message_.mutable_event_counts();
    for (const analysis::CallCount& of_kind : of) {
      counts.add_cell(of_kind.cell);
      counts.mutable_kind()->push_back(static_cast<char>(of_kind.kind));
      counts.add_count(of_kind.count);
    }
  }

  const Execution& execution_;
  const Keys& keys_;
  const std::vector<Event>& events_;
  v1::TimelineRow& message_;
};

}  // namespace

std::vector<std::string> write_rows(const OpenRecording& opened, const analysis::Timeline& timeline,
                                    const analysis::TimelineView& view,
                                    const std::vector<std::uint32_t>& threads,
                                    const analysis::SummaryContent& content,
                                    v1::GetTimelineResponse& message) {
  const Keys keys(opened, timeline.execution());
  Tables tables(opened.recording());
  std::vector<v1::GetTimelineResponse> rows(threads.size());
  on_all_cpus(threads.size(), [&](std::size_t i) {
    v1::TimelineRow& row = *rows[i].add_rows();
    RowWriter(timeline.execution(), keys, threads[i], row)
        .write(timeline.row(threads[i], view, content), content);
    tables.note(row);
  });
  tables.write(message);
  std::vector<std::string> written(threads.size());
  on_all_cpus(threads.size(), [&](std::size_t i) {
    tables.replace(*rows[i].mutable_rows(0));
    written[i] = rows[i].SerializeAsString();
  });
  return written;
}

}  // namespace longpole::service
