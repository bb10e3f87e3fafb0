// One thread of a timeline: what a picture of its row shows.
#include <algorithm>
#include <cmath>

#include "analysis/timeline.h"
#include "analysis/timeline_calls.h"
#include "analysis/timeline_pixel.h"

namespace longpole::analysis {
namespace {

// The part of a block's SpanBlock::weighted that is not told from nothing.
constexpr double rounding = 1e-5;

// Of a block, of one side of an edge in it, or of several.
struct BlockSums {
  std::int64_t length = 0;
  std::int64_t running = 0;
  std::int64_t runnable = 0;
  std::int64_t io = 0;
  std::int64_t sleeping = 0;
  double weighted = 0;

  // Blocked, in I/O or asleep.
  [[nodiscard]] std::int64_t waiting() const { return length - running - runnable; }
  void operator+=(const BlockSums& other) {
    length += other.length;
    running += other.running;
    runnable += other.runnable;
    io += other.io;
    sleeping += other.sleeping;
    weighted += other.weighted;
  }
  // A part of it.
  void operator-=(const BlockSums& other) {
    length -= other.length;
    running -= other.running;
    runnable -= other.runnable;
    io -= other.io;
    sleeping -= other.sleeping;
    const double all = weighted;
    weighted -= other.weighted;
    if (std::abs(weighted) < std::abs(all) * rounding)
      weighted = 0;
  }
};

// Takes the spans of a row in order of time: as many blocks as it can by their sums.
class RowBuilder {
 public:
  RowBuilder(const Execution& execution, std::uint32_t thread, const TimelineView& view,
             bool with_names, TimelineRow& row)
      : execution_(execution),
        index_(execution.index()),
        thread_(thread),
        last_(index_.last_block(thread)),
        view_(view),
        with_names_(with_names),
        row_(row),
        pixel_(view) {}

  void build() {
    std::size_t block = index_.block_at(thread_, view_.from.count());
    while (block < last_ && index_.block(block).start() < view_.to.count()) {
      const std::size_t taken = take_whole(block);
      if (taken != block) {
        block = taken;
      } else {
        if (!take_split(block))
          take_one_by_one(block);
        ++block;
      }
    }
    settle();
    if (crowded_)
      flush();
    find_events();
  }

 private:
  static constexpr std::size_t no_block = ~std::size_t{0};
  // A span, or the longest in a block.
  struct Seen {
    PartIndex part = no_part;
    bool is_of_part = false;
    std::size_t block = no_block;
  };

  // Blocks that are in the pixel at hand, from that one on; answers which it does not take.
  std::size_t take_whole(std::size_t block) {
    const std::int64_t right = pixel_.right().count();
    const std::int64_t from = index_.block(block).start();
    if (from < pixel_.left().count() || from >= right)
      return block;
    BlockSums sums;
    const std::size_t first = block;
    std::int64_t start = from;
    // The thread's last block ends elsewhere.
    for (; block + 1 < last_; ++block) {
      const SpanBlock& here = index_.block(block);
      const std::int64_t end = index_.block(block + 1).start();
      if (end >= right || end - start >= SpanIndex::long_block)
        break;
      const BlockSums of_block = sums_of(here, end - start);
      sums += of_block;
      if (with_names_)
        remember(of_block, block);
      start = end;
    }
    if (block == first)
      return block;
    add(sums);
    crowded_ |= start > from;
    return block;
  }

  // A block that reaches over the edge to the next pixel, which it ends in, where both are summarised:
  // what is on one side of the edge is counted, and the rest of its sums is on the other.
  bool take_split(std::size_t number) {
    const SpanBlock& block = index_.block(number);
    const std::int64_t end = index_.block_end(thread_, number);
    const std::int64_t right = pixel_.right().count();
    if (pixel_.is_last() || block.start() < pixel_.left().count() || block.start() >= right ||
        end <= right || end >= pixel_.next_right().count() ||
        end - block.start() >= SpanIndex::long_block)
      return false;
    BlockSums left;
    SpanToken at_edge;
    if (right - block.start() <= end - right) {
      at_edge = count_up_to(right, block, left);
    } else {
      BlockSums behind;
      at_edge = count_from(right, number, behind);
      left = sums_of(block, end - block.start());
      left -= behind;
    }
    // What fills a pixel is no crowd.
    if (!crowded_ && (at_edge.start == block.start() || block.start() == pixel_.left().count()))
      return false;
    BlockSums behind = sums_of(block, end - block.start());
    behind -= left;
    add_side(left, number, at_edge, Nanoseconds{right - at_edge.start});
    crowded_ = true;
    enter(pixel_.number() + 1);
    add_side(behind, number, at_edge, Nanoseconds{at_edge.end - right});
    crowded_ = at_edge.start == right || at_edge.end < end;
    if (!crowded_)
      pending_.push_back(at_edge);
    return true;
  }

  // What is left of the time, with the span that reaches over it, or begins there.
  SpanToken count_up_to(std::int64_t time, const SpanBlock& block, BlockSums& sums) const {
    SpanIndex::Tokens token(index_, block);
    SpanToken span;
    span.part = block.first_part;
    span.start = block.start();
    span.end = span.start + token.length();
    while (span.end <= time) {
      count(block, token.state(), span.part, span.end - span.start, sums);
      span.part += token.ends_part() ? 1U : 0U;
      token.next();
      span.start = span.end;
      span.end += token.length();
    }
    count(block, token.state(), span.part, time - span.start, sums);
    span.state = token.state();
    span.ends_part = token.ends_part();
    span.part = token.is_standstill() ? no_part : span.part;
    return span;
  }
  // What is right of it.
  SpanToken count_from(std::int64_t time, std::size_t number, BlockSums& sums) const {
    const SpanBlock& block = index_.block(number);
    SpanIndex::TokensFromLast token(index_, block);
    SpanToken span;
    PartIndex behind =
        number + 1 < last_ ? index_.block(number + 1).first_part : execution_.end(thread_);
    span.end = index_.block_end(thread_, number);
    span.start = span.end - token.length();
    while (span.start > time) {
      behind -= token.ends_part() ? 1U : 0U;
      count(block, token.state(), behind, span.end - span.start, sums);
      token.next();
      span.end = span.start;
      span.start -= token.length();
    }
    behind -= token.ends_part() ? 1U : 0U;
    count(block, token.state(), behind, span.end - time, sums);
    span.state = token.state();
    span.ends_part = token.ends_part();
    span.part = token.is_standstill() ? no_part : behind;
    return span;
  }
  void count(const SpanBlock& block, SpanState state, PartIndex part, std::int64_t length,
             BlockSums& sums) const {
    sums.length += length;
    sums.running += state == SpanState::running ? length : 0;
    sums.runnable += state == SpanState::runnable ? length : 0;
    if (block.has_others) {
      sums.io += state == SpanState::io ? length : 0;
      sums.sleeping += state == SpanState::sleeping ? length : 0;
    }
    if (block.has_weights && state == SpanState::running)
      sums.weighted += execution_.scaled_weight(part) * static_cast<double>(length);
  }
  [[nodiscard]] BlockSums sums_of(const SpanBlock& block, std::int64_t length) const {
    BlockSums sums{
        length, block.running, block.runnable, 0, 0, static_cast<double>(block.weighted)};
    if (block.has_others) {
      const SpanIndex::Others others = index_.others(block);
      sums.io = others.io;
      sums.sleeping = others.sleeping;
    }
    return sums;
  }
  // One side of a block, of which `there` is of the span at the edge. What is longest on a side is dear to
  // find: that span is named, and where it is none of the kind, what is in the block.
  void add_side(const BlockSums& sums, std::size_t number, const SpanToken& at_edge,
                Nanoseconds there) {
    add(sums);
    if (!with_names_)
      return;
    remember(at_edge.state, {at_edge.part, at_edge.ends_part}, there);
    if (most_run_ == Nanoseconds{} && sums.running > 0) {
      most_run_ = Nanoseconds{1};
      run_.block = number;
    }
    if (most_wait_ == Nanoseconds{} && sums.waiting() > 0) {
      most_wait_ = Nanoseconds{1};
      wait_.block = number;
    }
  }
  void add(const BlockSums& sums) {
    times_[index_of(SpanState::running)] += Nanoseconds{sums.running};
    times_[index_of(SpanState::runnable)] += Nanoseconds{sums.runnable};
    times_[index_of(SpanState::io)] += Nanoseconds{sums.io};
    times_[index_of(SpanState::sleeping)] += Nanoseconds{sums.sleeping};
    times_[index_of(SpanState::blocked)] += Nanoseconds{sums.waiting() - sums.io - sums.sleeping};
    weighted_ += sums.weighted;
  }

  void take_one_by_one(std::size_t number) {
    const SpanBlock& block = index_.block(number);
    has_weights_ = block.has_weights;
    if (index_.block_end(thread_, number) - block.start() >= SpanIndex::long_block) {
      SpanIndex::Reader reader(index_, thread_, number);
      for (std::uint32_t left = block.spans; left > 0 && reader.next(); --left)
        add(reader);
      return;
    }
    SpanIndex::Tokens token(index_, block);
    PartIndex part = block.first_part;
    SpanToken span;
    span.end = block.start();
    for (std::uint32_t left = block.spans; left > 0; --left) {
      span.start = span.end;
      span.end += token.length();
      span.part = token.is_standstill() ? no_part : part;
      span.state = token.state();
      span.ends_part = token.ends_part();
      part += token.ends_part() ? 1U : 0U;
      token.next();
      add(span);
    }
  }

  void add(const SpanToken& span) {
    if (span.end > span.start && span.end > view_.from.count() && span.start < view_.to.count())
      add_span(span);
  }
  void add_span(const SpanToken& token) {
    const Nanoseconds whole_start{token.start};
    const Nanoseconds whole_end{token.end};
    const Nanoseconds start = std::max(whole_start, view_.from);
    const Nanoseconds end = std::min(whole_end, view_.to);
    if (start >= pixel_.right())
      enter(pixel_.of(start));
    const Nanoseconds left = pixel_.left();
    const Nanoseconds right = pixel_.right();
    if (whole_start > left && whole_end <= right) {  // as most do
      crowded_ = true;
      count(token, whole_start, whole_end);
      return;
    }
    const Nanoseconds here = std::min(end, right);
    const std::uint32_t last = end > right ? pixel_.of(end - Nanoseconds{1}) : pixel_.number();
    const bool leaves = last != pixel_.number();
    const bool covers = whole_start <= left && whole_end >= right;
    if (!covers && whole_start >= left && whole_end <= right) {
      crowded_ = true;
    } else if (covers || (leaves && (!crowded_ || last > pixel_.number() + 1))) {
      settle();
      show(token);
    } else if (!leaves) {
      pending_.push_back(token);
    } else {
      pending_.assign(1, token);  // the others are in this pixel only, which is crowded
      count(token, start, here);
      flush();
      crowded_ = false;
      begin(last);
      count(token, pixel_.left(), end);
      return;
    }
    count(token, start, here);
    if (leaves) {
      enter(last);
      count(token, pixel_.left(), end);
    }
  }
  // Those that reach into the pixel at hand, of which all is known: they are shown where it is not
  // summarised.
  void settle() {
    if (!crowded_) {
      for (const SpanToken& token : pending_)
        show(token);
    }
    pending_.clear();
  }
  // With the part of the event in place of the event.
  void show(const SpanToken& token) {
    Span& span = row_.spans.emplace_back();
    span.start = Nanoseconds{token.start};
    span.end = Nanoseconds{token.end};
    span.state = token.state;
    span.part = token.part;
    span.is_of_part = token.ends_part;
    span.event = execution_.part_of_event(thread_, span);
  }
  // All together: they are far from each other in memory, and here one does not wait for the other.
  void find_events() {
    for (Span& span : row_.spans)
      span.event = execution_.event_number(span.event);
    if (!with_names_)
      return;
    for (PixelSummary& summary : row_.summaries) {
      if (summary.wait)
        summary.wait = execution_.event_number(*summary.wait);
    }
  }
  void enter(std::uint32_t pixel) {
    settle();
    if (crowded_)
      flush();
    begin(pixel);
  }
  void begin(std::uint32_t pixel) {
    pixel_.go_to(pixel);
    crowded_ = false;
    times_ = {};
    most_run_ = most_wait_ = Nanoseconds{};
    weighted_ = 0;
  }
  void count(const SpanToken& token, Nanoseconds start, Nanoseconds end) {
    const Nanoseconds length = end - start;
    times_[index_of(token.state)] += length;
    if (has_weights_ && token.state == SpanState::running)
      weighted_ += execution_.scaled_weight(token.part) * static_cast<double>(length.count());
    remember(token.state, {token.part, token.ends_part}, length);
  }

  void remember(SpanState state, Seen seen, Nanoseconds length) {
    if (state == SpanState::running) {
      if (length > most_run_) {
        most_run_ = length;
        run_ = seen;
      }
    } else if (state != SpanState::runnable && length > most_wait_) {
      most_wait_ = length;
      wait_ = seen;
    }
  }
  void remember(const BlockSums& sums, std::size_t number) {
    if (Nanoseconds{sums.running} > most_run_) {
      most_run_ = Nanoseconds{sums.running};
      run_.block = number;
    }
    const Nanoseconds waited{sums.waiting()};
    if (waited > most_wait_) {
      most_wait_ = waited;
      wait_.block = number;
    }
  }
  // What a block, if it is one, has seen in the pixel.
  [[nodiscard]] Seen in_block(Seen seen, bool waits) const {
    if (seen.block == no_block)
      return seen;
    const SpanBlock& block = index_.block(seen.block);
    if (block.start() < pixel_.left().count() ||
        index_.block_end(thread_, seen.block) > pixel_.right().count())
      return in_part_of(block, waits);
    const SpanBlock::Token token = waits ? block.longest_wait : block.longest_run;
    return {token.is_standstill ? no_part : block.first_part + token.part, token.is_of_part};
  }
  [[nodiscard]] Seen in_part_of(const SpanBlock& block, bool waits) const {
    Seen seen;
    std::int64_t longest = 0;
    SpanIndex::Tokens token(index_, block);
    PartIndex part = block.first_part;
    std::int64_t start = block.start();
    for (std::uint32_t left = block.spans; left > 0; --left) {
      const std::int64_t end = start + token.length();
      const bool fits =
          waits ? token.state() != SpanState::running && token.state() != SpanState::runnable
                : token.state() == SpanState::running;
      const std::int64_t length =
          std::min(end, pixel_.right().count()) - std::max(start, pixel_.left().count());
      if (fits && length > longest) {
        longest = length;
        seen = {token.is_standstill() ? no_part : part, token.ends_part()};
      }
      part += token.ends_part() ? 1U : 0U;
      token.next();
      start = end;
    }
    return seen;
  }
  void flush() {
    PixelSummary summary;
    summary.pixel = pixel_.number();
    summary.shares = shares_of(times_, pixel_.right() - pixel_.left(), pixel_.share_scale());
    const auto ran = static_cast<double>(times_[index_of(SpanState::running)].count());
    summary.weight =
        ran > 0 ? static_cast<float>(weighted_ / (ran * execution_.weight_scale())) : 0.0F;
    if (with_names_ && most_run_ > Nanoseconds{})
      summary.run = in_block(run_, false).part;
    if (with_names_ && most_wait_ > Nanoseconds{}) {
      const Seen wait = in_block(wait_, true);
      summary.wait = execution_.part_of_event(
          thread_, {.state = SpanState::blocked, .part = wait.part, .is_of_part = wait.is_of_part});
    }
    row_.summaries.push_back(summary);
  }

  const Execution& execution_;
  const SpanIndex& index_;
  std::uint32_t thread_;
  std::size_t last_;
  const TimelineView& view_;
  bool with_names_;
  TimelineRow& row_;
  Pixel pixel_;
  bool has_weights_ = false;  // the block at hand
  bool crowded_ = false;
  std::vector<SpanToken> pending_;  // at spans from the pixel before, or out of the view
  SpanTimes times_{};
  Seen run_;
  Seen wait_;
  Nanoseconds most_run_{};
  Nanoseconds most_wait_{};
  double weighted_ = 0;  // scaled
};

}  // namespace

TimelineRow Timeline::row(std::uint32_t thread, const TimelineView& view, WithNames names) const {
  TimelineRow row;
  row.summaries.reserve(view.pixels);
  RowBuilder(*execution_, thread, view, names == WithNames::yes, row).build();
  find_calls(*execution_, thread, view, row);
  return row;
}

}  // namespace longpole::analysis
