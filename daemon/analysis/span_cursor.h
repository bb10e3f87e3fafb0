// SpanCursor: goes along a thread's spans from one moment to the next, and tells what there is at each
// and how much of what there was before it. A moment costs a few steps for each block of spans on the way,
// and some hundred where it is in another block than the one before.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "analysis/execution.h"
#include "analysis/span_index.h"

namespace longpole::analysis {

// A time, and the span that reaches over it or begins then. Before the thread starts and behind its end
// there is none: from the beginning of time, or to its end.
struct Moment {
  std::int64_t time = 0;
  std::int64_t span_start = 0;
  std::int64_t span_end = 0;
  SpanTimes before{};     // since some time; without what is blocked, which is the rest
  std::size_t block = 0;  // the span's; of none: the thread's first, or the one behind its last
  std::uint32_t span = 0;
  bool is_there = false;  // a span
  std::uint8_t unpacked = 0;
  // Σ scaled weight · time of what runs in the block, before the moment and behind it.
  double weighted_before = 0;
  double weighted_behind = 0;
};

// What names a stretch of time: by the name that is kept for a block, or by a span.
struct LongestSpan {
  std::optional<SpanName> name;
  SpanState state = SpanState::running;
  PartIndex part = no_part;
  bool is_of_part = false;
};

class SpanCursor {
 public:
  // The thread has spans, and parts. `weights`: moments have them, too.
  SpanCursor(const Execution& execution, std::uint32_t thread, std::int64_t from, bool weights);

  // No earlier than the last time asked for. The answer stays for the next question, and is overwritten by
  // the one after that.
  [[nodiscard]] const Moment& go_to(std::int64_t time);

  // The spans of the moment's block.
  [[nodiscard]] const SpanIndex::Unpacked& spans(const Moment& moment) const {
    return unpacked_[moment.unpacked].spans;
  }
  // Of the thread, between neighbouring moments: its time, by states.
  [[nodiscard]] SpanTimes times_between(const Moment& left, const Moment& right) const;
  // The first part of the thread that ends then or later.
  [[nodiscard]] PartIndex first_part_ending_at(const Moment& moment) const;
  // The first that ends later, which is at the end of the moment's span or behind it.
  [[nodiscard]] PartIndex first_part_ending_behind(const Moment& moment) const;
  // Between neighbouring moments, likewise: Σ scaled weight · time of what runs.
  [[nodiscard]] double weighted_between(const Moment& left, const Moment& right) const;
  // The longest run and the longest wait, or a long one where there are many. There must be one.
  [[nodiscard]] LongestSpan longest_run(const Moment& left, const Moment& right) const;
  [[nodiscard]] LongestSpan longest_wait(const Moment& left, const Moment& right) const;

 private:
  struct UnpackedBlock {
    SpanIndex::Unpacked spans;
    // Before each span, up to the end of the first so many.
    std::array<double, SpanIndex::block_spans + 1> weighted;
    std::uint32_t weighted_spans = 0;
    PartIndex part = no_part;  // of the next
  };

  // Of a whole block, that does not have to be unpacked.
  [[nodiscard]] SpanTimes times_of(std::size_t number) const;
  void pass();
  void unpack();
  [[nodiscard]] double weighted_before(std::uint32_t span);
  void find_in_block(Moment& moment);
  template <typename Wanted>
  [[nodiscard]] LongestSpan longest(const Moment& left, const Moment& right,
                                    const Wanted& wanted) const;

  const Execution& execution_;
  const SpanIndex& index_;
  std::uint32_t thread_;
  bool weights_;
  PartIndex last_part_;  // of the thread
  std::size_t last_;
  std::int64_t start_;
  std::int64_t end_;
  std::size_t block_;  // at hand; last_: behind all
  std::int64_t block_end_;
  SpanTimes before_{};  // the block at hand
  bool is_unpacked_ = false;
  std::uint8_t at_ = 0;  // of unpacked_: the block at hand, or the one before
  std::array<UnpackedBlock, 2> unpacked_;
  // Not copied: what was just stored in parts is waited for when it is loaded as a whole.
  std::array<Moment, 2> moments_;
  std::size_t last_moment_ = 0;
};

}  // namespace longpole::analysis
