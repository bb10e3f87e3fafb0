#include "recording/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "recording/barrier_completions.h"
#include "recording/lockstep_advice.h"
#include "recording/notices.h"
#include "recording/polls.h"
#include "recording/portable_times.h"
#include "recording/raw_chunks.h"
#include "recording/thread_attributes.h"
#include "recording/thread_events.h"
#include "recording/wakers.h"

namespace longpole::recording {
namespace {

constexpr std::int64_t always = 0;

std::int64_t computed_by(const std::vector<MergedThread>& threads) {
  std::int64_t sum = 0;
  for (const MergedThread& thread : threads)
    for (const Event& event : thread.events)
      sum += event.cpu.count();
  return sum;
}

// What the control says, which may have been damaged, within what can be.
RecordCosts costs_of(const longpole_control& control) {
  constexpr std::uint64_t longest_ps = 1'000'000'000;
  const std::uint64_t cost_ps = std::min(control.cost_ps, longest_ps);
  const std::uint64_t exposed_ps =
      control.exposed_ps <= 0 || control.exposed_times == 0
          ? 0
          : static_cast<std::uint64_t>(control.exposed_ps) / control.exposed_times;
  return RecordCosts(cost_ps, std::min(control.hidden_ps, cost_ps),
                     std::min(exposed_ps, LONGPOLE_MOST_EXPOSED * cost_ps));
}

class Merger {
 public:
  explicit Merger(const MergeInput& input);
  Expected<MergedRun> merge();

 private:
  void survey();
  void choose_threads();
  void find_times();
  void measure_costs();
  void make_events();
  void add_unrecorded_tasks();
  void find_wake_ups();
  ThreadId of_tid(std::int32_t tid, std::int64_t time) const;
  std::uint32_t site_of_path(std::uint32_t path);
  void link_creations();
  static void start_at_birth(MergedThread& thread, std::int64_t born);
  void fill_run_info();
  ThreadId of_handle(std::uint64_t handle, std::int64_t time) const;

  const MergeInput& input_;
  MergeContext context_;
  RawEvents raw_;
  PathTable paths_;
  std::map<std::uint32_t, std::int64_t> created_at_;    // by thread number
  std::map<std::uint32_t, std::int64_t> first_record_;  // by thread number
  std::map<std::uint32_t, ThreadId> ids_;               // by thread number
  std::map<std::uint64_t, std::vector<std::pair<std::int64_t, ThreadId>>> handles_;
  std::vector<ThreadTimes> times_;  // by ThreadId
  std::vector<std::int64_t> born_;  // by ThreadId
  std::multimap<std::int32_t, std::uint32_t> by_tid_;
  std::vector<bool> task_taken_;
  std::uint64_t futex_waits_ = 0;
  MergedRun run_;
};

Merger::Merger(const MergeInput& input)
    : input_(input),
      context_{.clock = StampClock([&] {
                 std::vector<ClockPair> pairs = input.result.clock_pairs;
                 pairs.push_back({input.control.start.tsc, input.control.start.monotonic_ns});
                 return pairs;
               }()),
               .base_ns = input.result.started_ns,
               .end_ns = input.result.ended_ns - input.result.started_ns,
               .costs = costs_of(input.control),
               .function_cost_ps = input.control.function_cost_ps,
               .wait_cost_ps = input.control.wait_cost_ps,
               .interruptible_cost_ps = input.control.interruptible_cost_ps,
               .kernel_entry_cost_ps = input.control.kernel_entry_cost_ps,
               .kernel_entries = {},
               .objects = {},
               .sites = {},
               .functions = {},
               .created_thread = {},
               .thread_of_handle = {},
               .signals = {},
               .channels = {},
               .futexes = {},
               .thread_of_tid = {},
               .addresses_of_path = {},
               .site_of_path = {},
               .wake_ups = {},
               .runtime_begin = input.control.runtime_begin,
               .runtime_end = input.control.runtime_end},
      raw_(read_raw_events(input.events, input.control.next_unit)),
      paths_(input.kernel.paths) {}

// What must be known of all threads before the events of any one can be made.
void Merger::survey() {
  for (const RawThread& thread : raw_.threads) {
    bool waits = false;  // in a recorded call, which may well do so by a futex of its own
    thread.for_each_record([&](const longpole_record& record) {
      const std::int64_t time = context_.time_of(record.tsc);
      if (const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
          !waits_for_nobody_known(kind) && kind != LONGPOLE_YIELD && !tells_of_descriptors(kind))
        waits = (LONGPOLE_FLAGS(record.kind_and_flags) & LONGPOLE_BEGINS) != 0;
      first_record_.try_emplace(thread.number, time);
      switch (LONGPOLE_KIND(record.kind_and_flags)) {
        case LONGPOLE_CREATE:
          // A second record tells of its return.
          if (record.result == 0)
            created_at_.try_emplace(static_cast<std::uint32_t>(record.object), time);
          else
            created_at_.erase(static_cast<std::uint32_t>(record.object));
          break;
        case LONGPOLE_SEMAPHORE_INIT:
          if (record.result == 0)
            context_.objects.add_initialization(ObjectKind::semaphore, record.object, time,
                                                static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                                    other_of(record), unknown_count - 1)),
                                                context_.sites.add(record.site, {}));
          break;
        case LONGPOLE_BARRIER_INIT:
          if (record.result == 0)
            context_.objects.add_initialization(
                ObjectKind::barrier, record.object, time,
                static_cast<std::uint32_t>(
                    std::clamp<std::uint64_t>(other_of(record), 1, unknown_count - 1)),
                context_.sites.add(record.site, {}));
          break;
        case LONGPOLE_FUTEX_WAIT:
          if (!waits && (LONGPOLE_FLAGS(record.kind_and_flags) & LONGPOLE_RETURNS) == 0)
            ++futex_waits_;
          break;
        default:
          break;
      }
    });
  }
}

// Threads that recorded something, and those that were created and never got that far.
void Merger::choose_threads() {
  std::set<std::uint32_t> known;
  for (const RawThread& thread : raw_.threads)
    known.insert(thread.number);
  for (const auto& [number, time] : created_at_)
    if (!known.contains(number)) {
      RawThread lost;
      lost.number = number;
      raw_.threads.push_back(std::move(lost));
    }
  std::erase_if(raw_.threads, [&](const RawThread& thread) {
    return !first_record_.contains(thread.number) && !created_at_.contains(thread.number);
  });
  // The main thread first: one of a library's constructor may have been seen before it.
  const auto is_other = [this](const RawThread& thread) {
    return thread.tid != input_.control.pid;
  };
  std::sort(raw_.threads.begin(), raw_.threads.end(), [&](const RawThread& a, const RawThread& b) {
    return std::pair(is_other(a), a.number) < std::pair(is_other(b), b.number);
  });
  for (std::uint32_t i = 0; i < raw_.threads.size(); ++i) {
    const RawThread& thread = raw_.threads[i];
    ids_[thread.number] = ThreadId{i};
    const auto created = created_at_.find(thread.number);
    if (thread.handle != 0)
      handles_[thread.handle].emplace_back(created != created_at_.end() ? created->second : always,
                                           ThreadId{i});
  }
  for (auto& [handle, threads] : handles_)
    std::sort(threads.begin(), threads.end());
}

// The thread that had the handle at that time: the last that was created with it.
ThreadId Merger::of_handle(std::uint64_t handle, std::int64_t time) const {
  const auto found = handles_.find(handle);
  if (found == handles_.end())
    return ThreadId::none();
  const auto after = std::partition_point(found->second.begin(), found->second.end(),
                                          [time](const auto& one) { return one.first <= time; });
  return after == found->second.begin() ? ThreadId::none() : std::prev(after)->second;
}

void Merger::find_times() {
  task_taken_.assign(input_.kernel.tasks.size(), false);
  std::multimap<std::int32_t, std::size_t> tasks_of;  // of one number, in order of birth
  for (std::size_t i = 0; i < input_.kernel.tasks.size(); ++i)
    tasks_of.emplace(input_.kernel.tasks[i].tid, i);
  for (const RawThread& thread : raw_.threads) {
    const auto first = first_record_.find(thread.number);
    const auto created = created_at_.find(thread.number);
    if (!input_.result.kernel_source) {
      const std::int64_t before = thread.tid == input_.control.pid ? input_.cpu_before_ns : 0;
      times_.push_back(portable_times(thread, context_, input_.control.sample_hz, paths_, before));
      if (const auto delay = input_.run_delays.find(thread.tid); delay != input_.run_delays.end()) {
        // It begins with nothing waited for.
        times_.back().run_delay.add(times_.back().born, 0);
        for (const CpuCurve::Point& point : delay->second.points())
          times_.back().run_delay.add(point.time, point.cpu);
      }
    } else {
      // The life of its kernel thread that was under way at its first record.
      std::optional<std::size_t> task;
      const auto [begin, end] = tasks_of.equal_range(thread.tid);
      for (auto life = begin; life != end && first != first_record_.end(); ++life)
        if (!task_taken_[life->second] && input_.kernel.tasks[life->second].born <= first->second)
          task = life->second;
      if (!task) {
        times_.emplace_back();
        times_.back().born = first != first_record_.end() ? first->second : context_.end_ns;
        times_.back().died = context_.end_ns;
      } else {
        const Task& found = input_.kernel.tasks[*task];
        task_taken_[*task] = true;
        times_.push_back({found.born, found.died, found.cpu, found.gaps, found.samples, {}, {}});
      }
    }
    ThreadTimes& times = times_.back();
    if (created != created_at_.end())
      times.born = std::max(times.born, created->second);
    times.born =
        std::clamp<std::int64_t>(times.born, 0, std::max<std::int64_t>(context_.end_ns, 0));
  }
  if (!input_.result.kernel_source)
    find_portable_gaps(times_, input_.result.cpus == 1,
                       StolenTime(input_.result.stolen, input_.result.started_ns));
}

// Stamps of a second apart say how long one takes.
void Merger::measure_costs() {
  constexpr std::uint64_t many = 1'000'000'000;
  const std::uint64_t begin = input_.control.start.tsc;
  const auto ns = static_cast<double>(context_.time_of(begin + many) - context_.time_of(begin));
  context_.costs =
      RecordCosts::measure(raw_.threads, context_.costs, 1000 * ns / static_cast<double>(many));
}

void Merger::make_events() {
  context_.created_thread = [this](std::uint64_t number) {
    const auto found = ids_.find(static_cast<std::uint32_t>(number));
    return found != ids_.end() && created_at_.contains(found->first) ? found->second
                                                                     : ThreadId::none();
  };
  context_.thread_of_handle = [this](std::uint64_t handle, std::int64_t time) {
    return of_handle(handle, time);
  };
  context_.thread_of_tid = [this](std::int32_t tid, std::int64_t time) {
    return of_tid(tid, time);
  };
  context_.addresses_of_path = [this](std::uint32_t path) {
    return std::span<const std::uint64_t>(input_.kernel.paths[path]);
  };
  context_.site_of_path = [this](std::uint32_t path) { return site_of_path(path); };
  context_.signals = find_signal_edges(
      raw_.threads, {.time_of = [this](std::uint64_t stamp) { return context_.time_of(stamp); },
                     .thread_of_handle = context_.thread_of_handle,
                     .thread_of_tid = context_.thread_of_tid});
  context_.channels = find_channel_edges(
      raw_.threads, [this](std::uint64_t stamp) { return context_.time_of(stamp); });
  context_.futexes = find_futex_edges(
      raw_.threads, [this](std::uint64_t stamp) { return context_.time_of(stamp); },
      input_.is_barrier_wait);
  measure_costs();
  context_.kernel_entries = KernelEntries(raw_.threads);
  find_wake_ups();
  for (std::uint32_t i = 0; i < raw_.threads.size(); ++i)
    run_.threads.push_back(
        make_thread_events(ThreadId{i}, raw_.threads[i], context_, std::move(times_[i])));
  apply_thread_attributes(
      raw_.threads, [this](std::uint64_t stamp) { return context_.time_of(stamp); },
      context_.thread_of_handle, run_.threads);
}

// Threads that the kernel saw and the recorder did not: made without pthread_create, or busy in no
// recorded call.
void Merger::add_unrecorded_tasks() {
  for (std::size_t i = 0; i < input_.kernel.tasks.size(); ++i) {
    const Task& task = input_.kernel.tasks[i];
    if (task_taken_[i] || task.cpu.total() == 0)
      continue;
    RawThread raw;
    raw.tid = task.tid;
    raw_.threads.push_back(std::move(raw));
    times_.push_back({task.born, task.died, task.cpu, task.gaps, task.samples, {}, {}});
  }
}

// The waits of all threads say which wake-ups there were; then each can be told among what its thread
// did.
void Merger::find_wake_ups() {
  context_.wake_ups.resize(raw_.threads.size());
  if (!input_.kernel.has_wakes)
    return;
  for (std::uint32_t i = 0; i < raw_.threads.size(); ++i)
    static_cast<void>(make_thread_events(ThreadId{i}, raw_.threads[i], context_, times_[i]));
  for (std::size_t i = 0; i < raw_.threads.size(); ++i) {
    times_[i].wake_ups = std::exchange(context_.wake_ups[i], {});
    std::ranges::stable_sort(times_[i].wake_ups, {}, &WakeUp::time);
  }
  context_.unexplained_waits = 0;
  context_.unexplained_ns = 0;
}

ThreadId Merger::of_tid(std::int32_t tid, std::int64_t time) const {
  ThreadId best = ThreadId::none();
  const auto [first, last] = by_tid_.equal_range(tid);
  for (auto thread = first; thread != last; ++thread)
    if (born_[thread->second] <= time)
      best = ThreadId{thread->second};
  return best;
}

// The innermost address stands behind a system call; the frames further out are where to look for the
// user's own line.
std::uint32_t Merger::site_of_path(std::uint32_t path) {
  constexpr std::size_t most_candidates = 12;
  const std::vector<std::uint64_t>& addresses = input_.kernel.paths[path];
  std::vector<std::uint64_t> candidates(
      addresses.begin() + 1,
      addresses.begin() + static_cast<std::ptrdiff_t>(std::min(addresses.size(), most_candidates)));
  return context_.sites.add(addresses.front(), candidates);
}

// A thread that nobody is seen to create starts at 0: it waits until it was born.
void Merger::start_at_birth(MergedThread& thread, std::int64_t born) {
  if (born <= 0)
    return;
  Event wait;
  wait.kind = EventKind::external_wait;
  wait.duration = Nanoseconds{born};
  thread.events.insert(thread.events.begin(), wait);
  thread.sites.insert(thread.sites.begin(), no_site);
  for (MergedSample& sample : thread.samples)
    ++sample.event;
}

void Merger::link_creations() {
  for (std::uint32_t t = 0; t < run_.threads.size(); ++t)
    for (Event& event : run_.threads[t].events) {
      if (event.kind != EventKind::thread_create || event.subject == unknown_count)
        continue;
      MergedThread& created = run_.threads[event.subject];
      if (created.is_main || created.creator.known() || event.subject == t) {
        event.subject = unknown_count;  // two records name the same new thread: damage
        event.outcome = Outcome::failed;
      } else {
        created.creator = ThreadId{t};
      }
    }
}

void Merger::fill_run_info() {
  const Result& result = input_.result;
  RunInfo& run = run_.run;
  run.source = result.kernel_source ? Source::kernel : Source::portable;
  run.command = input_.command;
  run.directory = input_.directory;
  run.started_at_unix_ns = result.started_at_unix_ns;
  run.elapsed = Nanoseconds{std::max<std::int64_t>(context_.end_ns, 0)};
  run.cpu_time = Nanoseconds{std::max<std::int64_t>(result.cpu_time_ns, 0)};
  if (result.cpu_time_ns == 0)  // nobody looked at its clock in time
    for (const MergedThread& thread : run_.threads)
      for (const Event& event : thread.events)
        run.cpu_time += event.cpu;
  run.cpus = std::max(result.cpus, 1U);
  run.machine_cpus = std::max(result.machine_cpus, 1U);
  run.exit_status = result.exit_status;
  run.exit_signal = result.exit_signal;
  std::int64_t events = 0;
  std::int64_t taken_out_ns = input_.kernel.taken_out_ns;
  for (const MergedThread& thread : run_.threads) {
    events += static_cast<std::int64_t>(thread.events.size());
    taken_out_ns += thread.recording_ns;
  }
  run.cost_per_event = Nanoseconds{events > 0 ? (taken_out_ns + events / 2) / events : 0};
  run.sample_hz = result.sample_hz;
  run.costs = result.changes;
  run.complete = !result.stopped && !result.exit_signal && input_.ending == Ending::seen &&
                 input_.control.stop_reason == LONGPOLE_STOP_NONE;
  for (const MergedThread& thread : run_.threads)
    for (const MergedSample& sample : thread.samples)
      run.samples += sample.weight;
}

Expected<MergedRun> Merger::merge() {
  const std::string what = fmt::format(
      "cannot record {}", input_.command.empty() ? "the program" : input_.command.front());
  if (input_.control.version != LONGPOLE_RAW_VERSION)
    return failure(
        what,
        fmt::format(
            "the recorder writes version {} of its records, and this longpole reads version {}",
            input_.control.version, LONGPOLE_RAW_VERSION),
        "install both anew, from one build");
  if (input_.control.pid == 0 || raw_.threads.empty())
    return failure(what, "the recorder was not loaded into it",
                   "does it start another program, clear LD_PRELOAD or use a C library other than "
                   "glibc? Record the program that does the work directly");
  if (!context_.clock.usable())
    return failure("cannot merge the recording", "the launcher wrote down no clock");
  survey();
  choose_threads();
  find_times();
  add_unrecorded_tasks();
  for (std::uint32_t i = 0; i < times_.size(); ++i) {
    born_.push_back(times_[i].born);
    by_tid_.emplace(raw_.threads[i].tid, i);
  }
  make_events();
  if (!run_.threads.empty())
    run_.threads.front().is_main = raw_.threads.front().tid == input_.control.pid;
  link_creations();
  for (std::size_t i = 0; i < run_.threads.size(); ++i)
    if (!run_.threads[i].is_main && !run_.threads[i].creator.known())
      start_at_birth(run_.threads[i], born_[i]);
  split_completions(run_.threads, context_.objects,
                    [this](std::uint32_t path) { return input_.is_barrier_wait(paths_.at(path)); });
  find_wakers(run_.threads, context_.objects);
  run_.objects = std::move(context_.objects.objects());
  run_.sites = context_.sites.take();
  run_.paths = paths_.take();
  run_.functions = context_.functions.take();
  run_.function_depth = input_.control.function_depth;
  fill_run_info();
  const Polls polls = follow_polls(run_);
  run_.notices = notices_of(input_, {raw_.damaged, run_.threads.size() > 1, !run_.functions.empty(),
                                     futex_waits_, context_.unexplained_waits,
                                     context_.unexplained_ns, polls, computed_by(run_.threads)});
  run_.takes_turns = input_.result.cpus == 1 && input_.control.lockstep_cpus == 0;
  if (run_.takes_turns)
    for (Notice& notice : lockstep_advice(run_))
      run_.notices.push_back(std::move(notice));
  return std::move(run_);
}

}  // namespace

Expected<MergedRun> merge_run(const MergeInput& input) {
  return Merger(input).merge();
}

}  // namespace longpole::recording
