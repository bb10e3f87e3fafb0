#include "analysis/span_index.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "analysis/span_sums.h"

namespace longpole::analysis {
namespace {

const bool wide_sums = has_wide_sums();
constexpr std::size_t bytes_behind_tokens = 16;  // that are read with the last lengths

}  // namespace

SpanTimes SpanIndex::times(std::uint32_t thread, std::size_t index) const {
  const SpanBlock& of = blocks_[index];
  const Others other = of.has_others ? others(of) : Others{};
  const std::int64_t length = block_end(thread, index) - of.start();
  SpanTimes times{};
  times[index_of(SpanState::running)] = Nanoseconds{of.running};
  times[index_of(SpanState::runnable)] = Nanoseconds{of.runnable};
  times[index_of(SpanState::io)] = Nanoseconds{other.io};
  times[index_of(SpanState::sleeping)] = Nanoseconds{other.sleeping};
  times[index_of(SpanState::blocked)] =
      Nanoseconds{length - of.running - of.runnable - other.io - other.sleeping};
  return times;
}

std::size_t SpanIndex::block_at(std::uint32_t thread, std::int64_t time) const {
  const auto first = blocks_.begin() + static_cast<std::ptrdiff_t>(first_block(thread));
  const auto last = blocks_.begin() + static_cast<std::ptrdiff_t>(last_block(thread));
  const auto after = std::upper_bound(
      first, last, time,
      [](std::int64_t wanted, const SpanBlock& block) { return wanted < block.start(); });
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

void SpanIndex::append(const SpanIndex& behind) {
  const std::size_t blocks = blocks_.size();
  const std::size_t tokens = tokens_.size();
  blocks_.insert(blocks_.end(), behind.blocks_.begin(), behind.blocks_.end());
  for (std::size_t block = blocks; block < blocks_.size(); ++block)
    blocks_[block].set_tokens(tokens + blocks_[block].tokens());
  tokens_.insert(tokens_.end(), behind.tokens_.begin(), behind.tokens_.end());
  for (std::size_t thread = 1; thread < behind.begin_.size(); ++thread)
    begin_.push_back(blocks + behind.begin_[thread]);
  ends_.insert(ends_.end(), behind.ends_.begin(), behind.ends_.end());
  run_names_.append(behind.run_names_);
  wait_names_.append(behind.wait_names_);
}

void SpanIndex::Names::append(const Names& behind) {
  const std::size_t before = names.size();
  names.insert(names.end(), behind.names.begin(), behind.names.end());
  for (std::size_t thread = 1; thread < behind.begin.size(); ++thread)
    begin.push_back(before + behind.begin[thread]);
}

void SpanIndex::Unpacked::begin(const SpanIndex& index, const SpanBlock& block) {
  static_assert(block_spans == FullBlock::spans && Codes::ending == FullBlock::ending &&
                Codes::states[FullBlock::running] == SpanState::running &&
                Codes::states[FullBlock::runnable] == SpanState::runnable);
  static_assert([] {
    for (std::size_t code = 0; code < Codes::states.size(); ++code) {
      const SpanState state = Codes::states[code];
      if ((Codes::waiting >> code & 1U) !=
          (state != SpanState::running && state != SpanState::runnable ? 1U : 0U))
        return false;
    }
    return true;
  }());
  const std::uint8_t* const at = index.tokens_.data() + block.tokens();
  std::memcpy(codes_.data(), at, codes_.size());
  std::memcpy(&sizes_, at + Codes::bytes_of_codes, sizeof(sizes_));
  length_at_ = at + Codes::bytes;
  size_ = block.spans;
  first_part_ = block.first_part;
  read_ = 0;
  running_[0] = runnable_[0] = 0;
  is_wide_ = wide_sums && size_ == block_spans;
  is_passed_ = false;
  if (!is_wide_)
    ends_.fill(latest);
  ends_[0] = 0;
}

void SpanIndex::Unpacked::read_group() {
  if (is_wide_) {
    sum_wide({codes_.data(), sizes_, length_at_}, {&ends_[1], &running_[1], &runnable_[1]});
    read_ = size_;
    return;
  }
  // By the bytes of a length less one.
  static constexpr std::array<std::uint32_t, 4> bits_of_length = {0xffU, 0xffffU, 0xffffffU,
                                                                  0xffffffffU};
  static constexpr auto mask_of = [](SpanState wanted) {
    std::array<std::uint32_t, 8> masks{};
    for (std::size_t code = 0; code < masks.size(); ++code)
      masks[code] = Codes::states[code] == wanted ? 0xffffffffU : 0;
    return masks;
  };
  static constexpr std::array<std::uint32_t, 8> runs = mask_of(SpanState::running);
  static constexpr std::array<std::uint32_t, 8> is_runnable = mask_of(SpanState::runnable);
  std::uint32_t codes = 0;
  std::memcpy(&codes, &codes_[std::size_t{read_} * Codes::bits_of_code / 8], sizeof(codes));
  const auto sizes = static_cast<std::uint32_t>(sizes_);
  sizes_ >>= group * Codes::bits_of_size;
  std::uint32_t end = ends_[read_];
  std::uint32_t running = running_[read_];
  std::uint32_t runnable = runnable_[read_];
  const std::uint8_t* at = length_at_;
  std::uint32_t* const ends = &ends_[read_] + 1;
  std::uint32_t* const runnings = &running_[read_] + 1;
  std::uint32_t* const runnables = &runnable_[read_] + 1;
  const auto take = [&](std::uint32_t i) {
    const std::uint32_t more = sizes >> Codes::bits_of_size * i & 3U;
    std::uint32_t length = 0;
    std::memcpy(&length, at, sizeof(length));
    length &= bits_of_length[more];
    at += more + 1;
    end += length;
    const std::uint32_t code = codes >> Codes::bits_of_code * i & 7U;
    running += length & runs[code];
    runnable += length & is_runnable[code];
    ends[i] = end;
    runnings[i] = running;
    runnables[i] = runnable;
  };
  if (read_ + group <= size_) [[likely]] {
    for (std::uint32_t i = 0; i < group; ++i)
      take(i);
  } else {
    for (std::uint32_t i = 0; i < size_ - read_; ++i)
      take(i);
  }
  length_at_ = at;
  read_ = std::min(read_ + group, size_);
}

std::uint32_t SpanIndex::Unpacked::count_ended(std::uint32_t time) const {
  if (wide_sums)
    return count_up_to_wide(&ends_[1], time);
  std::uint32_t count = 0;
  for (std::uint32_t end = group; end < block_spans; end += group)
    count += ends_[end] <= time ? group : 0;
  std::uint32_t of_group = 0;
  for (std::uint32_t i = 1; i <= group; ++i)
    of_group += ends_[count + i] <= time ? 1U : 0U;
  return count + of_group;
}

template <typename Time>
std::uint32_t SpanIndex::Unpacked::first_longest(const Time& time) {
  std::uint32_t longest = 0;
  for (std::uint32_t span = 1; span < size_; ++span) {
    if (time(span) > time(longest))
      longest = span;
  }
  return longest;
}

void SpanIndex::Unpacked::read_ends() {
  while (!is_passed_ && read_ < size_)
    read_group();
}

std::uint32_t SpanIndex::Unpacked::longest_run() {
  read_ends();
  if (is_wide_)
    return longest_run_wide(codes_.data(), ends_.data());
  return first_longest([&](std::uint32_t span) { return run_time(span); });
}

std::uint32_t SpanIndex::Unpacked::longest_wait() {
  read_ends();
  if (is_wide_)
    return longest_wait_wide(codes_.data(), ends_.data());
  return first_longest([&](std::uint32_t span) { return wait_time(span); });
}

std::uint32_t SpanIndex::Unpacked::parts_before(std::uint32_t span) const {
  constexpr std::uint32_t half = block_spans / 2;
  constexpr std::uint64_t every_second = 00101010101010101;
  std::uint32_t parts = 0;
  for (std::uint32_t first = 0; first < block_spans; first += half) {
    const std::uint32_t wanted = std::clamp(span, first, first + half) - first;
    const std::uint64_t ends =
        part_ends(first / half) & ((std::uint64_t{1} << Codes::bits_of_code * wanted) - 1);
    const std::uint64_t pairs =
        (ends & every_second) + (ends >> Codes::bits_of_code & every_second);
    parts += static_cast<std::uint32_t>(pairs * every_second >> 42U & 077U);
  }
  return parts;
}

SpanIndex::Builder::Builder(PartIndex first_part, std::size_t parts, std::uint32_t weight_scale)
    : weight_scale_(weight_scale), part_(first_part) {
  // Two spans a part, of three bytes. What is not used costs no memory.
  index_.blocks_.reserve(parts * 2 / block_spans);
  index_.tokens_.reserve(parts * 6);
}

void SpanIndex::Builder::begin_thread(std::int64_t time) {
  at_ = time;
  wait_behind_ = 0;
}

std::uint32_t SpanIndex::Builder::NameNumbers::of(SpanName name) {
  if (name >= numbers_.size())
    numbers_.resize(std::size_t{name} + 1, 0);
  const std::size_t count = names_.names.size() - names_.begin.back();
  if (numbers_[name] == 0) {
    if (count == Names::most)
      return Names::most;
    names_.names.push_back(name);
    numbers_[name] = static_cast<std::uint16_t>(count + 1);
  }
  return numbers_[name] - 1U;
}

void SpanIndex::Builder::NameNumbers::end_thread() {
  for (std::size_t i = names_.begin.back(); i < names_.names.size(); ++i)
    numbers_[names_.names[i]] = 0;
  names_.begin.push_back(names_.names.size());
}

void SpanIndex::Builder::open_block() {
  block_ = {};
  block_.start_words = std::bit_cast<std::array<std::uint32_t, 2>>(at_);
  block_.first_part = part_;
  others_ = {};
  codes_ = 0;
  sizes_ = 0;
  lengths_end_ = 0;
  run_ = wait_ = {};
}

void SpanIndex::Builder::close_block() {
  if (block_.spans == 0)
    return;
  auto& tokens = index_.tokens_;
  const auto append = [&](const void* bytes, std::size_t count) {
    const std::size_t at = tokens.size();
    tokens.resize(at + count);
    std::memcpy(&tokens[at], bytes, count);
  };
  block_.has_others = others_.io != 0 || others_.sleeping != 0 ? 1 : 0;
  if (block_.has_others != 0)
    append(&others_, sizeof(others_));
  block_.set_tokens(tokens.size());
  block_.run_name = run_numbers_.of(run_.name) & Names::most;
  block_.wait_name = wait_numbers_.of(wait_.name) & Names::most;
  append(&codes_, Codes::bytes_of_codes);
  append(&sizes_, sizeof(sizes_));
  append(lengths_.data(), lengths_end_);
  index_.blocks_.push_back(block_);
  block_.spans = 0;
}

void SpanIndex::Builder::token(std::int64_t end, std::uint8_t code, SpanName name) {
  const std::int64_t length = end - at_;
  if (block_.spans == block_spans || (block_.spans > 0 && end - block_.start() >= long_block))
    close_block();
  if (block_.spans == 0)
    open_block();
  // Of one that is too long to be written down the length is that of its block.
  const auto written = static_cast<std::uint32_t>(length);
  const SpanState state = Codes::states[code];
  if (state == SpanState::running) {
    block_.running += written;
    if (length > run_.length)
      run_ = {length, name};
  } else if (state == SpanState::runnable) {
    block_.runnable += written;
  } else {
    if (state == SpanState::io)
      others_.io += written;
    else if (state == SpanState::sleeping)
      others_.sleeping += written;
    if (length > wait_.length)
      wait_ = {length, name};
  }
  const auto more = static_cast<unsigned>(std::bit_width(written | 1U) - 1) / 8;
  std::memcpy(&lengths_[lengths_end_], &written, sizeof(written));
  lengths_end_ += more + 1;
  codes_ |= Codes::Wide{code} << (Codes::bits_of_code * block_.spans);
  sizes_ |= std::uint64_t{more} << (Codes::bits_of_size * block_.spans);
  ++block_.spans;
  at_ = end;
}

void SpanIndex::Builder::add(std::int64_t ready, std::int64_t start, std::int64_t end,
                             SpanState main, std::int64_t scaled_weight, std::int64_t length,
                             SpanName run, SpanName wait) {
  if (ready > at_)
    token(ready, static_cast<std::uint8_t>(SpanState::blocked), wait_behind_);
  if (start > at_)
    token(start, static_cast<std::uint8_t>(SpanState::runnable), 0);
  if (end == start)
    token(end, Codes::nothing, 0);
  else
    token(end, main == SpanState::blocked ? Codes::in_vain : static_cast<std::uint8_t>(main),
          main == SpanState::running ? run : wait);
  if (scaled_weight != 0) {
    const auto scaled = static_cast<double>(scaled_weight);
    block_.critical += static_cast<float>(scaled / weight_scale_ * static_cast<double>(length));
    if (main == SpanState::running) {
      block_.weighted += static_cast<float>(scaled * static_cast<double>(end - start));
      block_.has_weights = 1;
    }
  }
  wait_behind_ = wait;
  ++part_;
}

void SpanIndex::Builder::end_thread() {
  close_block();
  run_numbers_.end_thread();
  wait_numbers_.end_thread();
  index_.begin_.push_back(index_.blocks_.size());
  index_.ends_.push_back(at_);
}

void SpanIndex::Builder::end_thread_blocked_until(std::int64_t time) {
  if (time > at_)
    token(time, Codes::standstill, wait_behind_);
  end_thread();
}

SpanIndex SpanIndex::Builder::take() {
  index_.tokens_.resize(index_.tokens_.size() + bytes_behind_tokens, 0);
  return std::move(index_);
}

}  // namespace longpole::analysis
