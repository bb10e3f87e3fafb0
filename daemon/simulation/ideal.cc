#include <algorithm>
#include <bit>
#include <utility>

#include "simulation/simulate.h"
#include "simulation/synchronization.h"
#include "simulation/tournament.h"

namespace longpole::simulation {
namespace {

__extension__ using WideKey = unsigned __int128;

// A CPU for each thread: the next node is always that of the thread whose segment ends first, of
// those whose cause has been, at equal times that of the smallest thread id.
template <typename Key>
class IdealMachine {
 public:
  IdealMachine(const Recording& recording, const Survey& survey)
      : recording_(recording),
        survey_(survey),
        synchronization_(recording, survey),
        next_(recording.threads.size()),
        threads_(recording.threads.size()) {}

  Schedule run() {
    prepare();
    while (next_.somebody_comes() && !exited_)
      step(next_.thread(), next_.time());
    drop_unused();
    if (!exited_)
      find_deadlock();
    return std::move(schedule_);
  }

 private:
  static constexpr std::uint32_t most_running = (1U << 30U) - 1;
  enum class Doing : std::uint8_t { not_started, running, waiting, blocked, ended };
  struct ThreadState {
    const Event* events = nullptr;
    const Event* at = nullptr;  // the current one
    std::uint32_t event_count = 0;
    std::uint32_t event =
        nobody;                // index of the current one; the first comes when the thread starts
    SegmentIndex segment = 0;  // where its current segment goes
    SegmentIndex released_by = no_segment;
    std::int64_t start = 0;  // of the current segment
    Doing doing = Doing::not_started;
  };

  void prepare() {
    schedule_.thread_begin.reserve(threads_.size() + 1);
    SegmentIndex begin = 0;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const std::vector<Event>& events = recording_.threads[t].events;
      threads_[t].events = events.data();
      threads_[t].event_count = static_cast<std::uint32_t>(events.size());
      threads_[t].segment = begin;
      schedule_.thread_begin.push_back(begin);
      begin += threads_[t].event_count + survey_.fixed_waits[t];
    }
    schedule_.thread_begin.push_back(begin);
    schedule_.segments.resize(begin);
    schedule_.by_end.reserve(begin);
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      if (!survey_.created[t])
        go_on(t, Next::runs, no_segment, 0);
    }
    schedule_.running_at_start = running_;
  }

  SegmentIndex end_segment(std::uint32_t thread, std::int64_t now) {
    ThreadState& state = threads_[thread];
    const SegmentIndex node = state.segment++;
    schedule_.segments[node] = {.start = Nanoseconds{state.start},
                                .end = Nanoseconds{now},
                                .released_by = state.released_by,
                                .event = state.event,
                                .thread = ThreadId{thread},
                                .running = state.doing == Doing::running};
    schedule_.by_end.push_back(node);
    return node;
  }

  void step(std::uint32_t thread, std::int64_t now) {
    ThreadState& state = threads_[thread];
    const Event& event = *state.at;
    if (event.kind == EventKind::thread_end && synchronization_.exits(thread)) [[unlikely]] {
      exit(thread, now);
      return;
    }
    const SegmentIndex node = end_segment(thread, now);
    running_ -= state.doing == Doing::running ? 1U : 0U;
    const Next next = state.doing == Doing::running ? synchronization_.call(thread, event)
                                                    : synchronization_.wait_over(thread, event);
    go_on(thread, next, node, now);
    // By index: a thread that is let go and has nothing to do lets others go.
    // NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < synchronization_.released().size(); ++i) {
      const Release release = synchronization_.released()[i];
      go_on(release.thread, release.next, node, now);
    }
    schedule_.segments[node].running_after = running_ & most_running;
  }

  // All threads end. Those that are cut short count as running until the very end.
  void exit(std::uint32_t thread, std::int64_t now) {
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      const bool busy = threads_[t].doing == Doing::running || threads_[t].doing == Doing::waiting;
      if (t == thread || !busy || threads_[t].start == now)
        continue;
      Segment& segment = schedule_.segments[end_segment(t, now)];
      segment.cut = true;
      segment.running_after = running_ & most_running;
    }
    schedule_.segments[end_segment(thread, now)].running_after = 0;
    exited_ = true;
  }

  void go_on(std::uint32_t thread, Next next, SegmentIndex released_by, std::int64_t now) {
    ThreadState& state = threads_[thread];
    state.start = now;
    state.released_by = released_by;
    switch (next) {
      case Next::jumps:
        state.event = synchronization_.jumped_to(thread);
        [[fallthrough]];
      case Next::runs:
        if (++state.event == state.event_count) {
          synchronization_.out_of_events(thread);
          stand(thread, Doing::ended);
          return;
        }
        state.at = state.events + state.event;
        state.doing = Doing::running;
        ++running_;
        next_.set(thread, now + state.at->cpu.count());
        // So far ahead that it is there in time; an event may stand on two cache lines.
        __builtin_prefetch(state.events + std::min(state.event + 3, state.event_count));
        __builtin_prefetch(&schedule_.segments[state.segment] + 1, 1);
        return;
      case Next::waits:
        state.doing = Doing::waiting;
        next_.set(thread, now + state.at->duration.count());
        return;
      case Next::retries:  // where locks are handed over, nobody does
      case Next::blocks:
        stand(thread, Doing::blocked);
        return;
      case Next::ends:
        stand(thread, Doing::ended);
        return;
    }
  }

  void stand(std::uint32_t thread, Doing doing) {
    threads_[thread].doing = doing;
    next_.drop(thread);
  }

  // Closes the gaps behind threads that stood still, were cancelled or cut short.
  void drop_unused() {
    schedule_.total =
        schedule_.by_end.empty() ? Nanoseconds{} : schedule_.segments[schedule_.by_end.back()].end;
    if (schedule_.by_end.size() == schedule_.segments.size())
      return;
    std::vector<SegmentIndex> shift(threads_.size());
    SegmentIndex end = 0;
    std::vector<SegmentIndex> begins{0};
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      shift[t] = schedule_.thread_begin[t] - end;
      std::move(schedule_.segments.begin() + schedule_.thread_begin[t],
                schedule_.segments.begin() + threads_[t].segment, schedule_.segments.begin() + end);
      end += threads_[t].segment - schedule_.thread_begin[t];
      begins.push_back(end);
    }
    const auto moved = [&](SegmentIndex old) {
      const auto after =
          std::upper_bound(schedule_.thread_begin.begin(), schedule_.thread_begin.end() - 1, old);
      return old - shift[static_cast<std::size_t>(after - schedule_.thread_begin.begin()) - 1];
    };
    schedule_.segments.resize(end);
    for (Segment& segment : schedule_.segments) {
      if (segment.released_by != no_segment)
        segment.released_by = moved(segment.released_by);
    }
    for (SegmentIndex& segment : schedule_.by_end)
      segment = moved(segment);
    schedule_.thread_begin = std::move(begins);
  }

  void find_deadlock() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].doing == Doing::blocked)
        synchronization_.add_blocked(t, threads_[t].event,
                                     schedule_.segments[schedule_.thread_begin[t + 1] - 1].end,
                                     schedule_.deadlock);
    }
  }

  const Recording& recording_;
  const Survey& survey_;
  Synchronization synchronization_;
  Tournament<Key> next_;
  std::vector<ThreadState> threads_;
  std::uint32_t running_ = 0;
  bool exited_ = false;
  Schedule schedule_;
};

}  // namespace

Schedule simulate_ideal(const Recording& recording, const WaitFors* pairs) {
  const Survey survey(recording, pairs);
  // No time of a schedule is later than all computing and waiting one after the other.
  const int time_bits = 64 - std::countl_zero(static_cast<std::uint64_t>(survey.work.count()));
  if (time_bits + Tournament<std::uint64_t>::bits(recording.threads.size()) < 64)
    return IdealMachine<std::uint64_t>(recording, survey).run();
  return IdealMachine<WideKey>(recording, survey).run();
}

Schedule simulate_ideal(const Recording& recording) {
  Schedule direct = simulate_ideal(recording, nullptr);
  if (!direct.deadlock)
    return direct;
  for (const Model model : {Model::client_server, Model::strict}) {
    const std::optional<WaitFors> pairs = pair_waits(recording, {model, {}});
    if (!pairs)
      break;
    Schedule schedule = simulate_ideal(recording, &*pairs);
    schedule.model = model;
    if (!schedule.deadlock)
      return schedule;
  }
  return direct;
}

}  // namespace longpole::simulation
