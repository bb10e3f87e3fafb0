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

}  // namespace

struct SpanCursor::Runs {
  [[nodiscard]] static bool is(const SpanIndex::Unpacked& spans, std::uint32_t span) {
    return spans.runs(span);
  }
  [[nodiscard]] static std::int64_t time(const SpanIndex::Unpacked& spans, std::uint32_t span) {
    return spans.run_time(span);
  }
  // Of a block of several spans, in which it takes `length`.
  [[nodiscard]] static std::int64_t time(const SpanBlock& block, std::int64_t /*length*/) {
    return block.running;
  }
  [[nodiscard]] static std::optional<SpanName> name(const SpanIndex& index, std::uint32_t thread,
                                                    const SpanBlock& block) {
    return index.run_name(thread, block);
  }
  [[nodiscard]] static std::uint32_t longest(UnpackedBlock& block) {
    if (block.longest_run == not_known)
      block.longest_run = block.spans.longest_run();
    return block.longest_run;
  }
};

struct SpanCursor::Waits {
  [[nodiscard]] static bool is(const SpanIndex::Unpacked& spans, std::uint32_t span) {
    return spans.waits(span);
  }
  [[nodiscard]] static std::int64_t time(const SpanIndex::Unpacked& spans, std::uint32_t span) {
    return spans.wait_time(span);
  }
  [[nodiscard]] static std::int64_t time(const SpanBlock& block, std::int64_t length) {
    return length - block.running - block.runnable;
  }
  [[nodiscard]] static std::optional<SpanName> name(const SpanIndex& index, std::uint32_t thread,
                                                    const SpanBlock& block) {
    return index.wait_name(thread, block);
  }
  [[nodiscard]] static std::uint32_t longest(UnpackedBlock& block) {
    if (block.longest_wait == not_known)
      block.longest_wait = block.spans.longest_wait();
    return block.longest_wait;
  }
};

SpanCursor::SpanCursor(const Execution& execution, std::uint32_t thread, std::int64_t from,
                       std::int64_t step, bool weights)
    : execution_(execution),
      index_(execution.index()),
      thread_(thread),
      weights_(weights),
      // Those of large weights are looked up span by span, which takes sums.
      short_block_(weights && execution.weights().has_large() ? 0 : 2 * step),
      last_(index_.last_block(thread)),
      start_(index_.block(index_.first_block(thread)).start()),
      end_(index_.end(thread)),
      block_(index_.block_at(thread, from)),
      block_end_(index_.block_end(thread, block_)) {}

void SpanCursor::find_none(Moment& moment) const {
  const bool has_ended = block_ == last_;
  moment.span_start = has_ended ? end_ : std::numeric_limits<std::int64_t>::min();
  moment.span_end = has_ended ? std::numeric_limits<std::int64_t>::max() : start_;
  moment.span = 0;
  moment.running = running_;
  moment.runnable = runnable_;
  moment.weighted_before = moment.weighted_behind = 0;
}

// One span, which may be too long for the block's sums, or I/O and sleep beside the rest.
void SpanCursor::pass_unusual(const SpanBlock& block) {
  if (block.spans == 1) {
    const SpanState state = SpanIndex::Unpacked(index_, block).state(0);
    const std::int64_t time = block_end_ - block.start();
    running_ += state == SpanState::running ? time : 0;
    runnable_ += state == SpanState::runnable ? time : 0;
    io_ += state == SpanState::io ? time : 0;
    sleeping_ += state == SpanState::sleeping ? time : 0;
    return;
  }
  const SpanIndex::Others others = index_.others(block);
  running_ += block.running;
  runnable_ += block.runnable;
  io_ += others.io;
  sleeping_ += others.sleeping;
}

void SpanCursor::find_in_only_span(Moment& moment) {
  const SpanState state = spans(moment).state(0);
  moment.span = 0;
  moment.span_start = index_.block(block_).start();
  moment.span_end = block_end_;
  const std::int64_t part = moment.time - moment.span_start;
  moment.running = running_ + (state == SpanState::running ? part : 0);
  moment.runnable = runnable_ + (state == SpanState::runnable ? part : 0);
  moment.io += state == SpanState::io ? part : 0;
  moment.sleeping += state == SpanState::sleeping ? part : 0;
  if (weights_)
    weigh(moment);
}

void SpanCursor::add_others(Moment& moment) {
  const SpanIndex::Unpacked& of = spans(moment);
  const std::int64_t start = index_.block(block_).start();
  for (std::uint32_t span = 0; span <= moment.span; ++span) {
    const std::int64_t time = std::min(start + of.end(span), moment.time) - start - of.start(span);
    const SpanState state = of.state(span);
    moment.io += state == SpanState::io ? time : 0;
    moment.sleeping += state == SpanState::sleeping ? time : 0;
  }
}

void SpanCursor::weigh(Moment& moment) {
  moment.weighted_before = moment.weighted_behind = 0;
  const SpanBlock& block = index_.block(block_);
  if (block.has_weights == 0)
    return;
  const SpanIndex::Unpacked& of = spans(moment);
  double all = 0;
  if (of.size() > 1) [[likely]] {
    all = static_cast<double>(block.weighted);
    moment.weighted_before =
        weighted_before(moment.span, static_cast<std::uint32_t>(moment.time - block.start()),
                        static_cast<std::uint32_t>(moment.running - running_));
  } else if (of.runs(0)) {
    const auto weight = static_cast<double>(execution_.weights().scaled(of.part(0)));
    all = weight * static_cast<double>(moment.span_end - moment.span_start);
    moment.weighted_before = weight * static_cast<double>(moment.time - moment.span_start);
  }
  moment.weighted_behind = all - moment.weighted_before;
  if (std::abs(moment.weighted_behind) < std::abs(all) * rounding)
    moment.weighted_behind = 0;
}

// Of the block at hand, where it has several spans, and weights: its first `passed` nanoseconds, which end in that
// span and in which it ran for `ran`.
double SpanCursor::weighted_before(std::uint32_t span, std::uint32_t passed, std::uint32_t ran) {
  UnpackedBlock& unpacked = unpacked_[at_];
  const SpanIndex::Unpacked& spans = unpacked.spans;
  const PartWeights& weights = execution_.weights();
  if (spans.is_wide() && !weights.has_large()) [[likely]]
    return static_cast<double>(weights.weigh(spans, passed, ran));
  while (unpacked.weighted_spans < span)
    weigh_group(unpacked);
  // Of a span that does not run, no time.
  const auto weight =
      static_cast<double>(weights.scaled(spans.first_part() + spans.parts_before(span)));
  return unpacked.weighted[span] + weight * static_cast<double>(ran - spans.running_before(span));
}

void SpanCursor::weigh_group(UnpackedBlock& unpacked) const {
  const SpanIndex::Unpacked& spans = unpacked.spans;
  constexpr std::uint32_t group = SpanIndex::Unpacked::group;
  const std::uint32_t first = unpacked.weighted_spans;
  std::uint64_t part_ends = spans.part_ends(first / (2 * group)) >> first % (2 * group) * 3;
  PartIndex part = unpacked.part;
  double weighted = unpacked.weighted[first];
  const auto weigh = [&](std::uint32_t span) {
    // 0 of what does not run, as behind the thread's last part.
    const std::uint32_t time = spans.running_before(span + 1) - spans.running_before(span);
    weighted += static_cast<double>(execution_.weights().scaled(part)) * time;
    part += static_cast<PartIndex>(part_ends & 1U);
    part_ends >>= 3U;
    unpacked.weighted[span + 1] = weighted;
  };
  // How often a loop is taken is guessed right where it is always as often.
  if (first + group <= spans.size()) [[likely]] {
    for (std::uint32_t span = first; span < first + group; ++span)
      weigh(span);
  } else {
    for (std::uint32_t span = first; span < spans.size(); ++span)
      weigh(span);
  }
  unpacked.part = part;
  unpacked.weighted_spans = std::min(first + group, spans.size());
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
std::int64_t SpanCursor::time_of(std::size_t number, const Wanted& wanted) const {
  const SpanBlock& block = index_.block(number);
  const std::int64_t length = index_.block_end(thread_, number) - block.start();
  if (block.spans == 1) [[unlikely]]  // it may be too long for the block's sums
    return wanted.is(SpanIndex::Unpacked(index_, block), 0) ? length : 0;
  return wanted.time(block, length);
}

// Of the block at an edge: for how long its longest is, if that is among those spans, whose name is then at hand,
// while those of other spans are far away in memory.
template <typename Wanted>
std::int64_t SpanCursor::longest_among(const Moment& moment, std::uint32_t first,
                                       std::uint32_t behind, const Wanted& wanted) {
  UnpackedBlock& block = unpacked_[moment.unpacked];
  if (!moment.is_there || block.spans.size() == 1) [[unlikely]]
    return 0;
  const std::uint32_t span = wanted.longest(block);
  const std::int64_t time = wanted.time(block.spans, span);
  // Every other time, which no branch predictor guesses.
  return time & -static_cast<std::int64_t>(static_cast<unsigned>(span >= first) &
                                           static_cast<unsigned>(span < behind));
}

// Of the span that reaches over an edge: nothing, or what is on this side of it. Without branches, likewise.
template <typename Wanted>
std::int64_t SpanCursor::part_of(const Moment& moment, std::int64_t part,
                                 const Wanted& wanted) const {
  if (!moment.is_there) [[unlikely]]
    return 0;
  const SpanIndex::Unpacked& of = spans(moment);
  if (of.size() == 1) [[unlikely]]
    return wanted.is(of, 0) ? part : 0;
  return std::min<std::int64_t>(wanted.time(of, moment.span), part);
}

template <typename Wanted>
LongestSpan SpanCursor::longest(const Moment& left, const Moment& right, const Wanted& wanted) {
  const bool is_one_block = left.is_there && left.block == right.block;
  const std::int64_t at_right = part_of(right, right.time - right.span_start, wanted);
  const std::int64_t at_left = part_of(left, left.span_end - left.time, wanted);
  if (!is_one_block) {
    // What is longest in a block is dear to find: where there are whole blocks, the one with most of it.
    const std::size_t none = last_;
    std::size_t most = none;
    std::int64_t longest_time = std::max(at_left, at_right);
    for (std::size_t block = left.block + (left.is_there ? 1 : 0); block < right.block; ++block) {
      const std::int64_t time = time_of(block, wanted);
      most = time > longest_time ? block : most;
      longest_time = std::max(longest_time, time);
    }
    const std::int64_t of_left = longest_among(left, left.span + 1, SpanIndex::block_spans, wanted);
    const std::int64_t of_right = longest_among(right, 0, right.span, wanted);
    const Moment& edge = of_right > of_left ? right : left;
    const bool is_whole = most != none;
    std::size_t named = std::max(of_left, of_right) > 0 ? edge.block : none;
    named = is_whole ? most : named;
    if (named != none) [[likely]] {
      if (const auto name = wanted.name(index_, thread_, index_.block(named))) [[likely]]
        return {.name = name};
      if (!is_whole)
        return named_by(spans(edge), wanted.longest(unpacked_[edge.unpacked]));
      const SpanIndex::Unpacked spans(index_, index_.block(most));
      std::uint32_t span = 0;
      while (!wanted.is(spans, span))
        ++span;
      return named_by(spans, span);
    }
  }
  return longest_span(left, right, at_left, at_right, wanted);
}

// Where no block's name says it; `at_left`, `at_right`: of the spans that reach over the edges.
template <typename Wanted>
LongestSpan SpanCursor::longest_span(const Moment& left, const Moment& right, std::int64_t at_left,
                                     std::int64_t at_right, const Wanted& wanted) const {
  const SpanIndex::Unpacked& of_left = spans(left);
  const SpanIndex::Unpacked& of_right = spans(right);
  std::int64_t longest_time = at_left;
  std::uint32_t longest = left.span;
  if (left.is_there && left.block == right.block) {
    for (std::uint32_t span = left.span + 1; span < right.span; ++span) {
      const std::int64_t time = wanted.time(of_left, span);
      longest = time > longest_time ? span : longest;
      longest_time = std::max(longest_time, time);
    }
  }
  if (std::max(longest_time, at_right) > 0)
    return at_right > longest_time ? named_by(of_right, right.span) : named_by(of_left, longest);
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

LongestSpan SpanCursor::longest_run(const Moment& left, const Moment& right) {
  return longest(left, right, Runs{});
}

LongestSpan SpanCursor::longest_wait(const Moment& left, const Moment& right) {
  return longest(left, right, Waits{});
}

}  // namespace longpole::analysis
