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
             const SummaryContent& content, TimelineRow& row)
      : execution_(execution),
        index_(execution.index()),
        thread_(thread),
        last_(index_.last_block(thread)),
        view_(view),
        content_(content),
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
    find_names();
  }

 private:
  static constexpr std::size_t no_block = ~std::size_t{0};
  // What names a pixel: a span, or a block that lies in it.
  struct Longest {
    Nanoseconds length{};
    PartIndex part = no_part;
    bool is_of_part = false;
    std::size_t block = no_block;
  };
  // That of a block that reaches over the edge of two pixels.
  struct TokenAtEdge {
    SpanToken span;
    std::uint32_t number = 0;  // in the block
    PartIndex part = no_part;  // also of a standstill
  };
  enum class Side : std::uint8_t { left, right };
  // A summary that is named by the event of a part.
  struct Unnamed {
    std::size_t summary = 0;
    PartIndex part = no_part;
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
    TokenAtEdge at_edge;
    if (right - block.start() <= end - right) {
      at_edge = count_up_to(right, block, left);
    } else {
      BlockSums behind;
      at_edge = count_from(right, number, behind);
      left = sums_of(block, end - block.start());
      left -= behind;
    }
    // What fills a pixel is no crowd.
    if (!crowded_ &&
        (at_edge.span.start == block.start() || block.start() == pixel_.left().count()))
      return false;
    BlockSums behind = sums_of(block, end - block.start());
    behind -= left;
    add_side(left, block, at_edge, Side::left, Nanoseconds{right - at_edge.span.start});
    crowded_ = true;
    enter(pixel_.number() + 1);
    add_side(behind, block, at_edge, Side::right, Nanoseconds{at_edge.span.end - right});
    crowded_ = at_edge.span.start == right || at_edge.span.end < end;
    if (!crowded_)
      pending_.push_back(at_edge.span);
    return true;
  }

  // What is left of the time, with the span that reaches over it, or begins there.
  TokenAtEdge count_up_to(std::int64_t time, const SpanBlock& block, BlockSums& sums) const {
    SpanIndex::Tokens token(index_, block);
    TokenAtEdge edge;
    edge.part = block.first_part;
    SpanToken& span = edge.span;
    span.start = block.start();
    span.end = span.start + token.length();
    while (span.end <= time) {
      count(block, token.state(), edge.part, span.end - span.start, sums);
      edge.part += token.ends_part() ? 1U : 0U;
      token.next();
      ++edge.number;
      span.start = span.end;
      span.end += token.length();
    }
    count(block, token.state(), edge.part, time - span.start, sums);
    span.state = token.state();
    span.ends_part = token.ends_part();
    span.part = token.is_standstill() ? no_part : edge.part;
    return edge;
  }
  // What is right of it.
  TokenAtEdge count_from(std::int64_t time, std::size_t number, BlockSums& sums) const {
    const SpanBlock& block = index_.block(number);
    SpanIndex::TokensFromLast token(index_, block);
    TokenAtEdge edge;
    edge.number = block.spans - 1U;
    edge.part = number + 1 < last_ ? index_.block(number + 1).first_part : execution_.end(thread_);
    SpanToken& span = edge.span;
    span.end = index_.block_end(thread_, number);
    span.start = span.end - token.length();
    while (span.start > time) {
      edge.part -= token.ends_part() ? 1U : 0U;
      count(block, token.state(), edge.part, span.end - span.start, sums);
      token.next();
      --edge.number;
      span.end = span.start;
      span.start -= token.length();
    }
    edge.part -= token.ends_part() ? 1U : 0U;
    count(block, token.state(), edge.part, span.end - time, sums);
    span.state = token.state();
    span.ends_part = token.ends_part();
    span.part = token.is_standstill() ? no_part : edge.part;
    return edge;
  }
  void count(const SpanBlock& block, SpanState state, PartIndex part, std::int64_t length,
             BlockSums& sums) const {
    sums.length += length;
    sums.running += state == SpanState::running ? length : 0;
    sums.runnable += state == SpanState::runnable ? length : 0;
    if (block.has_others != 0) {
      sums.io += state == SpanState::io ? length : 0;
      sums.sleeping += state == SpanState::sleeping ? length : 0;
    }
    if (has_weights(block) && state == SpanState::running)
      sums.weighted += execution_.scaled_weight(part) * static_cast<double>(length);
  }
  [[nodiscard]] BlockSums sums_of(const SpanBlock& block, std::int64_t length) const {
    BlockSums sums{length, block.running, block.runnable, 0, 0, 0};
    if (has_weights(block))
      sums.weighted = static_cast<double>(block.weighted);
    if (block.has_others != 0) {
      const SpanIndex::Others others = index_.others(block);
      sums.io = others.io;
      sums.sleeping = others.sleeping;
    }
    return sums;
  }
  [[nodiscard]] bool has_weights(const SpanBlock& block) const {
    return content_.weight && block.has_weights != 0;
  }
  // One side of a block, of which `there` is of the span at the edge. What is longest on a side is dear to
  // find: that span names it, and where it is none of the kind, the nearest that is.
  void add_side(const BlockSums& sums, const SpanBlock& block, const TokenAtEdge& edge, Side side,
                Nanoseconds there) {
    add(sums);
    remember(edge.span, there);
    if (content_.run && run_.length == Nanoseconds{} && sums.running > 0)
      run_ = nearest(block, edge, side, &SpanIndex::Kinds::runs);
    if (content_.wait && wait_.length == Nanoseconds{} && sums.waiting() > 0)
      wait_ = nearest(block, edge, side, &SpanIndex::Kinds::waits);
  }
  // There must be one: to the left of that token, or from it on.
  [[nodiscard]] Longest nearest(const SpanBlock& block, const TokenAtEdge& edge, Side side,
                                bool (SpanIndex::Kinds::*is_wanted)(std::uint32_t) const) const {
    const SpanIndex::Kinds kinds(index_, block);
    std::uint32_t token = edge.number;
    PartIndex part = edge.part;
    const auto go_on = [&] {
      if (side == Side::left)
        part -= kinds.ends_part(--token) ? 1U : 0U;
      else
        part += kinds.ends_part(token++) ? 1U : 0U;
    };
    if (side == Side::left)
      go_on();
    while (!(kinds.*is_wanted)(token))
      go_on();
    return {Nanoseconds{1}, kinds.is_standstill(token) ? no_part : part, kinds.ends_part(token)};
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
    has_weights_ = has_weights(block);
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
  }
  void find_names() {
    const std::vector<Event>& events = execution_.recording().threads[thread_].events;
    for (std::vector<Unnamed>* const unnamed : {&unnamed_runs_, &unnamed_waits_}) {
      for (Unnamed& each : *unnamed)
        each.part = execution_.event_number(each.part);
    }
    for (const Unnamed& run : unnamed_runs_)
      row_.summaries[run.summary].run = events[run.part].profile;
    for (const Unnamed& wait : unnamed_waits_)
      row_.summaries[wait.summary].wait = execution_.subject_keys().of(events[wait.part]);
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
    run_ = wait_ = {};
    weighted_ = 0;
  }
  void count(const SpanToken& token, Nanoseconds start, Nanoseconds end) {
    const Nanoseconds length = end - start;
    times_[index_of(token.state)] += length;
    if (has_weights_ && token.state == SpanState::running)
      weighted_ += execution_.scaled_weight(token.part) * static_cast<double>(length.count());
    remember(token, length);
  }

  void remember(const SpanToken& token, Nanoseconds length) {
    if (token.state == SpanState::running) {
      if (length > run_.length)
        run_ = {length, token.part, token.ends_part};
    } else if (token.state != SpanState::runnable && length > wait_.length) {
      wait_ = {length, token.part, token.ends_part};
    }
  }
  void remember(const BlockSums& sums, std::size_t number) {
    if (Nanoseconds{sums.running} > run_.length)
      run_ = {.length = Nanoseconds{sums.running}, .block = number};
    if (Nanoseconds{sums.waiting()} > wait_.length)
      wait_ = {.length = Nanoseconds{sums.waiting()}, .block = number};
  }
  void name_run(PixelSummary& summary) {
    if (run_.block == no_block) {
      unnamed_runs_.push_back({row_.summaries.size(), run_.part});
      return;
    }
    const SpanBlock& block = index_.block(run_.block);
    if (const auto name = index_.run_name(thread_, block)) {
      summary.run = ProfileId{*name - 1};
      return;
    }
    run_ = nearest(block, {.span = {}, .part = block.first_part}, Side::right,
                   &SpanIndex::Kinds::runs);
    name_run(summary);
  }
  void name_wait(PixelSummary& summary) {
    if (wait_.block == no_block) {
      const Span span{
          .state = SpanState::blocked, .part = wait_.part, .is_of_part = wait_.is_of_part};
      unnamed_waits_.push_back({row_.summaries.size(), execution_.part_of_event(thread_, span)});
      return;
    }
    const SpanBlock& block = index_.block(wait_.block);
    if (const auto name = index_.wait_name(thread_, block)) {
      summary.wait = *name;
      return;
    }
    wait_ = nearest(block, {.span = {}, .part = block.first_part}, Side::right,
                    &SpanIndex::Kinds::waits);
    name_wait(summary);
  }
  void flush() {
    PixelSummary summary;
    summary.pixel = pixel_.number();
    summary.shares = shares_of(times_, pixel_.right() - pixel_.left(), pixel_.share_scale());
    const auto ran = static_cast<double>(times_[index_of(SpanState::running)].count());
    if (content_.weight && ran > 0)
      summary.weight = static_cast<float>(weighted_ / (ran * execution_.weight_scale()));
    if (content_.run && run_.length > Nanoseconds{})
      name_run(summary);
    if (content_.wait && wait_.length > Nanoseconds{})
      name_wait(summary);
    row_.summaries.push_back(summary);
  }

  const Execution& execution_;
  const SpanIndex& index_;
  std::uint32_t thread_;
  std::size_t last_;
  const TimelineView& view_;
  const SummaryContent& content_;
  TimelineRow& row_;
  Pixel pixel_;
  bool has_weights_ = false;  // the block at hand
  bool crowded_ = false;
  std::vector<SpanToken> pending_;  // at spans from the pixel before, or out of the view
  SpanTimes times_{};
  Longest run_;
  Longest wait_;
  // They are far from each other in memory: found all together, where one does not wait for the other.
  std::vector<Unnamed> unnamed_runs_;
  std::vector<Unnamed> unnamed_waits_;
  double weighted_ = 0;  // scaled
};

}  // namespace

TimelineRow Timeline::row(std::uint32_t thread, const TimelineView& view,
                          const SummaryContent& content) const {
  TimelineRow row;
  row.summaries.reserve(view.pixels);
  RowBuilder(*execution_, thread, view, content, row).build();
  find_calls(*execution_, thread, view, row);
  return row;
}

}  // namespace longpole::analysis
