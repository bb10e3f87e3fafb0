#include "analysis/timeline_calls.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

namespace longpole::analysis {
namespace {

using Kinds = std::span<const std::uint8_t>;  // Execution::shown_calls

// In sums of a byte, which take an eighth of the time of those of a word.
template <typename Is>
std::size_t count_if(Kinds calls, const Is& is) {
  constexpr std::size_t most_of_byte = 255;
  std::size_t sum = 0;
  for (Kinds left = calls; !left.empty();) {
    const Kinds some = left.first(std::min(left.size(), most_of_byte));
    std::uint8_t few = 0;
    for (const std::uint8_t call : some)
      few = static_cast<std::uint8_t>(few + (is(call) ? 1U : 0U));
    sum += few;
    left = left.subspan(some.size());
  }
  return sum;
}

// Counts the calls of a thread by kind, each in a pass of its own: comparing bytes is what a CPU does sixteen
// or more at a time.
class CallCounter {
 public:
  explicit CallCounter(std::uint64_t kinds) : kinds_(kinds) {}

  // Of all kinds.
  std::size_t count(Kinds calls) {
    counts_.clear();
    std::size_t all = 0;
    for (std::uint64_t kinds = kinds_; kinds != 0; kinds &= kinds - 1) {
      const auto kind = static_cast<std::uint8_t>(std::countr_zero(kinds));
      const auto wanted = static_cast<std::uint8_t>(kind + 1);
      const std::size_t count =
          count_if(calls, [wanted](std::uint8_t call) { return call == wanted; });
      if (count > 0)
        counts_.push_back({0, static_cast<EventKind>(kind), static_cast<std::uint32_t>(count)});
      all += count;
    }
    return all;
  }
  // What was counted last.
  void write(std::uint32_t cell, std::vector<CallCount>& counts) const {
    for (CallCount count : counts_) {
      count.cell = cell;
      counts.push_back(count);
    }
  }

 private:
  std::uint64_t kinds_;
  std::vector<CallCount> counts_;
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
  return count_if(execution.shown_calls(first, behind),
                  [](std::uint8_t call) { return call != 0; });
}

}  // namespace longpole::analysis
