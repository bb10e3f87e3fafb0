#include "analysis/path_index.h"

#include <algorithm>

#include "analysis/quick_number.h"

namespace longpole::analysis {
namespace {

constexpr std::uint64_t arrival_bits = 3;
constexpr std::uint64_t gap_bit = 4;
constexpr unsigned flag_bits = 3;

}  // namespace

// One part after the other, from the beginning of a block on.
class PathIndex::Reader {
 public:
  Reader(const PathIndex& index, std::size_t block) : index_(index) { begin_at(block); }

  // Before the first part of the block.
  void begin_at(std::size_t block) {
    const Block& of = index_.blocks_[block];
    at_ = index_.tokens_.data() + of.tokens;
    part.end = Nanoseconds{of.end_before};
    next_ = block * block_parts;
  }
  // False: there is none.
  bool next() {
    if (next_ == index_.size_)
      return false;
    ++next_;
    const std::uint64_t token = take_number_quickly(at_);
    part.thread = static_cast<std::uint32_t>(take_number_quickly(at_));
    part.start = part.end;
    if ((token & gap_bit) != 0)
      part.start += Nanoseconds{static_cast<std::int64_t>(take_number_quickly(at_))};
    part.end = part.start + Nanoseconds{static_cast<std::int64_t>(token >> flag_bits)};
    part.arrival = static_cast<Arrival>(token & arrival_bits);
    return true;
  }
  // The next part is the first of a block; which it is.
  [[nodiscard]] bool is_between() const { return next_ % block_parts == 0 && next_ < index_.size_; }
  [[nodiscard]] std::size_t block() const { return next_ / block_parts; }
  // Behind the last part of that block.
  void pass_block() {
    if (block() + 1 < index_.blocks_.size())
      begin_at(block() + 1);
    else
      next_ = index_.size_;
  }

  PathPart part;

 private:
  const PathIndex& index_;
  const std::uint8_t* at_ = nullptr;
  std::size_t next_ = 0;
};

void PathIndex::add(const PathPart& part) {
  if (has_last_ && part.arrival == Arrival::onward && last_.thread == part.thread &&
      last_.end == part.start) {
    last_.end = part.end;
    return;
  }
  if (has_last_)
    append(last_);
  last_ = part;
  has_last_ = true;
}

void PathIndex::end() {
  if (has_last_)
    append(last_);
  has_last_ = false;
  tokens_.resize(tokens_.size() + bytes_behind_numbers, 0);
  blocks_.shrink_to_fit();
  tokens_.shrink_to_fit();
}

void PathIndex::append(const PathPart& part) {
  if (size_ % block_parts == 0)
    blocks_.push_back({end_, tokens_.size(), -1, 0});
  ++size_;
  const std::int64_t gap = part.start.count() - end_;
  const std::int64_t length = (part.end - part.start).count();
  append_number(tokens_, static_cast<std::uint64_t>(length) << flag_bits |
                             (gap != 0 ? gap_bit : 0U) | static_cast<std::uint64_t>(part.arrival));
  append_number(tokens_, part.thread);
  if (gap != 0)
    append_number(tokens_, static_cast<std::uint64_t>(gap));
  if (length > blocks_.back().longest) {
    blocks_.back().longest = length;
    blocks_.back().thread_of_longest = part.thread;
  }
  end_ = part.end.count();
}

std::int64_t PathIndex::end_of(std::size_t block) const {
  return block + 1 < blocks_.size() ? blocks_[block + 1].end_before : end_;
}

std::uint32_t PathIndex::parts_of(std::size_t block) const {
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(size_ - block * block_parts, block_parts));
}

std::vector<PathPart> PathIndex::parts() const {
  std::vector<PathPart> parts;
  if (blocks_.empty())
    return parts;
  parts.reserve(size_);
  for (Reader reader(*this, 0); reader.next();)
    parts.push_back(reader.part);
  return parts;
}

std::vector<PathPiece> PathIndex::pieces(const TimelineView& view) const {
  std::vector<PathPiece> pieces;
  if (blocks_.empty())
    return pieces;
  // The first block always begins before the view.
  const auto after = std::partition_point(
      blocks_.begin() + 1, blocks_.end(),
      [&](const Block& block) { return block.end_before <= view.from.count(); });
  Reader reader(*this, static_cast<std::size_t>(after - blocks_.begin() - 1));
  bool is_there = reader.next();
  while (is_there && reader.part.end <= view.from)
    is_there = reader.next();
  while (is_there && reader.part.start < view.to) {
    const PathPart& part = reader.part;
    PathPiece piece{part.thread, part.start, part.end, 1, part.arrival};
    std::int64_t longest = (part.end - part.start).count();
    const auto join = [&](Nanoseconds end, std::uint32_t parts, std::int64_t length,
                          std::uint32_t thread) {
      piece.end = end;
      piece.parts += parts;
      if (length > longest) {
        longest = length;
        piece.thread = thread;
      }
    };
    const Nanoseconds limit =
        part.start < view.from ? Nanoseconds{-1} : view.edge(view.pixel(part.start) + 1);
    while (true) {
      if (const std::size_t block = reader.block();
          reader.is_between() && end_of(block) <= limit.count()) {
        join(Nanoseconds{end_of(block)}, parts_of(block), blocks_[block].longest,
             blocks_[block].thread_of_longest);
        reader.pass_block();
        continue;
      }
      is_there = reader.next();
      if (!is_there || part.end > limit)
        break;
      join(part.end, 1, (part.end - part.start).count(), part.thread);
    }
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace longpole::analysis
