#include "analysis/parallelism.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "trace/byte_stream.h"

namespace longpole::analysis {
namespace {

// Small numbers of either sign as small numbers; differences modulo 2^32.
std::uint64_t folded(std::uint32_t difference) {
  const auto value = static_cast<std::int32_t>(difference);
  return (static_cast<std::uint32_t>(value) << 1U) ^ static_cast<std::uint32_t>(value >> 31);
}
std::uint32_t unfolded(std::uint64_t value) {
  const auto small = static_cast<std::uint32_t>(value);
  return (small >> 1U) ^ (0U - (small & 1U));
}

struct ByLevel {
  bool operator()(const ActiveThreads& a, const ActiveThreads& b) const {
    return std::tuple(std::uint64_t{a.running} + a.runnable, a.running) <
           std::tuple(std::uint64_t{b.running} + b.runnable, b.running);
  }
};
using Levels = std::map<ActiveThreads, std::int64_t, ByLevel>;

}  // namespace

// One stretch after the other, from the beginning of a block on.
class ParallelismIndex::Reader {
 public:
  Reader(const ParallelismIndex& index, std::size_t block)
      : index_(index), last_(index.tokens_.data() + index.tokens_.size()) {
    skip_to(block);
  }
  void skip_to(std::size_t block) {
    const Block& of = index_.blocks_[block];
    at_ = index_.tokens_.data() + of.tokens;
    start = of.start;
    active = of.active;
    find_end();
  }
  // On to the stretch behind `end`; false: there is none.
  bool next() {
    if (at_ == last_)
      return false;
    start = end;
    static_cast<void>(take_number(at_));
    active.running += unfolded(take_number(at_));
    active.runnable += unfolded(take_number(at_));
    find_end();
    return true;
  }

  std::int64_t start = 0;
  std::int64_t end = 0;
  ActiveThreads active;

 private:
  void find_end() {
    if (at_ == last_) {
      end = index_.end_;
      return;
    }
    const std::uint8_t* ahead = at_;
    end = start + static_cast<std::int64_t>(take_number(ahead));
  }

  const ParallelismIndex& index_;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* last_;
};

// A block's first stretch is in the block; the tokens are the steps to the others, and to the next block's
// first.
void ParallelismIndex::add(std::int64_t time, ActiveThreads active) {
  if (blocks_.empty()) {
    blocks_.push_back({time, 0, active, {}});
    last_ = time;
    active_ = active;
    return;
  }
  if (active != active_)
    append(time, active);
}

void ParallelismIndex::append(std::int64_t time, ActiveThreads active) {
  blocks_.back().sum.add(active_, time - last_);
  append_number(tokens_, static_cast<std::uint64_t>(time - last_));
  append_number(tokens_, folded(active.running - active_.running));
  append_number(tokens_, folded(active.runnable - active_.runnable));
  last_ = time;
  active_ = active;
  if (++in_block_ == block_steps) {
    blocks_.push_back({time, tokens_.size(), active, {}});
    in_block_ = 0;
  }
}

void ParallelismIndex::end(std::int64_t time) {
  if (blocks_.empty())
    blocks_.push_back({});
  end_ = std::max(time, last_);
  if (end_ > last_)
    blocks_.back().sum.add(active_, end_ - last_);
  blocks_.shrink_to_fit();
  tokens_.shrink_to_fit();
  find_checkpoints();
}

std::size_t ParallelismIndex::block_at(std::int64_t time) const {
  const auto after = std::upper_bound(
      blocks_.begin(), blocks_.end(), time,
      [](std::int64_t wanted, const Block& block) { return wanted < block.start; });
  return static_cast<std::size_t>((after == blocks_.begin() ? after : after - 1) - blocks_.begin());
}

void ParallelismIndex::find_checkpoints() {
  const std::size_t every = blocks_.size() / most_checkpoints + 1;
  Levels levels;
  Reader reader(*this, 0);
  std::size_t block = 0;
  std::size_t next = 0;
  do {
    if (block < blocks_.size() && reader.start == blocks_[block].start) {
      // Where there are many levels, fewer: together they take no more memory than the blocks.
      if (block == next) {
        checkpoints_.emplace_back(block, Histogram(levels.begin(), levels.end()));
        next += std::max(every, levels.size() / 4);
      }
      ++block;
    }
    levels[reader.active] += reader.end - reader.start;
  } while (reader.next());
}

ParallelismIndex::Histogram ParallelismIndex::until(std::int64_t time) const {
  const std::size_t block = block_at(time);
  const auto after = std::upper_bound(
      checkpoints_.begin(), checkpoints_.end(), block,
      [](std::size_t wanted, const auto& checkpoint) { return wanted < checkpoint.first; });
  const auto& [from, histogram] = *(after - 1);
  Levels levels(histogram.begin(), histogram.end());
  Reader reader(*this, from);
  do {
    if (reader.start >= time)
      break;
    levels[reader.active] += std::min(reader.end, time) - reader.start;
  } while (reader.next());
  return {levels.begin(), levels.end()};
}

std::vector<std::pair<ActiveThreads, std::int64_t>> ParallelismIndex::levels(
    std::int64_t from, std::int64_t to) const {
  Levels levels;
  for (const auto& [active, time] : until(to))
    levels[active] += time;
  for (const auto& [active, time] : until(from))
    levels[active] -= time;
  std::erase_if(levels, [](const auto& level) { return level.second == 0; });
  return {levels.begin(), levels.end()};
}

std::vector<ParallelismSummary> ParallelismIndex::between(
    const std::vector<std::int64_t>& edges) const {
  std::vector<ParallelismSummary> sums(edges.size() - 1);
  std::size_t block = block_at(edges.front());
  Reader reader(*this, block);
  bool is_there = true;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int64_t to = edges[i + 1];
    std::int64_t at = edges[i];
    while (at < to && is_there) {
      // Whole blocks.
      if (reader.start == at && at == blocks_[block].start && block + 1 < blocks_.size() &&
          blocks_[block + 1].start <= to) {
        sums[i].add(blocks_[block].sum);
        at = blocks_[++block].start;
        reader.skip_to(block);
        continue;
      }
      const std::int64_t until = std::min(reader.end, to);
      if (until > at)
        sums[i].add(reader.active, until - at);
      at = std::max(at, until);
      if (reader.end > to)
        break;
      is_there = reader.next();
      if (block + 1 < blocks_.size() && reader.start >= blocks_[block + 1].start)
        ++block;
    }
    if (at < to && !is_there)
      sums[i].add({}, to - at);
  }
  return sums;
}

std::size_t ParallelismIndex::bytes() const {
  std::size_t bytes = blocks_.capacity() * sizeof(Block) + tokens_.capacity();
  for (const auto& [block, histogram] : checkpoints_)
    bytes += histogram.capacity() * sizeof(histogram.front());
  return bytes;
}

}  // namespace longpole::analysis
