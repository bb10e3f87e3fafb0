// One CPU, fixed priorities, preemptive: what DESIGN section 6 runs a program file on to learn how
// it behaves. It leaves the recording that such a run would have given.
#include <algorithm>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "simulation/simulate.h"
#include "simulation/synchronization.h"

namespace longpole::simulation {
namespace {

class OneCpu {
 public:
  OneCpu(const Recording& recording, const Survey& survey)
      : recording_(recording),
        survey_(survey),
        recorded_(recording),
        // In order of arrival, a program could stand still that never does.
        synchronization_(recording, survey, {.readers_first = true}),
        threads_(recording.threads.size()) {
    // What is not come to has not been.
    for (Thread& thread : recorded_.threads) {
      for (Event& event : thread.events)
        event.outcome = Outcome::failed;
    }
  }

  // With the times of the run, and how many threads each signal and broadcast woke; none when the
  // program stands still. A call that was not come to failed.
  std::optional<Recording> run() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      if (!survey_.created[t])
        go_on(t, Next::runs);
    }
    for (;;) {
      if (runnable_.empty()) {
        if (waits_.empty())
          break;
        end_wait();
        continue;
      }
      const std::uint32_t thread = std::get<2>(*runnable_.begin());
      ThreadState& state = threads_[thread];
      if (!waits_.empty() && waits_.top().first < now_ + state.left) {
        state.left -= waits_.top().first - now_;
        end_wait();
        continue;
      }
      now_ += state.left;
      call(thread);
    }
    const bool stands_still =
        !exited_ && std::any_of(threads_.begin(), threads_.end(), [](const auto& state) {
          return state.blocked_in != nullptr && state.blocked_in->outcome != Outcome::unfinished;
        });
    if (stands_still)
      return std::nullopt;
    return std::move(recorded_);
  }

 private:
  struct ThreadState {
    std::uint32_t event = nobody;
    std::int64_t left = 0;   // of the current stretch of computing
    std::int64_t turn = 0;   // its place among the runnable ones of its priority
    std::uint64_t wait = 0;  // counts its waits: a cancelled one is none any more
    const Event* blocked_in = nullptr;
  };

  [[nodiscard]] const Event& event_of(std::uint32_t thread) const {
    return recording_.threads[thread].events[threads_[thread].event];
  }

  [[nodiscard]] Event& recorded_of(std::uint32_t thread) {
    return recorded_.threads[thread].events[threads_[thread].event];
  }

  [[nodiscard]] std::tuple<std::int64_t, std::int64_t, std::uint32_t> place(
      std::uint32_t thread) const {
    return {-std::int64_t{recording_.threads[thread].priority.value_or(0)}, threads_[thread].turn,
            thread};
  }

  void call(std::uint32_t thread) {
    const Event& event = event_of(thread);
    runnable_.erase(place(thread));
    Event& recorded = recorded_of(thread);
    recorded.time = Nanoseconds{now_};
    recorded.outcome = event.outcome;
    if (event.kind == EventKind::thread_end && synchronization_.exits(thread)) {
      exited_ = true;
      runnable_.clear();
      waits_ = {};
      return;
    }
    const Next next = synchronization_.call(thread, event);
    if (event.kind == EventKind::condition_signal || event.kind == EventKind::condition_broadcast) {
      if (event.other == unknown_count)
        recorded.other = synchronization_.woken();
    }
    go_on(thread, next, event.kind == EventKind::yield);
    let_go();
  }

  void end_wait() {
    const auto [time, waiter] = waits_.top();
    waits_.pop();
    now_ = std::max(now_, time);
    const auto [thread, wait] = waiter;
    if (threads_[thread].wait != wait)
      return;
    ++threads_[thread].wait;
    go_on(thread, synchronization_.wait_over(thread, event_of(thread)), true);
    let_go();
  }

  void let_go() {
    // By index, as on the ideal machine. NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < synchronization_.released().size(); ++i) {
      const Release release = synchronization_.released()[i];
      ++threads_[release.thread].wait;
      go_on(release.thread, release.next, true);
    }
  }

  void go_on(std::uint32_t thread, Next next, bool behind_others = true) {
    ThreadState& state = threads_[thread];
    state.blocked_in = nullptr;
    switch (next) {
      case Next::jumps:  // not in the direct model
      case Next::runs:
        if (state.event != nobody)
          recorded_of(thread).duration = Nanoseconds{now_} - recorded_of(thread).time;
        if (++state.event == recording_.threads[thread].events.size()) {
          synchronization_.out_of_events(thread);
          return;
        }
        state.left = event_of(thread).cpu.count();
        if (behind_others)
          state.turn = ++turns_;
        runnable_.insert(place(thread));
        return;
      case Next::waits:
        waits_.push({now_ + event_of(thread).duration.count(), {thread, state.wait}});
        return;
      case Next::retries:  // where locks are handed over, nobody does
      case Next::blocks:
        state.blocked_in = &event_of(thread);
        return;
      case Next::ends:
        if (event_of(thread).kind != EventKind::thread_end)
          recorded_of(thread).outcome = Outcome::unfinished;  // it was cancelled
        return;
    }
  }

  using Wait = std::pair<std::int64_t, std::pair<std::uint32_t, std::uint64_t>>;

  const Recording& recording_;
  const Survey& survey_;
  Recording recorded_;
  Synchronization synchronization_;
  std::vector<ThreadState> threads_;
  std::set<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> runnable_;
  std::priority_queue<Wait, std::vector<Wait>, std::greater<>> waits_;
  std::int64_t now_ = 0;
  std::int64_t turns_ = 0;
  bool exited_ = false;
};

}  // namespace

Recording with_known_condition_counts(Recording recording) {
  const Survey survey(recording);
  if (!survey.has_open_counts)
    return recording;
  // Standing still on one CPU need not be what the program does on many: then the conditions stay
  // open, and signals wake whoever waits.
  const std::optional<Recording> recorded = OneCpu(recording, survey).run();
  if (!recorded)
    return recording;
  for (std::size_t t = 0; t < recording.threads.size(); ++t) {
    for (std::size_t i = 0; i < recording.threads[t].events.size(); ++i) {
      Event& event = recording.threads[t].events[i];
      if (event.kind == EventKind::condition_signal || event.kind == EventKind::condition_broadcast)
        event.other = recorded->threads[t].events[i].other;
    }
  }
  return recording;
}

std::optional<WaitFors> pair_waits(const Recording& recording, const Models& models) {
  if (models.all_direct())
    return WaitFors();
  if (recording.run.source != Source::program)
    return WaitFors(recording, models);
  const Survey survey(recording);
  const std::optional<Recording> recorded = OneCpu(recording, survey).run();
  if (!recorded)
    return std::nullopt;
  return WaitFors(*recorded, models);
}

}  // namespace longpole::simulation
