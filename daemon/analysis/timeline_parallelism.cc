// The threads that run and want to in a timeline, all of them together.
#include <algorithm>
#include <future>
#include <vector>

#include "analysis/timeline.h"

namespace longpole::analysis {
namespace {

// Brings the spans of all threads into one order, a slice of the run at a time.
class ParallelismSweep {
 public:
  // Of the run from then on.
  ParallelismSweep(const Execution& execution, std::int64_t from)
      : execution_(execution), from_(from) {
    const SpanIndex& index = execution.index();
    for (std::uint32_t t = 0; t < execution.thread_count(); ++t) {
      if (index.first_block(t) == index.last_block(t))
        continue;
      Row& row = rows_.emplace_back(
          Row{SpanIndex::Reader(index, t, index.block_at(t, std::max<std::int64_t>(from - 1, 0)))});
      row.is_there = row.reader.next();
      collect(row, from);
    }
    for (const Change& change : changes_)
      apply(change);
  }

  // Goes on up to `to`, which itself is not of it, in slices that are so long.
  void go_to(std::int64_t to, std::int64_t slice) {
    for (std::int64_t at = from_; at < to;) {
      at = std::min(at + slice, to);
      changes_.clear();
      for (Row& row : rows_)
        collect(row, at);
      std::sort(changes_.begin(), changes_.end(),
                [](const Change& a, const Change& b) { return a.time < b.time; });
      for (std::size_t i = 0; i < changes_.size(); ++i) {
        if (!has_begun_ && changes_[i].time > from_)
          begin();
        apply(changes_[i]);
        if (has_begun_ && (i + 1 == changes_.size() || changes_[i + 1].time != changes_[i].time))
          index_.add(changes_[i].time, shown());
      }
    }
    if (!has_begun_)
      begin();
  }
  [[nodiscard]] ParallelismIndex take() { return std::move(index_); }

 private:
  struct Change {
    std::int64_t time;
    std::uint32_t running;  // more, modulo 2^32
    std::uint32_t runnable;
  };
  struct Row {
    SpanIndex::Reader reader;
    std::uint32_t running = 0;
    std::uint32_t runnable = 0;
    bool is_there = true;
  };

  // What changes in the row before `until`.
  void collect(Row& row, std::int64_t until) {
    while (row.is_there && row.reader.start < until) {
      // What has no length changes nothing.
      if (row.reader.end > row.reader.start)
        change(row, row.reader.start, row.reader.state == SpanState::running ? 1 : 0,
               row.reader.state == SpanState::runnable ? 1 : 0);
      row.is_there = row.reader.next();
    }
    if (!row.is_there && row.reader.end < until && row.reader.end < execution_.total().count())
      change(row, row.reader.end, 0, 0);
  }
  void change(Row& row, std::int64_t time, std::uint32_t running, std::uint32_t runnable) {
    if (running != row.running || runnable != row.runnable)
      changes_.push_back({time, running - row.running, runnable - row.runnable});
    row.running = running;
    row.runnable = runnable;
  }
  void apply(const Change& change) {
    active_.running += change.running;
    active_.runnable += change.runnable;
  }
  [[nodiscard]] ActiveThreads shown() const {
    if (!execution_.shares())
      return active_;
    const std::uint32_t running = std::min(active_.running, execution_.cpus());
    return {running, active_.running - running};
  }
  // With what there is before the first change behind the beginning.
  void begin() {
    index_.add(from_, shown());
    has_begun_ = true;
  }

  const Execution& execution_;
  std::int64_t from_;
  std::vector<Row> rows_;
  std::vector<Change> changes_;
  ActiveThreads active_;
  bool has_begun_ = false;
  ParallelismIndex index_;
};

}  // namespace

// On two CPUs, half of the run on each.
void Timeline::find_parallelism() {
  // Few enough to be sorted near the CPU, and several of each thread.
  constexpr std::size_t least_parts_of_a_slice = 4096;
  constexpr std::size_t parts_of_a_thread = 16;
  const std::size_t threads = execution_->thread_count();
  const std::size_t parts =
      threads == 0 ? 0 : execution_->end(static_cast<std::uint32_t>(threads) - 1);
  const std::size_t parts_of_a_slice =
      std::max(least_parts_of_a_slice, parts_of_a_thread * threads);
  const std::int64_t total = execution_->total().count();
  const std::int64_t slice = total / static_cast<std::int64_t>(parts / parts_of_a_slice + 1) + 1;
  const auto between = [&](std::int64_t from, std::int64_t to) {
    ParallelismSweep sweep(*execution_, from);
    sweep.go_to(to, slice);
    return sweep.take();
  };
  const std::int64_t half = total / 2;
  if (half == 0) {
    parallelism_ = between(0, total + 1);
  } else {
    auto behind = std::async(std::launch::async, between, half, total + 1);
    parallelism_ = between(0, half);
    parallelism_.append(behind.get());
  }
  parallelism_.end(total);
}

std::vector<ParallelismPixel> Timeline::parallelism(const TimelineView& view) const {
  std::vector<std::int64_t> edges;
  edges.reserve(view.pixels + std::size_t{1});
  for (std::uint32_t i = 0; i <= view.pixels; ++i)
    edges.push_back(view.edge(i).count());
  const std::vector<ParallelismSummary> sums = parallelism_.between(edges);
  std::vector<ParallelismPixel> pixels(view.pixels);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto width = static_cast<double>(edges[i + 1] - edges[i]);
    // A pixel without a whole nanosecond looks as the one before.
    if (width > 0)
      pixels[i] = {sums[i].least, sums[i].most, sums[i].running_ns / width,
                   sums[i].runnable_ns / width};
    else if (i > 0)
      pixels[i] = pixels[i - 1];
  }
  return pixels;
}

TimelineLevels Timeline::levels(const TimelineView& view) const {
  TimelineLevels result;
  const Nanoseconds to = std::min(view.to, execution_->total());
  if (to <= view.from)
    return result;
  for (const auto& [active, time] : parallelism_.levels(view.from.count(), to.count())) {
    result.levels.push_back({active.running, active.runnable, Nanoseconds{time}});
    result.classes[static_cast<std::size_t>(concurrency_class(
        active.running + active.runnable, execution_->cpus()))] += Nanoseconds{time};
  }
  return result;
}

}  // namespace longpole::analysis
