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

// Goes through the parts of a thread in their order, which is that of their ends, in leaps.
class PartEnds {
 public:
  PartEnds(const Execution& execution, std::uint32_t thread)
      : index_(execution.index()),
        thread_(thread),
        reader_(index_, thread, index_.first_block(thread)) {
    next();
  }

  // No part before the one that was asked for last.
  [[nodiscard]] Nanoseconds end_of(PartIndex part) {
    if (part > reader_.part + SpanIndex::block_spans) {
      reader_ = SpanIndex::Reader(index_, thread_, index_.block_of(thread_, part));
      next();
    }
    while (reader_.part < part)
      next();
    return Nanoseconds{reader_.end};
  }

 private:
  // There is one.
  void next() {
    do
      static_cast<void>(reader_.next());
    while (!reader_.ends_part);
  }

  const SpanIndex& index_;
  std::uint32_t thread_;
  SpanIndex::Reader reader_;
};

// The first that ends then or later.
PartIndex first_part_ending_at(const Execution& execution, std::uint32_t thread,
                               std::int64_t time) {
  const SpanIndex& index = execution.index();
  // A part that ends then may be of the block before.
  SpanIndex::Reader reader(index, thread, index.block_at(thread, time - 1));
  while (reader.next()) {
    if (reader.ends_part && reader.end >= time)
      return reader.part;
  }
  return execution.end(thread);
}

}  // namespace

void find_calls(const Execution& execution, std::uint32_t thread, const TimelineView& view,
                const std::vector<PartIndex>& cells, TimelineRow& row) {
  CallCounter counter(execution.shown_kinds(thread));
  PartEnds ends(execution, thread);
  for (std::uint32_t cell = 0; cell + 1 < cells.size(); ++cell) {
    const bool is_last = cell + 2 == cells.size();
    const PartIndex first = cells[cell];
    const PartIndex behind =
        is_last && view.to == execution.total() ? execution.end(thread) : cells[cell + 1];
    const std::size_t calls = counter.count(execution.shown_calls(first, behind));
    if (calls > most_calls_of_a_cell) {
      counter.write(cell, row.counts);
      continue;
    }
    for (PartIndex part = first; calls > 0 && part < behind; ++part) {
      if (execution.shown_call(part) != 0)
        row.calls.push_back({part, execution.event_number(part), ends.end_of(part)});
    }
  }
}

std::uint64_t count_calls(const Execution& execution, std::uint32_t thread,
                          const TimelineView& view) {
  if (execution.begin(thread) == execution.end(thread))
    return 0;
  const PartIndex first = first_part_ending_at(execution, thread, view.from.count());
  const PartIndex behind = view.to == execution.total()
                               ? execution.end(thread)
                               : first_part_ending_at(execution, thread, view.to.count());
  // In sums of a byte, which take an eighth of the time of those of a word.
  std::uint64_t sum = 0;
  for (Kinds left = execution.shown_calls(first, behind); !left.empty();) {
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
