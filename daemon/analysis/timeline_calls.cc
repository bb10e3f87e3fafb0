#include "analysis/timeline_calls.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <vector>

#include "analysis/byte_counts.h"

namespace longpole::analysis {
namespace {

using Kinds = std::span<const std::uint8_t>;  // Execution::shown_calls

// Counts the calls of a thread by kind.
class CallCounter {
 public:
  explicit CallCounter(std::uint64_t kinds) {
    for (; kinds != 0; kinds &= kinds - 1)
      calls_.push_back(static_cast<std::uint8_t>(std::countr_zero(kinds) + 1));
    counts_.resize(calls_.size());
  }

  // Of all kinds.
  std::size_t count(Kinds calls) {
    std::fill(counts_.begin(), counts_.end(), 0);
    count_each(calls, calls_, counts_);
    return std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
  }
  // What was counted last.
  void write(std::uint32_t cell, std::vector<CallCount>& counts) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] > 0)
        counts.push_back({cell, static_cast<EventKind>(calls_[i] - 1), counts_[i]});
    }
  }

 private:
  std::vector<std::uint8_t> calls_;  // as in Execution::shown_calls
  std::vector<std::uint32_t> counts_;
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
  return CallCounter(execution.shown_kinds(thread)).count(execution.shown_calls(first, behind));
}

}  // namespace longpole::analysis
