#include "analysis/parallelism.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "analysis/quick_number.h"

namespace longpole::analysis {
namespace {

// A step is a number: the time since the one before, and in its low bits which of the usual steps it
// is; of any other, the differences of the two counts follow, modulo 2^32 and folded by zigzag().
constexpr unsigned step_bits = 3;
constexpr std::array<ActiveThreads, 7> usual_steps = {
    {{1, 0U - 1}, {0U - 1, 1}, {1, 0}, {0U - 1, 0}, {0, 1}, {0, 0U - 1}, {1, 1}}};
constexpr std::uint64_t unusual_step = usual_steps.size();

std::uint64_t folded(std::uint32_t difference) {
  return zigzag(static_cast<std::int32_t>(difference));
}
std::uint32_t unfolded(std::uint64_t value) {
  return static_cast<std::uint32_t>(unzigzag(value));
}

bool is_lower(const ActiveThreads& a, const ActiveThreads& b) {
  return std::tuple(std::uint64_t{a.running} + a.runnable, a.running) <
         std::tuple(std::uint64_t{b.running} + b.runnable, b.running);
}

// Time by level, where there are millions of changes between few levels.
class LevelTimes {
 public:
  void add(ActiveThreads active, std::int64_t time) {
    if (used_ * 2 >= slots_.size())
      grow();
    Slot& slot = find(active);
    used_ += slot.is_used ? 0 : 1;
    slot = {active, slot.time + time, true};
  }
  void add(const std::vector<std::pair<ActiveThreads, std::int64_t>>& histogram,
           std::int64_t sign) {
    for (const auto& [active, time] : histogram)
      add(active, sign * time);
  }
  [[nodiscard]] std::size_t size() const { return used_; }
  // Those that are not 0, in order.
  [[nodiscard]] std::vector<std::pair<ActiveThreads, std::int64_t>> in_order() const {
    std::vector<std::pair<ActiveThreads, std::int64_t>> levels;
    for (const Slot& slot : slots_) {
      if (slot.time != 0)
        levels.emplace_back(slot.active, slot.time);
    }
    std::sort(levels.begin(), levels.end(),
              [](const auto& a, const auto& b) { return is_lower(a.first, b.first); });
    return levels;
  }

 private:
  struct Slot {
    ActiveThreads active;
    std::int64_t time = 0;
    bool is_used = false;
  };

  // The slot of the level, or the one for it.
  Slot& find(ActiveThreads active) {
    const std::uint64_t key = std::uint64_t{active.running} << 32U | active.runnable;
    std::size_t at = (key * 0x9e3779b97f4a7c15U) >> shift_;
    while (slots_[at].is_used && slots_[at].active != active)
      at = (at + 1) % slots_.size();
    return slots_[at];
  }
  void grow() {
    std::vector<Slot> before(slots_.size() * 2);
    before.swap(slots_);
    --shift_;
    for (const Slot& slot : before) {
      if (slot.is_used)
        find(slot.active) = slot;
    }
  }

  unsigned shift_ = 64 - 6;
  std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << 6U);
  std::size_t used_ = 0;
};

}  // namespace

// One stretch after the other, from the beginning of a block on.
class ParallelismIndex::Reader {
 public:
  Reader(const ParallelismIndex& index, std::size_t block)
      : index_(index), last_(index.tokens_.data() + index.tokens_.size() - bytes_behind_numbers) {
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
    if (!has_next_)
      return false;
    start = end;
    const std::uint64_t step = next_ & unusual_step;
    if (step != unusual_step) [[likely]] {
      active.running += usual_steps[step].running;
      active.runnable += usual_steps[step].runnable;
    } else {
      active.running += unfolded(take_number_quickly(at_));
      active.runnable += unfolded(take_number_quickly(at_));
    }
    find_end();
    return true;
  }

  std::int64_t start = 0;
  std::int64_t end = 0;
  ActiveThreads active;

 private:
  void find_end() {
    has_next_ = at_ != last_;
    if (!has_next_) {
      end = index_.end_;
      return;
    }
    next_ = take_number_quickly(at_);
    end = start + static_cast<std::int64_t>(next_ >> step_bits);
  }

  const ParallelismIndex& index_;
  const std::uint8_t* at_ = nullptr;  // behind the step at the end of the stretch at hand
  const std::uint8_t* last_;
  std::uint64_t next_ = 0;  // that step
  bool has_next_ = false;
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
  if (active == active_)
    return;
  step(time, active);
  if (++in_block_ == block_steps) {
    blocks_.push_back({time, tokens_.size(), active, {}});
    in_block_ = 0;
  }
}

void ParallelismIndex::step(std::int64_t time, ActiveThreads active) {
  blocks_.back().sum.add(active_, time - last_);
  const ActiveThreads change{active.running - active_.running, active.runnable - active_.runnable};
  const auto step = static_cast<std::uint64_t>(
      std::find(usual_steps.begin(), usual_steps.end(), change) - usual_steps.begin());
  append_number(tokens_, static_cast<std::uint64_t>(time - last_) << step_bits | step);
  if (step == unusual_step) {
    append_number(tokens_, folded(change.running));
    append_number(tokens_, folded(change.runnable));
  }
  last_ = time;
  active_ = active;
}

void ParallelismIndex::append(const ParallelismIndex& behind) {
  step(behind.blocks_.front().start, behind.blocks_.front().active);
  for (Block block : behind.blocks_) {
    block.tokens += tokens_.size();
    blocks_.push_back(block);
  }
  tokens_.insert(tokens_.end(), behind.tokens_.begin(), behind.tokens_.end());
  last_ = behind.last_;
  active_ = behind.active_;
  in_block_ = behind.in_block_;
}

void ParallelismIndex::end(std::int64_t time) {
  if (blocks_.empty())
    blocks_.push_back({});
  end_ = std::max(time, last_);
  if (end_ > last_)
    blocks_.back().sum.add(active_, end_ - last_);
  tokens_.resize(tokens_.size() + bytes_behind_numbers, 0);
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
  LevelTimes levels;
  Reader reader(*this, 0);
  std::size_t block = 0;
  std::size_t next = 0;
  do {
    if (block < blocks_.size() && reader.start == blocks_[block].start) {
      // Where there are many levels, fewer: together they take no more memory than the blocks.
      if (block == next) {
        checkpoints_.emplace_back(block, levels.in_order());
        next += std::max(every, levels.size() / 2);
      }
      ++block;
    }
    levels.add(reader.active, reader.end - reader.start);
  } while (reader.next());
}

ParallelismIndex::Histogram ParallelismIndex::until(std::int64_t time) const {
  const std::size_t block = block_at(time);
  const auto after = std::upper_bound(
      checkpoints_.begin(), checkpoints_.end(), block,
      [](std::size_t wanted, const auto& checkpoint) { return wanted < checkpoint.first; });
  const auto& [from, histogram] = *(after - 1);
  LevelTimes levels;
  levels.add(histogram, 1);
  Reader reader(*this, from);
  do {
    if (reader.start >= time)
      break;
    levels.add(reader.active, std::min(reader.end, time) - reader.start);
  } while (reader.next());
  return levels.in_order();
}

std::vector<std::pair<ActiveThreads, std::int64_t>> ParallelismIndex::levels(
    std::int64_t from, std::int64_t to) const {
  LevelTimes levels;
  levels.add(until(to), 1);
  levels.add(until(from), -1);
  return levels.in_order();
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
