#include "analysis/timeline.h"

#include <algorithm>
#include <future>
#include <utility>

namespace longpole::analysis {
namespace {

__extension__ using Wide = __int128;

// A time that can be multiplied by a number of pixels, or by whole_pixel, in 64 bits.
constexpr std::int64_t narrow = std::int64_t{1} << 48U;

}  // namespace

Nanoseconds TimelineView::edge(std::uint32_t pixel) const {
  const std::int64_t width = (to - from).count();
  if (width < narrow && pixels <= 1U << 14U) [[likely]]
    return from + Nanoseconds{width * pixel / pixels};
  return from + Nanoseconds{static_cast<std::int64_t>(Wide{width} * pixel / pixels)};
}

std::uint32_t TimelineView::pixel(Nanoseconds time) const {
  if (time >= to)
    return pixels - 1;
  const std::int64_t width = (to - from).count();
  const std::int64_t passed = (time - from).count() + 1;
  if (width < narrow && pixels <= 1U << 14U) [[likely]]
    return static_cast<std::uint32_t>((passed * pixels + width - 1) / width - 1);
  return static_cast<std::uint32_t>((Wide{passed} * pixels + width - 1) / width - 1);
}

Timeline::Timeline(std::shared_ptr<const Execution> execution)
    : execution_(std::move(execution)), critical_(execution_->thread_count(), 0) {
  auto critical = std::async(std::launch::async, [this] { find_critical(); });
  find_parallelism();
  critical.get();
}

void Timeline::find_critical() {
  for (std::uint32_t t = 0; t < execution_->thread_count(); ++t) {
    for (PartIndex index = execution_->begin(t); index < execution_->end(t); ++index)
      critical_[t] +=
          execution_->weight(index) * static_cast<double>(execution_->length_of(index).count());
  }
}

// The spans of all threads are brought into one order a slice of the run at a time.
void Timeline::find_parallelism() {
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
    bool has_ended = false;
  };
  // Few enough to be sorted near the CPU, and several of each thread.
  constexpr std::size_t least_parts_of_a_slice = 4096;
  constexpr std::size_t parts_of_a_thread = 16;
  const SpanIndex& index = execution_->index();
  const auto threads = static_cast<std::uint32_t>(execution_->thread_count());
  std::vector<Row> rows;
  std::size_t parts = 0;
  for (std::uint32_t t = 0; t < threads; ++t) {
    if (index.first_block(t) == index.last_block(t))
      continue;
    parts += execution_->end(t) - execution_->begin(t);
    rows.push_back({SpanIndex::Reader(index, t, index.first_block(t))});
    rows.back().is_there = rows.back().reader.next();
  }
  const std::int64_t total = execution_->total().count();
  const std::size_t parts_of_a_slice =
      std::max(least_parts_of_a_slice, parts_of_a_thread * rows.size());
  const std::int64_t slice = total / static_cast<std::int64_t>(parts / parts_of_a_slice + 1) + 1;
  std::vector<Change> changes;
  ActiveThreads active;
  bool has_begun = false;
  const auto pass = [&](std::int64_t time) {
    if (!has_begun && time > 0)
      parallelism_.add(0, {});
    has_begun = true;
    ActiveThreads shown = active;
    if (execution_->shares()) {
      shown.running = std::min(active.running, execution_->cpus());
      shown.runnable = active.running - shown.running;
    }
    parallelism_.add(time, shown);
  };
  for (std::int64_t until = slice; until - slice <= total; until += slice) {
    changes.clear();
    for (Row& row : rows) {
      while (row.is_there && row.reader.start < until) {
        // What has no length changes nothing.
        if (row.reader.end > row.reader.start) {
          const std::uint32_t running = row.reader.state == SpanState::running ? 1 : 0;
          const std::uint32_t runnable = row.reader.state == SpanState::runnable ? 1 : 0;
          if (running != row.running || runnable != row.runnable)
            changes.push_back({row.reader.start, running - row.running, runnable - row.runnable});
          row.running = running;
          row.runnable = runnable;
        }
        row.is_there = row.reader.next();
      }
      if (!row.is_there && !row.has_ended && row.reader.end < until) {
        row.has_ended = true;
        if (row.reader.end < total)
          changes.push_back({row.reader.end, 0U - row.running, 0U - row.runnable});
      }
    }
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.time < b.time; });
    for (std::size_t i = 0; i < changes.size(); ++i) {
      active.running += changes[i].running;
      active.runnable += changes[i].runnable;
      if (i + 1 == changes.size() || changes[i + 1].time != changes[i].time)
        pass(changes[i].time);
    }
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

const CpuTurns& Timeline::cpu_turns() const {
  std::call_once(cpu_turns_->once, [&] { cpu_turns_->turns.emplace(*execution_); });
  return *cpu_turns_->turns;
}

std::size_t Timeline::bytes() const {
  return execution_->bytes() + parallelism_.bytes() + critical_.capacity() * sizeof(double);
}

std::vector<PathPiece> Timeline::path(const TimelineView& view) const {
  return execution_->path().pieces(view);
}

}  // namespace longpole::analysis
