#include "analysis/span_cursor.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace longpole::analysis {
namespace {

// The part of a block's SpanBlock::weighted that is not told from nothing.
constexpr double rounding = 1e-5;

LongestSpan named_by(const SpanIndex::Unpacked& spans, std::uint32_t span) {
  return {.name = {},
          .state = spans.state(span),
          .part = spans.part(span),
          .is_of_part = spans.ends_part(span)};
}

struct Runs {
  [[nodiscard]] static bool is(const SpanIndex::Unpacked& spans, std::uint32_t span) {
    return spans.runs(span);
  }
  [[nodiscard]] static std::int64_t time(const SpanIndex::Unpacked& spans, std::uint32_t span) {
    return spans.running_before(span + 1) - spans.running_before(span);
  }
  [[nodiscard]] static Nanoseconds time(const SpanTimes& times) {
    return times[index_of(SpanState::running)];
  }
  [[nodiscard]] static std::optional<SpanName> name(const SpanIndex& index, std::uint32_t thread,
                                                    const SpanBlock& block) {
    return index.run_name(thread, block);
  }
};
struct Waits {
  [[nodiscard]] static bool is(const SpanIndex::Unpacked& spans, std::uint32_t span) {
    return spans.waits(span);
  }
  [[nodiscard]] static std::int64_t time(const SpanIndex::Unpacked& spans, std::uint32_t span) {
    return spans.waits(span) ? spans.end(span) - spans.start(span) : 0;
  }
  [[nodiscard]] static Nanoseconds time(const SpanTimes& times) {
    return times[index_of(SpanState::blocked)] + times[index_of(SpanState::io)] +
           times[index_of(SpanState::sleeping)];
  }
  [[nodiscard]] static std::optional<SpanName> name(const SpanIndex& index, std::uint32_t thread,
                                                    const SpanBlock& block) {
    return index.wait_name(thread, block);
  }
};

}  // namespace

SpanCursor::SpanCursor(const Execution& execution, std::uint32_t thread, std::int64_t from,
                       bool weights)
    : execution_(execution),
      index_(execution.index()),
      thread_(thread),
      weights_(weights),
      last_(index_.last_block(thread)),
      start_(index_.block(index_.first_block(thread)).start()),
      end_(index_.end(thread)),
      block_(index_.block_at(thread, from)),
      block_end_(index_.block_end(thread, block_)) {}

Moment SpanCursor::go_to(std::int64_t time) {
  while (block_ < last_ && block_end_ <= time)
    pass();
  if (block_ == last_)
    return {.time = time,
            .span_start = end_,
            .span_end = std::numeric_limits<std::int64_t>::max(),
            .before = before_,
            .block = last_};
  if (time < start_)
    return {.time = time,
            .span_start = std::numeric_limits<std::int64_t>::min(),
            .span_end = start_,
            .before = before_,
            .block = block_};
  if (!is_unpacked_)
    unpack();
  return moment_in_block(time);
}

void SpanCursor::pass() {
  const SpanBlock& block = index_.block(block_);
  if (block.spans == 1) [[unlikely]] {
    const SpanTimes times = times_of(block_);
    for (std::size_t state = 0; state < span_state_count; ++state)
      before_[state] += times[state];
  } else {
    before_[index_of(SpanState::running)] += Nanoseconds{block.running};
    before_[index_of(SpanState::runnable)] += Nanoseconds{block.runnable};
    if (block.has_others != 0) {
      const SpanIndex::Others others = index_.others(block);
      before_[index_of(SpanState::io)] += Nanoseconds{others.io};
      before_[index_of(SpanState::sleeping)] += Nanoseconds{others.sleeping};
    }
  }
  ++block_;
  block_end_ = block_ < last_ ? index_.block_end(thread_, block_) : end_;
  is_unpacked_ = false;
}

SpanTimes SpanCursor::times_of(std::size_t number) const {
  const SpanBlock& block = index_.block(number);
  if (block.spans != 1) [[likely]]
    return index_.times(thread_, number);
  // It may be too long for the block's sums.
  SpanTimes times{};
  times[index_of(SpanIndex::Unpacked(index_, block).state(0))] =
      Nanoseconds{index_.block_end(thread_, number) - block.start()};
  return times;
}

SpanTimes SpanCursor::times_between(const Moment& left, const Moment& right) const {
  SpanTimes times;
  Nanoseconds blocked{std::clamp(right.time, start_, end_) - std::clamp(left.time, start_, end_)};
  for (const SpanState state :
       {SpanState::running, SpanState::runnable, SpanState::io, SpanState::sleeping}) {
    times[index_of(state)] = right.before[index_of(state)] - left.before[index_of(state)];
    blocked -= times[index_of(state)];
  }
  times[index_of(SpanState::blocked)] = blocked;
  return times;
}

void SpanCursor::unpack() {
  is_unpacked_ = true;
  at_ ^= 1U;
  const SpanBlock& block = index_.block(block_);
  UnpackedBlock& unpacked = unpacked_[at_];
  unpacked.spans.begin(index_, block);
  unpacked.weighted_spans = 0;
  unpacked.part = block.first_part;
  unpacked.weighted = 0;
}

// Of the block at hand, where it has several spans, and weights. Spans are asked for in order.
double SpanCursor::weighted_before(std::uint32_t span) {
  UnpackedBlock& unpacked = unpacked_[at_];
  const SpanIndex::Unpacked& spans = unpacked.spans;
  for (std::uint32_t& next = unpacked.weighted_spans; next < span; ++next) {
    // 0 of what does not run.
    unpacked.weighted += execution_.scaled_weight(unpacked.part) *
                         (spans.running_before(next + 1) - spans.running_before(next));
    unpacked.part += spans.ends_part(next) ? 1U : 0U;
  }
  return unpacked.weighted;
}

Moment SpanCursor::moment_in_block(std::int64_t time) {
  const SpanBlock& block = index_.block(block_);
  UnpackedBlock& unpacked = unpacked_[at_];
  SpanIndex::Unpacked& spans = unpacked.spans;
  const std::int64_t start = block.start();
  Moment moment{.time = time,
                .span_start = start,
                .span_end = block_end_,
                .before = before_,
                .block = block_,
                .is_there = true,
                .unpacked = at_};
  if (spans.size() > 1) {
    const auto passed = static_cast<std::uint32_t>(time - start);
    spans.read_to(passed);
    const std::uint32_t span = spans.count_ended(passed);
    moment.span = span;
    moment.span_start = start + spans.start(span);
    moment.span_end = start + spans.end(span);
    moment.before[index_of(SpanState::running)] += Nanoseconds{spans.running_before(span)};
    moment.before[index_of(SpanState::runnable)] += Nanoseconds{spans.runnable_before(span)};
    for (std::uint32_t i = 0; block.has_others != 0 && i < span; ++i) {
      const SpanState state = spans.state(i);
      if (state == SpanState::io || state == SpanState::sleeping)
        moment.before[index_of(state)] += Nanoseconds{spans.end(i) - spans.start(i)};
    }
  }
  const std::int64_t part = time - moment.span_start;
  moment.before[index_of(spans.state(moment.span))] += Nanoseconds{part};
  if (weights_ && block.has_weights != 0) {
    const double weight =
        spans.runs(moment.span) ? execution_.scaled_weight(spans.part(moment.span)) : 0;
    auto all = static_cast<double>(block.weighted);
    if (spans.size() > 1)
      moment.weighted_before = weighted_before(moment.span);
    else
      all = weight * static_cast<double>(block_end_ - start);
    moment.weighted_before += weight * static_cast<double>(part);
    moment.weighted_behind = all - moment.weighted_before;
    if (std::abs(moment.weighted_behind) < std::abs(all) * rounding)
      moment.weighted_behind = 0;
  }
  return moment;
}

PartIndex SpanCursor::first_part_ending_behind(const Moment& moment) const {
  if (moment.is_there)
    return index_.block(moment.block).first_part + spans(moment).parts_before(moment.span);
  return moment.block == last_ ? execution_.end(thread_) : execution_.begin(thread_);
}

PartIndex SpanCursor::first_part_ending_at(const Moment& moment) const {
  if (moment.time != moment.span_start)
    return first_part_ending_behind(moment);
  // Those that end at that very moment may be of blocks before it.
  std::size_t block = moment.block;
  std::uint32_t span = moment.span;
  while (true) {
    if (span == 0) {
      if (block == index_.first_block(thread_))
        return execution_.begin(thread_);
      span = index_.block(--block).spans;
    }
    const std::int64_t start = index_.block(block).start();
    const std::int64_t end = index_.block_end(thread_, block);
    SpanIndex::Unpacked spans(index_, index_.block(block));
    if (spans.size() > 1) {
      spans.read_to(static_cast<std::uint32_t>(std::max(end - start, std::int64_t{1}) - 1));
      while (span > 0 && start + spans.end(span - 1) == moment.time)
        --span;
    } else if (span == 1 && end == moment.time) {
      span = 0;
    }
    if (span > 0)
      return index_.block(block).first_part + spans.parts_before(span);
  }
}

double SpanCursor::weighted_between(const Moment& left, const Moment& right) const {
  if (left.is_there && left.block == right.block)
    return right.weighted_before - left.weighted_before;
  double weighted = left.weighted_behind + right.weighted_before;
  for (std::size_t block = left.block + (left.is_there ? 1 : 0); block < right.block; ++block) {
    if (index_.block(block).has_weights != 0)
      weighted += static_cast<double>(index_.block(block).weighted);
  }
  return weighted;
}

template <typename Wanted>
LongestSpan SpanCursor::longest(const Moment& left, const Moment& right,
                                const Wanted& wanted) const {
  const SpanIndex::Unpacked& of_left = spans(left);
  const SpanIndex::Unpacked& of_right = spans(right);
  struct {
    const SpanIndex::Unpacked* spans = nullptr;
    std::uint32_t span = 0;
    std::int64_t time = 0;
  } found;
  if (left.is_there && wanted.is(of_left, left.span))
    found = {&of_left, left.span, left.span_end - left.time};
  if (left.is_there && left.block == right.block) {
    for (std::uint32_t span = left.span + 1; span < right.span; ++span) {
      const std::int64_t time = wanted.time(of_left, span);
      if (time > found.time)
        found = {&of_left, span, time};
    }
  }
  if (right.is_there && wanted.is(of_right, right.span) &&
      right.time - right.span_start > found.time)
    found = {&of_right, right.span, right.time - right.span_start};
  // What is longest in a block is dear to find: where there are whole blocks, the one with most of it.
  const std::size_t none = last_;
  std::size_t most = none;
  for (std::size_t block = left.block + (left.is_there ? 1 : 0); block < right.block; ++block) {
    const std::int64_t time = wanted.time(times_of(block)).count();
    if (time > found.time) {
      found.time = time;
      most = block;
    }
  }
  if (most != none) {
    if (const auto name = wanted.name(index_, thread_, index_.block(most)))
      return {.name = name};
    const SpanIndex::Unpacked spans(index_, index_.block(most));
    std::uint32_t span = 0;
    while (!wanted.is(spans, span))
      ++span;
    return named_by(spans, span);
  }
  if (found.spans != nullptr)
    return named_by(*found.spans, found.span);
  // On one side or the other in a block that is not there as a whole: the nearest.
  if (left.is_there) {
    for (std::uint32_t span = left.span + 1; span < of_left.size(); ++span) {
      if (wanted.is(of_left, span))
        return named_by(of_left, span);
    }
  }
  std::uint32_t span = right.span - 1;
  while (!wanted.is(of_right, span))
    --span;
  return named_by(of_right, span);
}

LongestSpan SpanCursor::longest_run(const Moment& left, const Moment& right) const {
  return longest(left, right, Runs{});
}

LongestSpan SpanCursor::longest_wait(const Moment& left, const Moment& right) const {
  return longest(left, right, Waits{});
}

}  // namespace longpole::analysis
