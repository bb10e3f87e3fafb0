#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/call_text.h"
#include "export/export.h"
#include "export/pieces.h"
#include "perfetto.pb.h"

namespace longpole::exporting {

using analysis::SpanState;
using perfetto::TracePacket;
using perfetto::TrackEvent;

namespace {

constexpr std::uint32_t sequence = 1;
constexpr std::int32_t process_id = 1;

// Tracks are known by numbers of our choice.
enum Track : std::uint64_t {
  process_track = 1,
  running_track,
  runnable_track,
  path_track,
  first_cpu_track = 1000,
  first_thread_track = std::uint64_t{1} << 32U,
};
enum Category : std::uint64_t {
  function_category = 1,
  wait_category,
  call_category,
  cpu_category,
  path_category
};

class Trace {
 public:
  explicit Trace(const Run& run) : run_(run), recording_(*run.recording) {}

  std::string take() {
    begin();
    describe_tracks();
    for (std::uint32_t t = 0; t < run_.threads.size(); ++t)
      add_thread(t);
    add_counters();
    add_cpus();
    add_path();
    return std::move(bytes_);
  }

 private:
  // The trace is the packets one after the other, so it is never in memory as messages.
  void append(TracePacket& packet) {
    packet.set_trusted_packet_sequence_id(sequence);
    packet.set_sequence_flags(packet.sequence_flags() | TracePacket::NEEDS_INCREMENTAL_STATE);
    trace_.Clear();
    trace_.add_packet()->Swap(&packet);
    trace_.AppendToString(&bytes_);
    packet.Clear();
  }
  void begin() {
    TracePacket packet;
    packet.set_sequence_flags(TracePacket::INCREMENTAL_STATE_CLEARED);
    const std::pair<Category, const char*> categories[] = {{function_category, "function"},
                                                           {wait_category, "wait"},
                                                           {call_category, "call"},
                                                           {cpu_category, "cpu"},
                                                           {path_category, "critical path"}};
    for (const auto& [iid, name] : categories) {
      perfetto::InternedName& category = *packet.mutable_interned_data()->add_event_categories();
      category.set_iid(iid);
      category.set_name(name);
    }
    append(packet);
  }
  void describe(std::uint64_t uuid, const std::string& name, bool is_counter) {
    TracePacket packet;
    perfetto::TrackDescriptor& track = *packet.mutable_track_descriptor();
    track.set_uuid(uuid);
    track.set_parent_uuid(process_track);
    track.set_name(name);
    if (is_counter)
      track.mutable_counter()->set_unit(perfetto::CounterDescriptor::UNIT_COUNT);
    append(packet);
  }
  void describe_tracks() {
    TracePacket packet;
    perfetto::TrackDescriptor& track = *packet.mutable_track_descriptor();
    track.set_uuid(process_track);
    track.set_name(fmt::format("{}, {}", run_.program, run_.made_by));
    track.mutable_process()->set_pid(process_id);
    track.mutable_process()->set_process_name(track.name());
    for (const std::string& word : recording_.run.command)
      track.mutable_process()->add_cmdline(word);
    append(packet);
    describe(running_track, "threads that run", true);
    describe(runnable_track, "threads that wait for a CPU", true);
    if (run_.simulated)
      describe(path_track, "critical path", false);
    for (std::uint32_t t = 0; t < run_.threads.size(); ++t) {
      perfetto::TrackDescriptor& of_thread = *packet.mutable_track_descriptor();
      of_thread.set_uuid(first_thread_track + t);
      of_thread.set_parent_uuid(process_track);
      of_thread.mutable_thread()->set_pid(process_id);
      // The first is what the program began with, and has the number of the process.
      of_thread.mutable_thread()->set_tid(process_id + static_cast<std::int32_t>(t));
      of_thread.mutable_thread()->set_thread_name(recording_.threads[t].name);
      append(packet);
    }
  }

  static TrackEvent& event(TracePacket& packet, Nanoseconds time, std::uint64_t track,
                           TrackEvent::Type type) {
    packet.set_timestamp(static_cast<std::uint64_t>(time.count()));
    TrackEvent& event = *packet.mutable_track_event();
    event.set_track_uuid(track);
    event.set_type(type);
    return event;
  }
  void name(TracePacket& packet, const std::string& text, Category category) {
    const auto [at, is_new] = names_.try_emplace(text, names_.size() + 1);
    if (is_new) {
      perfetto::InternedName& name = *packet.mutable_interned_data()->add_event_names();
      name.set_iid(at->second);
      name.set_name(text);
    }
    packet.mutable_track_event()->set_name_iid(at->second);
    packet.mutable_track_event()->add_category_iids(category);
  }
  void place(TracePacket& packet, StackId stack) {
    if (!stack.known())
      return;
    const Stack& frame = recording_.stacks[stack.index()];
    if (!frame.file.known())
      return;
    const auto [at, is_new] = places_.try_emplace(
        {frame.file.value, frame.line, frame.function.value}, places_.size() + 1);
    if (is_new) {
      perfetto::SourceLocation& place = *packet.mutable_interned_data()->add_source_locations();
      place.set_iid(at->second);
      place.set_file_name(recording_.files[frame.file.index()].path);
      place.set_function_name(recording_.functions[frame.function.index()].name);
      place.set_line_number(frame.line);
    }
    packet.mutable_track_event()->set_source_location_iid(at->second);
  }
  void end_slice(Nanoseconds time, std::uint64_t track) {
    TracePacket packet;
    event(packet, time, track, TrackEvent::SLICE_END);
    append(packet);
  }
  void begin_slice(Nanoseconds time, std::uint64_t track, const std::string& text,
                   Category category, StackId at) {
    TracePacket packet;
    event(packet, time, track, TrackEvent::SLICE_BEGIN);
    name(packet, text, category);
    place(packet, at);
    append(packet);
  }

  // A slice of the flame chart that has not ended.
  struct Open {
    FunctionId function;  // none: a state
    StackId at;
    std::string state;

    [[nodiscard]] bool goes_on_as(const Open& other) const {
      return function == other.function && state == other.state;
    }
  };

  void add_thread(std::uint32_t thread) {
    const std::uint64_t track = first_thread_track + thread;
    std::vector<Open> open;
    std::vector<Open> next;
    Instants instants = instants_of(thread);
    Nanoseconds at{};
    const auto change = [&](Nanoseconds time) {
      std::size_t same = 0;
      while (same < open.size() && same < next.size() && open[same].goes_on_as(next[same]))
        ++same;
      for (std::size_t i = open.size(); i > same; --i)
        end_slice(time, track);
      for (std::size_t i = same; i < next.size(); ++i) {
        const bool is_state = !next[i].function.known();
        begin_slice(time, track,
                    is_state ? next[i].state : recording_.functions[next[i].function.index()].name,
                    is_state ? wait_category : function_category, next[i].at);
      }
      open = next;
    };
    for (const Piece& piece : pieces_of(run_, thread)) {
      if (piece.start > at && !open.empty()) {
        add_instants(thread, instants, at);
        next.clear();
        change(at);
      }
      add_instants(thread, instants, piece.start);
      next.clear();
      for (StackId id = piece.stack; id.known(); id = recording_.stacks[id.index()].caller)
        next.push_back({recording_.stacks[id.index()].function, id, {}});
      std::reverse(next.begin(), next.end());
      if (std::string state = state_text(run_, thread, piece); !state.empty())
        next.push_back({FunctionId::none(), StackId::none(), std::move(state)});
      change(piece.start);
      at = piece.end;
    }
    add_instants(thread, instants, run_.total);
    next.clear();
    change(at);
  }

  // What a thread does and what is done to it, in order of time.
  struct Instants {
    std::size_t call = 0;
    std::size_t wake = 0;
    std::size_t last_wake = 0;
  };
  Instants instants_of(std::uint32_t thread) {
    if (flows_.empty()) {
      for (std::size_t i = 0; i < run_.wakes.size(); ++i)
        flows_[{run_.wakes[i].from, run_.wakes[i].event}].push_back(i + 1);
    }
    const auto [first, last] =
        std::equal_range(run_.wakes.begin(), run_.wakes.end(), Wake{0, 0, {}, thread, {}},
                         [](const Wake& a, const Wake& b) { return a.to < b.to; });
    return {0, static_cast<std::size_t>(first - run_.wakes.begin()),
            static_cast<std::size_t>(last - run_.wakes.begin())};
  }
  // Those up to a time, so that they stand within what goes on there.
  void add_instants(std::uint32_t thread, Instants& instants, Nanoseconds up_to) {
    const std::vector<Call>& calls = run_.threads[thread].calls;
    const std::vector<Event>& events = recording_.threads[thread].events;
    for (;;) {
      const Wake* const wake =
          instants.wake < instants.last_wake && run_.wakes[instants.wake].to_time <= up_to
              ? &run_.wakes[instants.wake]
              : nullptr;
      const Call* const call = instants.call < calls.size() && calls[instants.call].time <= up_to
                                   ? &calls[instants.call]
                                   : nullptr;
      if (wake == nullptr && call == nullptr)
        return;
      TracePacket packet;
      const bool takes_call = call != nullptr && (wake == nullptr || call->time <= wake->to_time);
      TrackEvent& instant = event(packet, takes_call ? call->time : wake->to_time,
                                  first_thread_track + thread, TrackEvent::INSTANT);
      if (takes_call) {
        name(packet, analysis::call_text(recording_, events[call->event]), call_category);
        place(packet, events[call->event].site);
        const auto found = flows_.find({thread, call->event});
        if (found != flows_.end()) {
          for (const std::uint64_t flow : found->second)
            instant.add_flow_ids(flow);
        }
        ++instants.call;
      } else {
        const Event& by = recording_.threads[wake->from].events[wake->event];
        name(packet,
             fmt::format("let go by {}: {}", recording_.threads[wake->from].name,
                         analysis::call_text(recording_, by)),
             call_category);
        ++instants.wake;
        instant.add_terminating_flow_ids(instants.wake);
      }
      append(packet);
    }
  }

  void add_counters() {
    struct Change {
      std::int32_t running = 0;
      std::int32_t runnable = 0;
    };
    std::map<Nanoseconds, Change> changes;
    for (const RunThread& thread : run_.threads) {
      for (const Stretch& stretch : thread.stretches) {
        if (stretch.start == stretch.end ||
            (stretch.state != SpanState::running && stretch.state != SpanState::runnable))
          continue;
        const bool runs = stretch.state == SpanState::running;
        auto& from = changes[stretch.start];
        ++(runs ? from.running : from.runnable);
        auto& to = changes[stretch.end];
        --(runs ? to.running : to.runnable);
      }
    }
    std::int64_t running = 0;
    std::int64_t runnable = 0;
    const auto add = [&](Nanoseconds time, std::uint64_t track, std::int64_t value) {
      TracePacket packet;
      event(packet, time, track, TrackEvent::COUNTER).set_counter_value(value);
      append(packet);
    };
    for (const auto& [time, change] : changes) {
      running += change.running;
      runnable += change.runnable;
      if (change.running != 0)
        add(time, running_track, running);
      if (change.runnable != 0)
        add(time, runnable_track, runnable);
    }
  }

  void add_cpus() {
    struct Turn {
      std::uint32_t cpu = 0;
      Nanoseconds start{};
      Nanoseconds end{};
      std::uint32_t thread = 0;
    };
    std::vector<Turn> turns;
    for (std::uint32_t t = 0; t < run_.threads.size(); ++t) {
      for (const Stretch& stretch : run_.threads[t].stretches) {
        if (stretch.cpu == simulation::no_cpu || stretch.start == stretch.end)
          continue;
        if (!turns.empty() && turns.back().thread == t && turns.back().cpu == stretch.cpu &&
            turns.back().end == stretch.start)
          turns.back().end = stretch.end;
        else
          turns.push_back({stretch.cpu, stretch.start, stretch.end, t});
      }
    }
    std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
      return std::pair(a.cpu, a.start) < std::pair(b.cpu, b.start);
    });
    std::uint32_t described = simulation::no_cpu;
    for (const Turn& turn : turns) {
      const std::uint64_t track = first_cpu_track + turn.cpu;
      if (described != turn.cpu)
        describe(track, fmt::format("CPU {}", turn.cpu), false);
      described = turn.cpu;
      begin_slice(turn.start, track, recording_.threads[turn.thread].name, cpu_category, {});
      end_slice(turn.end, track);
    }
  }

  void add_path() {
    for (const analysis::PathPart& part : run_.path) {
      begin_slice(part.start, path_track, recording_.threads[part.thread].name, path_category, {});
      end_slice(part.end, path_track);
    }
  }

  const Run& run_;
  const Recording& recording_;
  perfetto::Trace trace_;
  std::string bytes_;
  std::unordered_map<std::string, std::uint64_t> names_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint64_t> places_;
  // By the thread and its call that lets others go.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>> flows_;
};

}  // namespace

std::string perfetto_trace(const Run& run) {
  return Trace(run).take();
}

}  // namespace longpole::exporting
