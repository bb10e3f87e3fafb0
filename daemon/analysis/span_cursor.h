// SpanCursor: goes along a thread's spans from one moment to the next, and tells what there is at each
// and how much of what there was before it. A moment costs a few steps for each block of spans on the way,
// and some hundred where it is in another block than the one before.
#pragma once

#include <algorithm>
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
  // Nanoseconds in each state since some time. Blocked is the rest.
  std::int64_t running = 0;
  std::int64_t runnable = 0;
  std::int64_t io = 0;
  std::int64_t sleeping = 0;
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
  // The thread has spans, and parts. `step`: about how far the times that are asked for are from each other.
  // `weights`: moments have them, too.
  SpanCursor(const Execution& execution, std::uint32_t thread, std::int64_t from, std::int64_t step,
             bool weights);

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
  [[nodiscard]] LongestSpan longest_run(const Moment& left, const Moment& right);
  [[nodiscard]] LongestSpan longest_wait(const Moment& left, const Moment& right);

 private:
  static constexpr std::uint32_t not_known = 0xffffffffU;
  static constexpr std::size_t blocks_ahead = 8;  // whose tokens are brought near
  struct UnpackedBlock {
    SpanIndex::Unpacked spans;
    // Before each span, up to the end of the first so many.
    std::array<double, SpanIndex::block_spans + 1> weighted;
    std::uint32_t weighted_spans = 0;
    PartIndex part = no_part;  // of the next
    // Once they were asked for; not_known.
    std::uint32_t longest_run = not_known;
    std::uint32_t longest_wait = not_known;
  };
  struct Runs;
  struct Waits;

  void pass();
  void pass_unusual(const SpanBlock& block);
  void unpack();
  // All but what go_to() knows.
  void find_in_block(Moment& moment);
  void find_in_only_span(Moment& moment);
  void add_others(Moment& moment);
  void find_none(Moment& moment) const;
  void weigh(Moment& moment);
  [[nodiscard]] double weighted_before(std::uint32_t span, std::uint32_t passed, std::uint32_t ran);
  void weigh_group(UnpackedBlock& unpacked) const;
  // Of a whole block, that does not have to be unpacked.
  template <typename Wanted>
  [[nodiscard]] std::int64_t time_of(std::size_t number, const Wanted& wanted) const;
  template <typename Wanted>
  [[nodiscard]] LongestSpan longest(const Moment& left, const Moment& right, const Wanted& wanted);
  template <typename Wanted>
  [[nodiscard]] LongestSpan longest_span(const Moment& left, const Moment& right,
                                         std::int64_t at_left, std::int64_t at_right,
                                         const Wanted& wanted) const;
  template <typename Wanted>
  [[nodiscard]] std::int64_t longest_among(const Moment& moment, std::uint32_t first,
                                           std::uint32_t behind, const Wanted& wanted);
  template <typename Wanted>
  [[nodiscard]] std::int64_t part_of(const Moment& moment, std::int64_t part,
                                     const Wanted& wanted) const;

  const Execution& execution_;
  const SpanIndex& index_;
  std::uint32_t thread_;
  bool weights_;
  std::int64_t short_block_;  // shorter: too few times in it for its sums to be worth their while
  std::size_t last_;
  std::int64_t start_;
  std::int64_t end_;
  std::size_t block_;  // at hand; last_: behind all
  std::int64_t block_end_;
  // Before the block at hand, as in a moment.
  std::int64_t running_ = 0;
  std::int64_t runnable_ = 0;
  std::int64_t io_ = 0;
  std::int64_t sleeping_ = 0;
  bool is_unpacked_ = false;
  std::uint8_t at_ = 0;  // of unpacked_: the block at hand, or the one before
  std::array<UnpackedBlock, 2> unpacked_;
  std::array<Moment, 2> moments_;
  std::size_t last_moment_ = 0;
};

inline const Moment& SpanCursor::go_to(std::int64_t time) {
  while (block_ < last_ && block_end_ <= time)
    pass();
  last_moment_ ^= 1U;
  Moment& moment = moments_[last_moment_];
  moment.time = time;
  moment.io = io_;
  moment.sleeping = sleeping_;
  moment.block = block_;
  moment.is_there = block_ < last_ && time >= start_;
  if (!moment.is_there) [[unlikely]] {
    find_none(moment);
    return moment;
  }
  if (!is_unpacked_)
    unpack();
  find_in_block(moment);
  return moment;
}

inline void SpanCursor::pass() {
  const SpanBlock& block = index_.block(block_);
  if (block.spans == 1 || block.has_others != 0) [[unlikely]] {
    pass_unusual(block);
  } else {
    running_ += block.running;
    runnable_ += block.runnable;
  }
  ++block_;
  block_end_ = block_ < last_ ? index_.block_end(thread_, block_) : end_;
  is_unpacked_ = false;
  if (block_ + blocks_ahead < last_)
    index_.prefetch(block_ + blocks_ahead);
}

inline void SpanCursor::unpack() {
  is_unpacked_ = true;
  at_ ^= 1U;
  const SpanBlock& block = index_.block(block_);
  UnpackedBlock& unpacked = unpacked_[at_];
  unpacked.spans.begin(index_, block);
  unpacked.weighted_spans = 0;
  unpacked.part = block.first_part;
  unpacked.weighted[0] = 0;
  unpacked.longest_run = unpacked.longest_wait = not_known;
}

inline void SpanCursor::find_in_block(Moment& moment) {
  const SpanBlock& block = index_.block(block_);
  SpanIndex::Unpacked& spans = unpacked_[at_].spans;
  moment.unpacked = at_;
  if (spans.size() == 1) [[unlikely]] {
    find_in_only_span(moment);
    return;
  }
  const std::int64_t start = block.start();
  const auto passed = static_cast<std::uint32_t>(moment.time - start);
  if (spans.is_wide() && block_end_ - start < short_block_ && block.has_others == 0) {
    const PassedSpans before = spans.pass(passed);
    moment.span = before.ended;
    moment.span_start = start + spans.start(before.ended);
    moment.span_end = start + spans.end(before.ended);
    moment.running = running_ + before.running;
    moment.runnable = runnable_ + before.runnable;
    if (weights_)
      weigh(moment);
    return;
  }
  spans.read_to(passed);
  const std::uint32_t span = spans.count_ended(passed);
  moment.span = span;
  moment.span_start = start + spans.start(span);
  moment.span_end = start + spans.end(span);
  // Of the span itself nothing, or as much as has passed.
  const std::uint32_t part = passed - spans.start(span);
  moment.running =
      running_ + std::min(spans.running_before(span) + part, spans.running_before(span + 1));
  moment.runnable =
      runnable_ + std::min(spans.runnable_before(span) + part, spans.runnable_before(span + 1));
  if (block.has_others != 0)
    add_others(moment);
  if (weights_)
    weigh(moment);
}

inline SpanTimes SpanCursor::times_between(const Moment& left, const Moment& right) const {
  const std::int64_t running = right.running - left.running;
  const std::int64_t runnable = right.runnable - left.runnable;
  const std::int64_t io = right.io - left.io;
  const std::int64_t sleeping = right.sleeping - left.sleeping;
  const std::int64_t all =
      std::clamp(right.time, start_, end_) - std::clamp(left.time, start_, end_);
  return {Nanoseconds{running}, Nanoseconds{runnable},
          Nanoseconds{all - running - runnable - io - sleeping}, Nanoseconds{io},
          Nanoseconds{sleeping}};
}

}  // namespace longpole::analysis
