#include "analysis/cpu_turns.h"

#include <algorithm>
#include <limits>

namespace longpole::analysis {
namespace {

constexpr std::int64_t longest_piece = std::numeric_limits<std::uint32_t>::max();

// Hands out the turns of each thread in order: take(cpu, start, end, thread, moved).
template <typename Take>
void each_turn(const Execution& execution, const Take& take) {
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t) {
    std::uint32_t cpu = simulation::no_cpu;
    std::int64_t start = 0;
    std::int64_t end = 0;
    bool moved = false;
    for (PartIndex index = execution.begin(t); index < execution.end(t); ++index) {
      if (execution.cpu_of(index) == simulation::no_cpu)
        continue;
      const ExecutionPart part = execution.part(index);
      if (part.end == part.start)
        continue;
      if (part.cpu == cpu && part.start.count() == end) {
        end = part.end.count();
        continue;
      }
      if (cpu != simulation::no_cpu)
        take(cpu, start, end, t, moved);
      moved = cpu != simulation::no_cpu && cpu != part.cpu;
      cpu = part.cpu;
      start = part.start.count();
      end = part.end.count();
    }
    if (cpu != simulation::no_cpu)
      take(cpu, start, end, t, moved);
  }
}

}  // namespace

CpuTurns::CpuTurns(const Execution& execution) : threads_(execution.thread_count()) {
  begin_.assign(std::size_t{execution.cpus()} + 1, 0);
  each_turn(execution, [&](std::uint32_t cpu, std::int64_t start, std::int64_t end,
                           std::uint32_t /*thread*/, bool /*moved*/) {
    begin_[cpu + std::size_t{1}] +=
        static_cast<std::size_t>((end - start + longest_piece - 1) / longest_piece);
  });
  for (std::size_t cpu = 1; cpu < begin_.size(); ++cpu)
    begin_[cpu] += begin_[cpu - 1];
  turns_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  each_turn(execution, [&](std::uint32_t cpu, std::int64_t start, std::int64_t end,
                           std::uint32_t thread, bool moved) {
    while (start < end) {
      const std::int64_t length = std::min(end - start, longest_piece);
      Turn& turn = turns_[next[cpu]++];
      turn.start = start;
      turn.length = static_cast<std::uint32_t>(length);
      turn.thread = thread & 0x7fffffffU;
      turn.moved = moved ? 1 : 0;
      moved = false;
      start += length;
    }
  });
  for (std::size_t cpu = 0; cpu + 1 < begin_.size(); ++cpu)
    std::sort(turns_.begin() + static_cast<std::ptrdiff_t>(begin_[cpu]),
              turns_.begin() + static_cast<std::ptrdiff_t>(begin_[cpu + 1]),
              [](const Turn& a, const Turn& b) { return a.start < b.start; });
}

// Takes the turns of a CPU in order of time.
class CpuTurns::RowBuilder {
 public:
  RowBuilder(std::size_t threads, const TimelineView& view, CpuRow& row)
      : view_(view), row_(row), pixel_of_(threads, no_pixel), is_seen_(threads, false) {}

  void add(const Turn& turn, bool continues) {
    const std::int64_t start = std::max(turn.start, view_.from.count());
    const std::int64_t end = std::min(turn.end(), view_.to.count());
    if (start >= right_)
      enter(view_.pixel(Nanoseconds{start}));
    const bool is_within = turn.start >= left_ && turn.end() <= right_;
    if (is_within && turn.end() - turn.start < right_ - left_)
      crowded_ = true;
    else
      list(turn, continues);
    if (turn.start >= view_.from.count() && !continues) {
      ++row_.begun;
      row_.moves += turn.moved;
      sums_.moves += turn.moved;
    }
    row_.busy += Nanoseconds{end - start};
    if (!is_seen_[turn.thread]) {
      is_seen_[turn.thread] = true;
      ++row_.threads;
    }
    count(turn.thread, start, std::min(end, right_));
    if (end > right_) {
      enter(view_.pixel(Nanoseconds{end - 1}));
      count(turn.thread, left_, end);
    }
  }
  void finish() { flush(); }

 private:
  static constexpr std::uint32_t no_pixel = 0xffffffffU;

  void list(const Turn& turn, bool continues) {
    // What a turn goes on with may have been too short to be listed by itself.
    if (continues && !row_.turns.empty() && row_.turns.back().thread == turn.thread &&
        row_.turns.back().end.count() == turn.start)
      row_.turns.back().end = Nanoseconds{turn.end()};
    else
      row_.turns.push_back(
          {Nanoseconds{turn.start}, Nanoseconds{turn.end()}, turn.thread, turn.moved != 0});
  }
  void enter(std::uint32_t pixel) {
    flush();
    left_ = view_.edge(pixel).count();
    right_ = view_.edge(pixel + 1).count();
    sums_ = {.pixel = pixel};
    busy_ = longest_ = 0;
    crowded_ = false;
  }
  void count(std::uint32_t thread, std::int64_t start, std::int64_t end) {
    busy_ += end - start;
    if (end - start > longest_) {
      longest_ = end - start;
      sums_.thread = thread;
    }
    if (pixel_of_[thread] != sums_.pixel) {
      pixel_of_[thread] = sums_.pixel;
      ++sums_.threads;
    }
  }
  void flush() {
    if (!crowded_)
      return;
    const double share = static_cast<double>(busy_) / static_cast<double>(right_ - left_);
    sums_.busy = busy_ == right_ - left_
                     ? static_cast<std::uint8_t>(whole_pixel)
                     : static_cast<std::uint8_t>(std::clamp(share * whole_pixel, 1.0, 254.0));
    row_.pixels.push_back(sums_);
  }

  const TimelineView& view_;
  CpuRow& row_;
  CpuPixel sums_{.pixel = no_pixel};
  std::int64_t left_ = 0;
  std::int64_t right_ = std::numeric_limits<std::int64_t>::min();  // no pixel yet
  std::int64_t busy_ = 0;
  std::int64_t longest_ = 0;
  bool crowded_ = false;
  std::vector<std::uint32_t> pixel_of_;  // by thread: the last that it had the CPU in
  std::vector<bool> is_seen_;
};

CpuRow CpuTurns::row(std::uint32_t cpu, const TimelineView& view) const {
  CpuRow row;
  if (cpu + std::size_t{1} >= begin_.size())
    return row;
  const auto first = turns_.begin() + static_cast<std::ptrdiff_t>(begin_[cpu]);
  const auto last = turns_.begin() + static_cast<std::ptrdiff_t>(begin_[cpu + 1]);
  auto at = std::partition_point(first, last,
                                 [&](const Turn& turn) { return turn.end() <= view.from.count(); });
  RowBuilder builder(threads_, view, row);
  for (; at != last && at->start < view.to.count(); ++at)
    builder.add(*at, at != first && at->continues(*(at - 1)));
  builder.finish();
  return row;
}

}  // namespace longpole::analysis
