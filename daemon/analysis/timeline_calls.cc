#include "analysis/timeline_calls.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

namespace longpole::analysis {
namespace {

using Kinds = std::span<const std::uint8_t>;  // Execution::shown_calls

constexpr std::size_t most_of_byte = 255;

// Counts the calls of a thread by kind: eight of its kinds in the bytes of a word, that is one addition
// for a call. Most threads make calls of fewer.
class CallCounter {
 public:
  explicit CallCounter(std::uint64_t kinds) {
    for (; kinds != 0; kinds &= kinds - 1) {
      const auto kind = static_cast<std::size_t>(std::countr_zero(kinds));
      if (kinds_ % kinds_of_word == 0)
        words_.emplace_back();
      words_.back()[kind + 1] = std::uint64_t{1} << 8U * (kinds_ % kinds_of_word);
      kind_[kinds_++] = static_cast<EventKind>(kind);
    }
  }

  // Of all kinds.
  std::size_t count(Kinds calls) {
    counts_.fill(0);
    for (std::size_t word = 0; word < words_.size(); ++word) {
      const auto& one_of = words_[word];
      for (Kinds left = calls; !left.empty();) {
        const Kinds some = left.first(std::min(left.size(), most_of_byte));
        std::uint64_t sums = 0;
        for (const std::uint8_t call : some)
          sums += one_of[call];
        for (std::size_t i = word * kinds_of_word; sums != 0; ++i, sums >>= 8U)
          counts_[i] += static_cast<std::uint32_t>(sums & 0xffU);
        left = left.subspan(some.size());
      }
    }
    return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
  }
  // What was counted last.
  void write(std::uint32_t cell, std::vector<CallCount>& counts) const {
    for (std::size_t i = 0; i < kinds_; ++i) {
      if (counts_[i] > 0)
        counts.push_back({cell, kind_[i], counts_[i]});
    }
  }

 private:
  static constexpr std::size_t kinds_of_word = 8;

  std::size_t kinds_ = 0;
  std::array<EventKind, event_kind_count> kind_{};
  std::array<std::uint32_t, event_kind_count> counts_{};
  std::vector<std::array<std::uint64_t, event_kind_count + 1>> words_;
};

// The first time that is too late for a call of the view.
std::int64_t end_of_calls(const Execution& execution, const TimelineView& view) {
  return view.to.count() + (view.to == execution.total() ? 1 : 0);
}

// Goes through the parts of a thread in order of their ends, in leaps.
class PartsByEnd {
 public:
  PartsByEnd(const Execution& execution, std::uint32_t thread, std::int64_t from)
      : index_(execution.index()),
        thread_(thread),
        last_(index_.last_block(thread)),
        behind_(execution.end(thread)),
        // A part that ends there may be of the block before.
        block_(index_.block_at(thread, from - 1)),
        reader_(index_, thread, block_) {
    next();
    go_to(from);
  }

  // The part at hand, or behind the last one.
  [[nodiscard]] PartIndex part() const { return has_ended_ ? behind_ : reader_.part; }
  [[nodiscard]] std::int64_t end() const { return reader_.end; }
  [[nodiscard]] bool has_ended() const { return has_ended_; }

  void next() {
    do
      has_ended_ = !reader_.next();
    while (!has_ended_ && !reader_.ends_part);
  }
  // That one, or one behind it.
  void go_to_part(PartIndex part) {
    if (part > reader_.part + SpanIndex::block_spans) {
      block_ = index_.block_of(thread_, part);
      reader_ = SpanIndex::Reader(index_, thread_, block_);
      next();
    }
    while (!has_ended_ && reader_.part < part)
      next();
  }
  // On to the first part that ends then or later.
  void go_to(std::int64_t time) {
    if (has_ended_ || reader_.end >= time)
      return;
    const std::size_t block = block_that_ends_at(time);
    if (block > block_) {
      leap_ = block - block_;
      block_ = block;
      reader_ = SpanIndex::Reader(index_, thread_, block);
    }
    do
      next();
    while (!has_ended_ && reader_.end < time);
  }

 private:
  // The first, from the one at hand on, that ends then or later; else the last.
  [[nodiscard]] std::size_t block_that_ends_at(std::int64_t time) const {
    const auto ends_before = [&](std::size_t block) {
      return block + 1 < last_ && index_.block(block + 1).start() < time;
    };
    std::size_t low = block_;
    std::size_t step = leap_;
    while (ends_before(low + step)) {
      low += step + 1;
      step *= 2;
    }
    for (std::size_t high = std::min(low + step, last_ - 1); low < high;) {
      const std::size_t middle = low + (high - low) / 2;
      if (ends_before(middle))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  const SpanIndex& index_;
  std::uint32_t thread_;
  std::size_t last_;
  PartIndex behind_;
  std::size_t block_;  // the one at hand, or before it
  std::size_t leap_ = 1;
  SpanIndex::Reader reader_;
  bool has_ended_ = false;
};

// Few calls, of which one is in the part at hand or behind it.
void list(const Execution& execution, PartsByEnd parts, PartIndex behind,
          std::vector<TimelineCall>& calls) {
  for (PartIndex part = parts.part(); part < behind; ++part) {
    if (execution.shown_call(part) == 0)
      continue;
    parts.go_to_part(part);
    calls.push_back({part, execution.event_number(part), Nanoseconds{parts.end()}});
  }
}

}  // namespace

void find_calls(const Execution& execution, std::uint32_t thread, const TimelineView& view,
                TimelineRow& row) {
  if (execution.begin(thread) == execution.end(thread))
    return;
  const std::int64_t end = end_of_calls(execution, view);
  CallCounter counter(execution.shown_kinds(thread));
  PartsByEnd parts(execution, thread, view.from.count());
  while (!parts.has_ended() && parts.end() < end) {
    const std::uint32_t cell = view.pixel(Nanoseconds{parts.end()}) / cell_pixels;
    const std::uint32_t next = (cell + 1) * cell_pixels;
    const PartsByEnd first = parts;
    parts.go_to(next < view.pixels ? view.edge(next).count() : end);
    const std::size_t calls = counter.count(execution.shown_calls(first.part(), parts.part()));
    if (calls > most_calls_of_a_cell)
      counter.write(cell, row.counts);
    else if (calls > 0)
      list(execution, first, parts.part(), row.calls);
  }
}

std::uint64_t count_calls(const Execution& execution, std::uint32_t thread,
                          const TimelineView& view) {
  if (execution.begin(thread) == execution.end(thread))
    return 0;
  PartsByEnd parts(execution, thread, view.from.count());
  const PartIndex first = parts.part();
  parts.go_to(end_of_calls(execution, view));
  // In sums of a byte, which take an eighth of the time of those of a word.
  std::uint64_t sum = 0;
  for (Kinds left = execution.shown_calls(first, parts.part()); !left.empty();) {
    const Kinds some = left.first(std::min(left.size(), most_of_byte));
    std::uint8_t few = 0;
    for (const std::uint8_t call : some)
      few = static_cast<std::uint8_t>(few + (call != 0 ? 1U : 0U));
    sum += few;
    left = left.subspan(some.size());
  }
  return sum;
}

}  // namespace longpole::analysis
