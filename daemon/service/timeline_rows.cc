#include "service/timeline_rows.h"

#include <atomic>
#include <cstring>
#include <string>
#include <string_view>

#include "service/all_cpus.h"
#include "service/timeline_names.h"
#include "service/wire_bytes.h"

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
  void note(const std::vector<std::uint32_t>& keys) {
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
  // Their indexes plus one, as a list of a message.
  [[nodiscard]] std::string list(int field, const std::vector<std::uint32_t>& keys) const {
    std::string bytes;
    WireBytes::put_numbers(bytes, field, keys, [&](std::uint32_t key) { return numbers_[key]; });
    return bytes;
  }

 private:
  std::vector<std::atomic<bool>> is_named_;  // by key
  std::vector<std::uint32_t> numbers_;       // likewise
};

// A TimelineRow as bytes, but for what is in the tables, of which it has the keys.
struct RowBytes {
  struct Named {
    std::string before;  // fields before those lists, and behind them
    std::vector<std::uint32_t> objects;
    std::vector<std::uint32_t> places;
    std::string behind;
  };
  Named stretches;
  Named summaries;
  Named events;
  std::string counts;
};

// The tables of one answer.
class Tables {
 public:
  explicit Tables(const Recording& recording)
      : recording_(recording),
        objects_(recording.objects.size() + recording.threads.size()),
        places_(recording.stacks.size()) {}

  // What the row names.
  void note(const RowBytes& row) {
    for (const RowBytes::Named* const named : {&row.stretches, &row.summaries, &row.events}) {
      objects_.note(named->objects);
      places_.note(named->places);
    }
  }
  void write(v1::GetTimelineResponse& message) {
    objects_.number([&](std::uint32_t key) { write_object_of(key, *message.add_objects()); });
    places_.number([&](std::uint32_t key) {
      write_place(recording_, StackId{key - 1}, *message.add_places());
    });
  }
  // Once they are written: a GetTimelineResponse of this row.
  [[nodiscard]] std::string answer_of(std::uint32_t thread, const RowBytes& row) const {
    using Stretches = v1::TimelineStretches;
    using Summaries = v1::TimelineSummaries;
    using Events = v1::TimelineEvents;
    std::string bytes;
    const auto put = [&](int field, const RowBytes::Named& of, const std::string& first,
                         const std::string& second) {
      WireBytes::put_message(bytes, field, {of.before, first, second, of.behind});
    };
    WireBytes::put_number(bytes, v1::TimelineRow::kThreadFieldNumber, thread);
    put(v1::TimelineRow::kStretchesFieldNumber, row.stretches,
        objects_.list(Stretches::kObjectFieldNumber, row.stretches.objects),
        places_.list(Stretches::kPlaceFieldNumber, row.stretches.places));
    put(v1::TimelineRow::kSummariesFieldNumber, row.summaries,
        places_.list(Summaries::kPlaceFieldNumber, row.summaries.places),
        objects_.list(Summaries::kObjectFieldNumber, row.summaries.objects));
    put(v1::TimelineRow::kEventsFieldNumber, row.events,
        objects_.list(Events::kObjectFieldNumber, row.events.objects),
        places_.list(Events::kPlaceFieldNumber, row.events.places));
    WireBytes::put_message(bytes, v1::TimelineRow::kEventCountsFieldNumber, {row.counts});
    std::string answer;
    WireBytes::put_message(answer, v1::GetTimelineResponse::kRowsFieldNumber, {bytes});
    return answer;
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

class RowWriter {
 public:
  RowWriter(const Execution& execution, const Keys& keys, std::uint32_t thread, RowBytes& row)
      : execution_(execution),
        keys_(keys),
        events_(execution.recording().threads[thread].events),
        row_(row) {}

  void write(const analysis::TimelineRow& row, const analysis::SummaryContent& content) {
    write_stretches(row.spans);
    write_summaries(row.summaries, content);
    write_calls(row.calls);
    write_counts(row.counts);
  }

 private:
  void write_stretches(const std::vector<Span>& spans) {
    using Stretches = v1::TimelineStretches;
    RowBytes::Named& stretches = row_.stretches;
    std::string& before = stretches.before;
    WireBytes::put_floats<double>(before, Stretches::kStartNsFieldNumber, spans,
                                  [](const Span& span) { return to_double(span.start); });
    WireBytes::put_floats<double>(before, Stretches::kEndNsFieldNumber, spans,
                                  [](const Span& span) { return to_double(span.end); });
    std::string states;
    states.reserve(spans.size());
    stretches.objects.reserve(spans.size());
    stretches.places.reserve(spans.size());
    for (const Span& span : spans) {
      states.push_back(static_cast<char>(state_of(span.state)));
      const Event& event = events_[span.event];
      const bool computes = span.state == SpanState::running || span.state == SpanState::runnable;
      stretches.objects.push_back(computes ? 0 : keys_.object(event));
      stretches.places.push_back(computes ? keys_.work_place(event.profile)
                                          : keys_.call_place(event));
    }
    WireBytes::put_bytes(before, Stretches::kStateFieldNumber, states);
    WireBytes::put_numbers(before, Stretches::kCpuFieldNumber, spans, [&](const Span& span) {
      const std::uint32_t cpu = span.state == SpanState::running && span.part != analysis::no_part
                                    ? execution_.cpu_of(span.part)
                                    : simulation::no_cpu;
      return cpu == simulation::no_cpu ? 0 : cpu + 1;
    });
    WireBytes::put_floats<float>(
        stretches.behind, Stretches::kWeightFieldNumber, spans, [&](const Span& span) {
          return span.is_of_part ? static_cast<float>(execution_.weight(span.part)) : 0.0F;
        });
    WireBytes::put_numbers(stretches.behind, Stretches::kEventFieldNumber, spans,
                           [](const Span& span) { return span.event; });
  }
  void write_summaries(const std::vector<analysis::PixelSummary>& of,
                       const analysis::SummaryContent& content) {
    using Summaries = v1::TimelineSummaries;
    using analysis::PixelSummary;
    RowBytes::Named& summaries = row_.summaries;
    std::string& before = summaries.before;
    WireBytes::put_numbers(before, Summaries::kPixelFieldNumber, of,
                           [](const PixelSummary& summary) { return summary.pixel; });
    std::string shares(of.size() * analysis::span_state_count, '\0');
    char* share = shares.data();
    for (const PixelSummary& summary : of) {
      std::memcpy(share, summary.shares.data(), summary.shares.size());
      share += summary.shares.size();
    }
    WireBytes::put_bytes(before, Summaries::kSharesFieldNumber, shares);
    if (content.weight)
      WireBytes::put_floats<float>(before, Summaries::kWeightFieldNumber, of,
                                   [](const PixelSummary& summary) { return summary.weight; });
    if (content.run) {
      summaries.places.reserve(of.size());
      for (const PixelSummary& summary : of)
        summaries.places.push_back(keys_.work_place(summary.run));
    }
    if (content.wait) {
      summaries.objects.reserve(of.size());
      for (const PixelSummary& summary : of)
        summaries.objects.push_back(summary.wait);
    }
  }
  void write_calls(const std::vector<analysis::TimelineCall>& calls) {
    using Events = v1::TimelineEvents;
    using analysis::TimelineCall;
    RowBytes::Named& events = row_.events;
    WireBytes::put_numbers(events.before, Events::kEventFieldNumber, calls,
                           [](const TimelineCall& call) { return call.event; });
    WireBytes::put_floats<double>(events.before, Events::kTimeNsFieldNumber, calls,
                                  [](const TimelineCall& call) { return to_double(call.time); });
    std::string kinds;
    for (const TimelineCall& call : calls) {
      const Event& event = events_[call.event];
      kinds.push_back(static_cast<char>(event.kind));
      events.objects.push_back(keys_.object(event));
      events.places.push_back(keys_.call_place(event));
    }
    WireBytes::put_bytes(events.before, Events::kKindFieldNumber, kinds);
  }
  void write_counts(const std::vector<analysis::CallCount>& of) {
    using Counts = v1::TimelineEventCounts;
    using analysis::CallCount;
    WireBytes::put_numbers(row_.counts, Counts::kCellFieldNumber, of,
                           [](const CallCount& count) { return count.cell; });
    std::string kinds;
    kinds.reserve(of.size());
    for (const CallCount& count : of)
      kinds.push_back(static_cast<char>(count.kind));
    WireBytes::put_bytes(row_.counts, Counts::kKindFieldNumber, kinds);
    WireBytes::put_numbers(row_.counts, Counts::kCountFieldNumber, of,
                           [](const CallCount& count) { return count.count; });
  }

  const Execution& execution_;
  const Keys& keys_;
  const std::vector<Event>& events_;
  RowBytes& row_;
};

}  // namespace

std::vector<std::string> write_rows(const OpenRecording& opened, const analysis::Timeline& timeline,
                                    const analysis::TimelineView& view,
                                    const std::vector<std::uint32_t>& threads,
                                    const analysis::SummaryContent& content,
                                    v1::GetTimelineResponse& message) {
  const Keys keys(opened, timeline.execution());
  Tables tables(opened.recording());
  std::vector<RowBytes> rows(threads.size());
  on_all_cpus(threads.size(), [&](std::size_t i) {
    RowWriter(timeline.execution(), keys, threads[i], rows[i])
        .write(timeline.row(threads[i], view, content), content);
    tables.note(rows[i]);
  });
  tables.write(message);
  std::vector<std::string> written(threads.size());
  on_all_cpus(threads.size(),
              [&](std::size_t i) { written[i] = tables.answer_of(threads[i], rows[i]); });
  return written;
}

}  // namespace longpole::service
