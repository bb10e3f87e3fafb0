#include "analysis/span_index.h"

#include <algorithm>
#include <cstring>

namespace longpole::analysis {

SpanTimes SpanIndex::times(std::uint32_t thread, std::size_t index) const {
  const SpanBlock& of = blocks_[index];
  SpanTimes times{};
  std::int64_t left = block_end(thread, index) - of.start;
  for (std::size_t s = 0; s < of.times.size(); ++s) {
    times[s] = Nanoseconds{of.times[s]};
    left -= of.times[s];
  }
  times.back() = Nanoseconds{left};
  return times;
}

std::size_t SpanIndex::block_at(std::uint32_t thread, std::int64_t time) const {
  const auto first = blocks_.begin() + static_cast<std::ptrdiff_t>(first_block(thread));
  const auto last = blocks_.begin() + static_cast<std::ptrdiff_t>(last_block(thread));
  const auto after = std::upper_bound(
      first, last, time,
      [](std::int64_t wanted, const SpanBlock& block) { return wanted < block.start; });
  return static_cast<std::size_t>((after == first ? first : after - 1) - blocks_.begin());
}

std::size_t SpanIndex::block_of(std::uint32_t thread, PartIndex part) const {
  const auto first = blocks_.begin() + static_cast<std::ptrdiff_t>(first_block(thread));
  const auto last = blocks_.begin() + static_cast<std::ptrdiff_t>(last_block(thread));
  // A part may be spread over two blocks: from the one that it begins in.
  const auto at = std::lower_bound(first, last, part, [](const SpanBlock& block, PartIndex wanted) {
    return block.first_part < wanted;
  });
  return static_cast<std::size_t>((at == first ? first : at - 1) - blocks_.begin());
}

SpanIndex::Builder::Builder(std::size_t parts, std::uint32_t weight_scale)
    : weight_scale_(weight_scale) {
  // What is not used costs no memory.
  index_.blocks_.reserve(parts / 6);
  index_.tokens_.reserve(parts * 5);
}

void SpanIndex::Builder::begin_thread(std::int64_t time) {
  at_ = time;
  is_open_ = false;
}

void SpanIndex::Builder::open_block() {
  SpanBlock block;
  block.start = at_;
  block.tokens_low = static_cast<std::uint32_t>(index_.tokens_.size());
  block.tokens_high = static_cast<std::uint8_t>(index_.tokens_.size() >> 32U);
  block.first_part = part_;
  index_.blocks_.push_back(block);
  index_.tokens_.resize(index_.tokens_.size() + sizeof(codes_));
  codes_ = 0;
  longest_run_ = longest_wait_ = -1;
  is_open_ = true;
}

void SpanIndex::Builder::token(std::int64_t end, SpanState state, std::uint8_t code) {
  const std::int64_t length = end - at_;
  if (!is_open_ || index_.blocks_.back().spans == block_spans ||
      end - index_.blocks_.back().start >= long_block)
    open_block();
  SpanBlock& block = index_.blocks_.back();
  const auto s = static_cast<std::size_t>(state);
  if (s < block.times.size())
    block.times[s] += static_cast<std::uint32_t>(length);
  const SpanBlock::Token here{static_cast<std::uint8_t>((part_ - block.first_part) & 15U),
                              (ending_codes >> code & 1U) != 0, code == code_standstill};
  if (state == SpanState::running) {
    if (length > longest_run_) {
      longest_run_ = length;
      block.longest_run = here;
    }
  } else if (state != SpanState::runnable && length > longest_wait_) {
    longest_wait_ = length;
    block.longest_wait = here;
  }
  // Of one that is too long to be written down the length is that of its block.
  auto rest = static_cast<std::uint32_t>(length);
  std::uint64_t more = 0;
  for (; rest > 0xffU; rest >>= 8U, ++more)
    index_.tokens_.push_back(static_cast<std::uint8_t>(rest));
  index_.tokens_.push_back(static_cast<std::uint8_t>(rest));
  codes_ |= (code | more << 3U) << (bits_of_code * block.spans);
  std::memcpy(&index_.tokens_[block.tokens()], &codes_, sizeof(codes_));
  ++block.spans;
  at_ = end;
}

void SpanIndex::Builder::add(std::int64_t ready, std::int64_t start, std::int64_t end,
                             SpanState main, double scaled_weight, std::int64_t length) {
  if (ready > at_)
    token(ready, SpanState::blocked, static_cast<std::uint8_t>(SpanState::blocked));
  if (start > at_)
    token(start, SpanState::runnable, static_cast<std::uint8_t>(SpanState::runnable));
  if (end == start)
    token(end, SpanState::running, code_nothing);
  else
    token(end, main, main == SpanState::blocked ? code_in_vain : static_cast<std::uint8_t>(main));
  if (scaled_weight != 0) {
    SpanBlock& block = index_.blocks_.back();
    block.critical +=
        static_cast<float>(scaled_weight / weight_scale_ * static_cast<double>(length));
    if (main == SpanState::running) {
      block.weighted += scaled_weight * static_cast<double>(end - start);
      block.has_weights = true;
    }
  }
  ++part_;
}

void SpanIndex::Builder::end_thread() {
  index_.begin_.push_back(index_.blocks_.size());
  index_.ends_.push_back(at_);
}

void SpanIndex::Builder::end_thread_blocked_until(std::int64_t time) {
  if (time > at_)
    token(time, SpanState::blocked, code_standstill);
  end_thread();
}

SpanIndex SpanIndex::Builder::take() {
  index_.tokens_.resize(index_.tokens_.size() + sizeof(std::uint32_t), 0);  // read beyond the last
  return std::move(index_);
}

}  // namespace longpole::analysis
