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
    const std::uint32_t running = spans.running_before(span + 1) - spans.running_before(span);
    const std::uint32_t runnable = spans.runnable_before(span + 1) - spans.runnable_before(span);
    return spans.end(span) - spans.start(span) - running - runnable;
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
      last_part_(execution.end(thread) - 1),
      last_(index_.last_block(thread)),
      start_(index_.block(index_.first_block(thread)).start()),
      end_(index_.end(thread)),
      block_(index_.block_at(thread, from)),
      block_end_(index_.block_end(thread, block_)) {}

const Moment& SpanCursor::go_to(std::int64_t time) {
  while (block_ < last_ && block_end_ <= time)
    pass();
  last_moment_ ^= 1U;
  Moment& moment = moments_[last_moment_];
  moment.time = time;
  moment.before = before_;
  moment.block = block_;
  moment.is_there = block_ < last_ && time >= start_;
  if (moment.is_there) {
    if (!is_unpacked_)
      unpack();
    find_in_block(moment);
  } else {
    const bool has_ended = block_ == last_;
    moment.span_start = has_ended ? end_ : std::numeric_limits<std::int64_t>::min();
    moment.span_end = has_ended ? std::numeric_limits<std::int64_t>::max() : start_;
    moment.span = 0;
    moment.weighted_before = moment.weighted_behind = 0;
  }
  return moment;
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
  unpacked.weighted[0] = 0;
}

// Of the block at hand, where it has several spans, and weights; of spans that are read.
double SpanCursor::weighted_before(std::uint32_t span) {
  UnpackedBlock& unpacked = unpacked_[at_];
  const SpanIndex::Unpacked& spans = unpacked.spans;
  // A group at a time: how often a loop is taken is guessed right where it is always as often.
  const auto weigh = [&](std::uint32_t count) {
    double weighted = unpacked.weighted[unpacked.weighted_spans];
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t at = unpacked.weighted_spans + i;
      // 0 of what does not run, as behind the thread's last part.
      weighted += execution_.scaled_weight(std::min(unpacked.part, last_part_)) *
                  (spans.running_before(at + 1) - spans.running_before(at));
      unpacked.part += spans.ends_part(at) ? 1U : 0U;
      unpacked.weighted[at + 1] = weighted;
    }
    unpacked.weighted_spans += count;
  };
  while (unpacked.weighted_spans < span) {
    if (unpacked.weighted_spans + SpanIndex::Unpacked::group <= spans.size()) [[likely]]
      weigh(SpanIndex::Unpacked::group);
    else
      weigh(spans.size() - unpacked.weighted_spans);
  }
  return unpacked.weighted[span];
}

// All but what go_to() knows.
void SpanCursor::find_in_block(Moment& moment) {
  const SpanBlock& block = index_.block(block_);
  SpanIndex::Unpacked& spans = unpacked_[at_].spans;
  const std::int64_t start = block.start();
  const bool is_one = spans.size() == 1;  // which may be a long one
  std::uint32_t span = 0;
  moment.unpacked = at_;
  moment.span_start = start;
  moment.span_end = block_end_;
  if (!is_one) {
    const auto passed = static_cast<std::uint32_t>(moment.time - start);
    spans.read_to(passed);
    span = spans.count_ended(passed);
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
  moment.span = span;
  const Nanoseconds part{moment.time - moment.span_start};
  const SpanState state = spans.state(span);
  const auto add = [&](SpanState of) {
    moment.before[index_of(of)] += state == of ? part : Nanoseconds{};
  };
  add(SpanState::running);
  add(SpanState::runnable);
  if (block.has_others != 0 || is_one) {
    add(SpanState::io);
    add(SpanState::sleeping);
  }
  moment.weighted_before = moment.weighted_behind = 0;
  if (weights_ && block.has_weights != 0) {
    const double weight = spans.runs(span) ? execution_.scaled_weight(spans.part(span)) : 0;
    const double all = is_one ? weight * static_cast<double>(block_end_ - start)
                              : static_cast<double>(block.weighted);
    moment.weighted_before =
        (is_one ? 0 : weighted_before(span)) + weight * static_cast<double>(part.count());
    moment.weighted_behind = all - moment.weighted_before;
    if (std::abs(moment.weighted_behind) < std::abs(all) * rounding)
      moment.weighted_behind = 0;
  }
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
    // Without a branch, which would be guessed wrongly at every other longest one.
    std::uint32_t longest = left.span;
    std::int64_t longest_time = found.time;
    for (std::uint32_t span = left.span + 1; span < right.span; ++span) {
      const std::int64_t time = wanted.time(of_left, span);
      longest = time > longest_time ? span : longest;
      longest_time = std::max(longest_time, time);
    }
    if (longest_time > found.time)
      found = {&of_left, longest, longest_time};
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
