#include "recording/kernel_log.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "recording/perf_records.h"

namespace longpole::recording {
namespace {

// Between a thread's giving up a CPU and the next one's having it, when nothing came between.
constexpr std::int64_t handover_ns = 10'000;

// The process clock counts what the kernel does in exec and after the exit record as well; only
// where there are many switches can the difference be told to be theirs.
constexpr std::size_t many_intervals = 1000;
constexpr std::int64_t longest_switch_ns = 20'000;

struct Interval {
  std::int32_t tid = 0;
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t ready = 0;  // when it could have had the CPU, at the latest `in`
  bool blocked = false;    // gave up the CPU at `out` of its own accord
};

struct Moment {
  std::int32_t tid = 0;
  std::int64_t time = 0;

  friend auto operator<=>(const Moment&, const Moment&) = default;
};

enum class What : std::uint8_t { sample, waking, blocking };

struct Sampled {
  What what = What::sample;
  std::int32_t woken = 0;
  Moment moment;
  std::vector<std::uint64_t> chain;
  StackCopy stack;
};

class Reader {
 public:
  Reader(std::int32_t pid, std::int64_t base_ns, std::int64_t ended_ns,
         std::vector<TimedMapping> mapped_before)
      : pid_(pid), base_(base_ns), ended_(ended_ns - base_ns) {
    log_.mappings = std::move(mapped_before);
  }

  void read_cpu(std::span<const std::uint8_t> spool);
  void read_wakes(std::span<const std::uint8_t> spool, const Tracepoints& tracepoints);
  KernelLog finish(const RunTime& run, const KernelCosts& costs);

 private:
  [[nodiscard]] bool is_ours(const PerfRecord& record, std::int64_t time) const {
    return record.pid == pid_ && time >= 0 && time <= ended_;
  }
  void open(const PerfRecord& record, std::int64_t time);
  void close(std::int64_t time, bool blocked);
  void look_again(const PerfRecord& record, std::int64_t time);
  void take_sample(const PerfRecord& record, std::int64_t time, What what);
  void index_wakes();
  void explain(Gap& gap, std::int32_t tid);
  void unwind_samples();
  std::uint32_t path_id(const std::vector<std::uint64_t>& path);
  void make_tasks();
  void fill_tasks(const RunTime& run, const KernelCosts& costs);
  Task* task_at(std::int32_t tid, std::int64_t time);
  [[nodiscard]] std::int64_t cost_of_samples(const Interval& interval, const KernelCosts& costs,
                                             std::vector<Sampled>::const_iterator& next) const;

  std::int32_t pid_;
  std::int64_t base_;
  std::int64_t ended_;
  KernelLog log_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> path_ids_;

  // Of all CPUs.
  std::vector<Interval> intervals_;
  std::vector<Moment> births_;
  std::vector<Moment> deaths_;
  std::vector<Sampled> samples_;
  std::map<std::int32_t, std::vector<Task>> lives_;

  // Of one thread, in order of time: indices into samples_.
  static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();
  struct Moments {
    std::vector<std::size_t> at;
    std::size_t next = 0;
    std::size_t last = nowhere;
  };
  std::map<std::int32_t, Moments> wakings_;
  std::map<std::int32_t, Moments> blockings_;

  // Of the CPU being read.
  bool running_ = false;
  bool running_ours_ = false;
  Interval current_;
  std::optional<Interval> previous_;
  std::int64_t last_seen_ = 0;
  std::optional<std::int64_t> unseen_since_;  // records were lost behind what came then
};

void Reader::open(const PerfRecord& record, std::int64_t time) {
  if (running_)
    close(time, false);  // the record of its leaving was lost
  running_ = true;
  running_ours_ = record.pid == pid_;
  const bool waited_for_cpu = previous_ && previous_->blocked &&
                              previous_->out + handover_ns >= time && previous_->tid != record.tid;
  current_ = {record.tid, time, time, waited_for_cpu ? previous_->in : time, false};
}

void Reader::close(std::int64_t time, bool blocked) {
  if (!running_)
    return;
  running_ = false;
  current_.out = std::max(time, current_.in);
  current_.blocked = blocked;
  previous_ = current_;
  if (!running_ours_ || current_.out <= 0 || current_.in >= ended_)
    return;
  Interval within = current_;
  within.in = std::max<std::int64_t>(within.in, 0);
  within.ready = std::max<std::int64_t>(within.ready, 0);
  within.out = std::min(within.out, ended_);
  intervals_.push_back(within);
}

// The first record behind those that were lost: a thread that turns out to be on the CPU has had it since. That
// may be too much, and is scaled down with all the rest.
void Reader::look_again(const PerfRecord& record, std::int64_t time) {
  const bool is_running = record.kind == PerfRecord::Kind::switch_out ||
                          record.kind == PerfRecord::Kind::sample ||
                          record.kind == PerfRecord::Kind::exit;
  if (unseen_since_ && is_running && (!running_ || current_.tid != record.tid)) {
    close(*unseen_since_, false);
    open(record, *unseen_since_);
  }
  if (record.kind == PerfRecord::Kind::lost)
    unseen_since_ = unseen_since_.value_or(last_seen_);
  else if (is_running || record.kind == PerfRecord::Kind::switch_in)
    unseen_since_.reset();
  if (!unseen_since_)
    last_seen_ = time;
}

void Reader::take_sample(const PerfRecord& record, std::int64_t time, What what) {
  if (!is_ours(record, time) || (what == What::sample && record.addresses.empty()))
    return;
  samples_.push_back({what, record.woken, {record.tid, time}, record.addresses, record.stack});
}

void Reader::read_wakes(std::span<const std::uint8_t> spool, const Tracepoints& tracepoints) {
  PerfReader reader(spool, &tracepoints);
  while (const PerfRecord* record = reader.next()) {
    const std::int64_t time = record->time_ns - base_;
    if (record->kind == PerfRecord::Kind::waking)
      take_sample(*record, time, What::waking);
    else if (record->kind == PerfRecord::Kind::blocking)
      take_sample(*record, time, What::blocking);
    else if (record->kind == PerfRecord::Kind::lost)
      log_.lost += record->lost;
  }
  log_.has_wakes = true;
  log_.torn = log_.torn || reader.torn();
}

std::uint32_t Reader::path_id(const std::vector<std::uint64_t>& path) {
  const auto [place, is_new] =
      path_ids_.try_emplace(path, static_cast<std::uint32_t>(log_.paths.size()));
  if (is_new)
    log_.paths.push_back(path);
  return place->second;
}

// In order of time, as what is mapped changes.
void Reader::unwind_samples() {
  std::stable_sort(samples_.begin(), samples_.end(), [](const Sampled& a, const Sampled& b) {
    return a.moment.time < b.moment.time;
  });
  Unwinder unwinder;
  auto mapping = log_.mappings.begin();
  for (Sampled& sample : samples_) {
    if (sample.stack.bytes.empty())
      continue;
    for (; mapping != log_.mappings.end() && mapping->time <= sample.moment.time; ++mapping)
      unwinder.map(mapping->path.starts_with("//") ? "" : mapping->path, mapping->start,
                   mapping->end, mapping->file_offset);
    sample.chain = joined_path(unwinder.unwind(sample.stack), sample.chain);
  }
}

void Reader::read_cpu(std::span<const std::uint8_t> spool) {
  running_ = false;
  previous_.reset();
  unseen_since_.reset();
  last_seen_ = 0;
  PerfReader reader(spool);
  while (const PerfRecord* record = reader.next()) {
    const std::int64_t time = record->time_ns - base_;
    look_again(*record, time);
    switch (record->kind) {
      case PerfRecord::Kind::switch_in:
        ++log_.switches;
        open(*record, time);
        break;
      case PerfRecord::Kind::switch_out:
        if (running_ && current_.tid == record->tid)
          close(time, !record->preempted);
        break;
      case PerfRecord::Kind::exec:
        log_.execs += is_ours(*record, time) ? 1U : 0U;
        // The events are switched on by exec, with the thread on its CPU already.
        if (!running_)
          open(*record, time);
        break;
      case PerfRecord::Kind::fork:
        if (is_ours(*record, time))
          births_.push_back({record->tid, time});
        break;
      case PerfRecord::Kind::exit:
        if (is_ours(*record, time))
          deaths_.push_back({record->tid, time});
        if (running_ && current_.tid == record->tid)
          close(time, true);
        break;
      case PerfRecord::Kind::sample:
        take_sample(*record, time, What::sample);
        break;
      case PerfRecord::Kind::mapping:
        if (is_ours(*record, time))
          log_.mappings.push_back(
              {time, std::string(record->path), record->start, record->end, record->file_offset});
        break;
      case PerfRecord::Kind::waking:
      case PerfRecord::Kind::blocking:
        break;  // in spools of their own
      case PerfRecord::Kind::lost:
        log_.lost += record->lost;
        break;
    }
  }
  close(ended_, false);
  log_.torn = log_.torn || reader.torn();
}

// The life of `tid` that `time` falls into: the last that began before it.
Task* Reader::task_at(std::int32_t tid, std::int64_t time) {
  std::vector<Task>& lives = lives_[tid];
  const auto after =
      std::upper_bound(lives.begin(), lives.end(), time,
                       [](std::int64_t t, const Task& task) { return t < task.born; });
  if (after == lives.begin())
    return nullptr;
  return &*std::prev(after);
}

void Reader::make_tasks() {
  for (const Moment& birth : births_) {
    Task task;
    task.tid = birth.tid;
    task.born = birth.time;
    task.died = ended_;
    lives_[birth.tid].push_back(std::move(task));
  }
  // The thread that execs, and any whose birth record was lost, begin with their first interval.
  for (const Interval& interval : intervals_)
    if (task_at(interval.tid, interval.in) == nullptr) {
      Task task;
      task.tid = interval.tid;
      task.born = interval.in;
      task.died = ended_;
      std::vector<Task>& lives = lives_[interval.tid];
      lives.insert(lives.begin(), std::move(task));
    }
  for (const Moment& death : deaths_)
    if (Task* task = task_at(death.tid, death.time); task != nullptr)
      task->died = death.time;
}

// The last record of its sleep up to the gap, and the first of its waking in it: it may be woken when
// it has not quite left its CPU.
void Reader::explain(Gap& gap, std::int32_t tid) {
  if (const auto found = blockings_.find(tid); found != blockings_.end()) {
    Moments& moments = found->second;
    for (; moments.next < moments.at.size() &&
           samples_[moments.at[moments.next]].moment.time <= gap.from + handover_ns;
         ++moments.next)
      moments.last = moments.at[moments.next];
    if (moments.last != nowhere && samples_[moments.last].moment.time >= gap.from - handover_ns)
      gap.path = path_id(samples_[moments.last].chain);
  }
  const auto found = wakings_.find(tid);
  if (found == wakings_.end())
    return;
  Moments& moments = found->second;
  while (moments.next < moments.at.size() &&
         samples_[moments.at[moments.next]].moment.time < gap.from - handover_ns)
    ++moments.next;
  if (moments.next == moments.at.size() ||
      samples_[moments.at[moments.next]].moment.time > gap.until)
    return;
  const Sampled& waking = samples_[moments.at[moments.next++]];
  gap.ready = std::clamp(waking.moment.time, gap.from, std::max(gap.from, gap.until));
  gap.waker_tid = waking.moment.tid;
  gap.waker_path = waking.chain.empty() ? no_path : path_id(waking.chain);
}

void Reader::index_wakes() {
  std::vector<std::size_t> order(samples_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return samples_[a].moment.time < samples_[b].moment.time;
  });
  for (const std::size_t i : order)
    if (samples_[i].what == What::waking)
      wakings_[samples_[i].woken].at.push_back(i);
    else if (samples_[i].what == What::blocking)
      blockings_[samples_[i].moment.tid].at.push_back(i);
}

// Both are in order of thread and time.
std::int64_t Reader::cost_of_samples(const Interval& interval, const KernelCosts& costs,
                                     std::vector<Sampled>::const_iterator& next) const {
  std::int64_t cost = 0;
  for (; next != samples_.end() && next->moment <= Moment{interval.tid, interval.out}; ++next)
    if (next->moment >= Moment{interval.tid, interval.in})
      cost += next->what == What::sample ? costs.sample_ns : costs.tracepoint_ns;
  return cost;
}

void Reader::fill_tasks(const RunTime& run, const KernelCosts& costs) {
  std::vector<StolenTime::Run> lengths;
  std::int64_t sum = 0;
  for (const Interval& interval : intervals_) {
    lengths.push_back({interval.in, interval.out});
    sum += interval.out - interval.in;
  }
  const std::vector<std::int64_t> stolen = run.stolen.shared_out(lengths);
  const auto all_stolen =
      static_cast<double>(std::accumulate(stolen.begin(), stolen.end(), std::int64_t{0}));
  // Of what was stolen, and of what is left of each interval without that.
  double of_stolen = 0;
  double share = 1;
  if (run.cpu_time_ns > 0 && sum > run.cpu_time_ns) {
    const auto too_much = static_cast<double>(sum - run.cpu_time_ns);
    of_stolen = too_much < all_stolen ? too_much / all_stolen : 1;
    share =
        static_cast<double>(run.cpu_time_ns) / (static_cast<double>(sum) - of_stolen * all_stolen);
  }
  const bool changes_often = intervals_.size() >= many_intervals;
  std::int64_t per_switch = 0;
  if (changes_often && run.cpu_time_ns > sum)
    per_switch = std::min((run.cpu_time_ns - sum) / static_cast<std::int64_t>(intervals_.size()),
                          longest_switch_ns);

  Task* task_before = nullptr;
  const Interval* before = nullptr;
  auto next_sample = samples_.cbegin();
  for (std::size_t i = 0; i < intervals_.size(); ++i) {  // in order of thread and time
    const Interval& interval = intervals_[i];
    Task* task = task_at(interval.tid, interval.in);
    if (task == task_before && before->blocked)
      explain(task->gaps.emplace_back(
                  Gap{before->out,
                      std::clamp(interval.ready, before->out, std::max(before->out, interval.in)),
                      interval.in}),
              interval.tid);
    const std::int64_t used = task->cpu.total();
    task->cpu.add(interval.in, used);
    const double length = static_cast<double>(interval.out - interval.in) -
                          of_stolen * static_cast<double>(stolen[i]);
    const std::int64_t clocked = std::llround(length * share) + per_switch;
    const std::int64_t of_samples = cost_of_samples(interval, costs, next_sample);
    const std::int64_t of_switch = interval.blocked ? costs.sleep_ns : costs.switch_ns;
    const std::int64_t taken_out = std::min(clocked, (changes_often ? of_switch : 0) + of_samples);
    log_.taken_out_ns += taken_out;
    task->cpu.add(interval.out, used + clocked - taken_out);
    task_before = task;
    before = &interval;
  }
  for (const Sampled& sample : samples_)
    if (sample.what != What::sample)
      continue;
    else if (Task* task = task_at(sample.moment.tid, sample.moment.time); task != nullptr)
      task->samples.push_back({sample.moment.time, path_id(sample.chain), 1});
}

KernelLog Reader::finish(const RunTime& run, const KernelCosts& costs) {
  std::sort(births_.begin(), births_.end());
  std::sort(deaths_.begin(), deaths_.end());
  std::stable_sort(intervals_.begin(), intervals_.end(), [](const Interval& a, const Interval& b) {
    return std::pair(a.tid, a.in) < std::pair(b.tid, b.in);
  });
  std::stable_sort(log_.mappings.begin(), log_.mappings.end(),
                   [](const TimedMapping& a, const TimedMapping& b) { return a.time < b.time; });
  unwind_samples();
  std::stable_sort(samples_.begin(), samples_.end(),
                   [](const Sampled& a, const Sampled& b) { return a.moment < b.moment; });
  index_wakes();
  make_tasks();
  fill_tasks(run, costs);
  for (auto& [tid, lives] : lives_)
    for (Task& task : lives)
      log_.tasks.push_back(std::move(task));
  std::stable_sort(log_.tasks.begin(), log_.tasks.end(),
                   [](const Task& a, const Task& b) { return a.born < b.born; });
  return std::move(log_);
}

}  // namespace

KernelLog read_kernel_log(std::span<const std::span<const std::uint8_t>> spools, std::int32_t pid,
                          const RunTime& run, const std::optional<WakeSpools>& wakes,
                          std::vector<TimedMapping> mapped_before, const KernelCosts& costs) {
  Reader reader(pid, run.base_ns, run.ended_ns, std::move(mapped_before));
  for (const std::span<const std::uint8_t> spool : spools)
    reader.read_cpu(spool);
  if (wakes)
    for (const std::span<const std::uint8_t> spool : wakes->spools)
      reader.read_wakes(spool, wakes->tracepoints);
  return reader.finish(run, costs);
}

}  // namespace longpole::recording
