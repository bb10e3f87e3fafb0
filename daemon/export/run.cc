#include "export/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulation/recorded_order.h"
#include "trace/event_forms.h"

namespace longpole::exporting {

using analysis::Execution;
using analysis::ExecutionPart;
using analysis::no_part;
using analysis::PartIndex;
using analysis::Span;
using analysis::SpanState;

namespace {

SpanState state_of_wait(EventKind kind) {
  switch (kind) {
    case EventKind::sleep:
      return SpanState::sleeping;
    case EventKind::io:
    case EventKind::external_wait:
      return SpanState::io;
    default:
      return SpanState::blocked;
  }
}

// When each thread was created, as far as that is recorded.
std::vector<std::optional<Nanoseconds>> creations(const Recording& recording) {
  std::vector<std::optional<Nanoseconds>> created(recording.threads.size());
  for (const Thread& thread : recording.threads) {
    for (const Event& event : thread.events) {
      if (event.kind == EventKind::thread_create && event.thread().known())
        created[event.thread().index()] = event.time;
    }
  }
  return created;
}

RunThread recorded_thread(const Thread& thread, std::optional<Nanoseconds> created) {
  RunThread out;
  if (thread.events.empty())
    return out;
  const Event& first = thread.events.front();
  Nanoseconds at = created.value_or(std::max(Nanoseconds{}, first.time - first.cpu));
  const auto add = [&](Nanoseconds start, Nanoseconds end, std::size_t event, SpanState state) {
    const Nanoseconds work = state == SpanState::running ? thread.events[event].cpu : Nanoseconds{};
    if (start < end || work > Nanoseconds{})
      out.stretches.push_back(
          {start, end, work, 0, static_cast<std::uint32_t>(event), simulation::no_cpu, state});
  };
  for (std::size_t i = 0; i < thread.events.size(); ++i) {
    const Event& event = thread.events[i];
    at = std::min(at, event.time);  // a call may be said to have taken longer than it can have
    const Nanoseconds computes = event.time - std::min(event.cpu, event.time - at);
    add(at, computes, i, SpanState::runnable);
    add(computes, event.time, i, SpanState::running);
    if (analysis::is_shown_call(event.kind))
      out.calls.push_back({event.time, static_cast<std::uint32_t>(i)});
    at = event.time + event.duration;
    add(event.time, at, i, state_of_wait(event.kind));
  }
  return out;
}

class Wakes final : public simulation::EnablingConsumer {
 public:
  explicit Wakes(const Recording& recording) : recording_(recording) {}

  void enabled(std::uint32_t thread, std::uint32_t event, simulation::Releaser releaser) override {
    if (releaser.thread < recording_.threads.size())
      add(releaser.thread, releaser.event, thread, event);
  }
  void polled(std::uint32_t /*thread*/, std::uint32_t /*event*/,
              simulation::Releaser /*releaser*/) override {}
  void joined(std::uint32_t thread, std::uint32_t event, std::uint32_t target) override {
    const std::size_t calls = recording_.threads[target].events.size();
    if (calls > 0)
      add(target, static_cast<std::uint32_t>(calls - 1), thread, event);
  }
  void arrived(std::uint32_t thread, std::uint32_t event, std::uint32_t generation) override {
    if (generation >= arrived_.size())
      arrived_.resize(generation + std::size_t{1});
    arrived_[generation].push_back({thread, event});
  }

  std::vector<Wake> take() {
    // Who came last let the others go.
    for (const auto& together : arrived_) {
      const auto last =
          std::max_element(together.begin(), together.end(), [&](const auto& a, const auto& b) {
            return std::pair(call(a).time, a.thread) < std::pair(call(b).time, b.thread);
          });
      for (const simulation::Releaser& one : together) {
        if (one.thread != last->thread)
          add(last->thread, last->event, one.thread, one.event);
      }
    }
    std::sort(wakes_.begin(), wakes_.end(), [](const Wake& a, const Wake& b) {
      return std::tie(a.to, a.to_time, a.from_time) < std::tie(b.to, b.to_time, b.from_time);
    });
    return std::move(wakes_);
  }

 private:
  [[nodiscard]] const Event& call(const simulation::Releaser& of) const {
    return recording_.threads[of.thread].events[of.event];
  }
  void add(std::uint32_t from, std::uint32_t by, std::uint32_t to, std::uint32_t event) {
    const Event& waits = recording_.threads[to].events[event];
    const Event& lets_go = recording_.threads[from].events[by];
    const Nanoseconds goes_on = waits.time + waits.duration;
    if (from != to && waits.duration > Nanoseconds{} && lets_go.time <= goes_on)
      wakes_.push_back({from, by, lets_go.time, to, goes_on});
  }

  const Recording& recording_;
  std::vector<std::vector<simulation::Releaser>> arrived_;  // by generation
  std::vector<Wake> wakes_;
};

RunThread simulated_thread(const Execution& execution, std::uint32_t thread,
                           std::vector<Wake>& wakes) {
  RunThread out;
  execution.spans(thread, Nanoseconds{-1}, [&](const Span& span) {
    Stretch stretch{span.start, span.end, {}, 0, span.event, simulation::no_cpu, span.state};
    if (span.part != no_part && span.is_of_part) {
      const Nanoseconds length = execution.length_of(span.part);
      stretch.critical_ns = execution.weight(span.part) * static_cast<double>(length.count());
      if (span.state == SpanState::running) {
        stretch.work = length;
        stretch.cpu = execution.cpu_of(span.part);
      }
    }
    out.stretches.push_back(stretch);
    return true;
  });
  for (PartIndex index = execution.begin(thread); index < execution.end(thread); ++index) {
    const bool is_call = execution.shown_call(index) != 0;
    const PartIndex by = execution.released_by(index);
    const bool wakes_it =
        by != no_part && (by < execution.begin(thread) || by >= execution.end(thread));
    if (!is_call && !wakes_it)
      continue;
    const ExecutionPart part = execution.part(index);
    if (is_call)
      out.calls.push_back({part.end, part.event});
    if (wakes_it) {
      const ExecutionPart waker = execution.part(by);
      wakes.push_back({waker.thread, waker.event, waker.end, thread, part.ready});
    }
  }
  return out;
}

}  // namespace

Run recorded_run(std::shared_ptr<const Recording> recording, std::string program) {
  Run run;
  run.program = std::move(program);
  run.made_by =
      fmt::format("recorded on {} CPU{}", recording->run.cpus, recording->run.cpus == 1 ? "" : "s");
  run.has_axis = recording->run.source != Source::program;
  const auto created = creations(*recording);
  for (std::size_t t = 0; t < recording->threads.size(); ++t) {
    run.threads.push_back(recorded_thread(recording->threads[t], created[t]));
    if (!run.threads.back().stretches.empty())
      run.total = std::max(run.total, run.threads.back().stretches.back().end);
  }
  if (run.has_axis) {
    Wakes wakes(*recording);
    simulation::RecordedOrder(*recording, wakes).run();
    run.wakes = wakes.take();
  }
  run.recording = std::move(recording);
  return run;
}

Run simulated_run(const Execution& execution, std::string program, const std::string& scheduler) {
  Run run;
  run.recording = execution.shared_recording();
  run.program = std::move(program);
  run.made_by = fmt::format("simulated on {} CPU{}, scheduler {}", execution.cpus(),
                            execution.cpus() == 1 ? "" : "s", scheduler);
  run.simulated = true;
  run.total = execution.total();
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t)
    run.threads.push_back(simulated_thread(execution, t, run.wakes));
  run.path = execution.path().parts();
  return run;
}

}  // namespace longpole::exporting
