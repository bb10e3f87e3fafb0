// One thread of a timeline: what a picture of its row shows, and its numbers.
#include <algorithm>

#include "analysis/timeline.h"
#include "analysis/timeline_calls.h"

namespace longpole::analysis {
namespace {

constexpr std::size_t index_of(SpanState state) {
  return static_cast<std::size_t>(state);
}

// In parts of whole_pixel: none is lost, and all of it is whole. `scale`: whole_pixel by `width`.
std::array<std::uint8_t, span_state_count> shares_of(const SpanTimes& times, Nanoseconds width,
                                                     double scale) {
  std::array<std::uint32_t, span_state_count> shares{};
  std::uint32_t sum = 0;
  Nanoseconds all{};
  Nanoseconds longest{};
  std::size_t most = 0;
  for (std::size_t s = 0; s < times.size(); ++s) {
    const auto share = static_cast<std::uint32_t>(static_cast<double>(times[s].count()) * scale);
    shares[s] = std::max(share, times[s] > Nanoseconds{} ? 1U : 0U);
    sum += shares[s];
    all += times[s];
    most = times[s] > longest ? s : most;
    longest = std::max(longest, times[s]);
  }
  shares[most] += (all == width ? whole_pixel : std::min(sum, whole_pixel - 1)) - sum;
  std::array<std::uint8_t, span_state_count> bytes{};
  for (std::size_t s = 0; s < shares.size(); ++s)
    bytes[s] = static_cast<std::uint8_t>(shares[s]);
  return bytes;
}

// The pixel at hand. From one to the next goes without a division, which is dear: there are as many
// pixels as threads times the width of the picture.
class Pixel {
 public:
  explicit Pixel(const TimelineView& view)
      : view_(view),
        step_((view.to - view.from).count() / view.pixels),
        step_rest_((view.to - view.from).count() % view.pixels),
        share_scale_(whole_pixel / static_cast<double>(step_)),
        share_scale_of_longer_(whole_pixel / static_cast<double>(step_ + 1)) {}

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] Nanoseconds left() const { return left_; }
  [[nodiscard]] Nanoseconds right() const { return right_; }
  // Of the pixel behind it, which there must be.
  [[nodiscard]] Nanoseconds next_right() const {
    return right_ + Nanoseconds{step_ + (rest_ + step_rest_ >= view_.pixels ? 1 : 0)};
  }
  [[nodiscard]] bool is_last() const { return number_ + 1 == view_.pixels; }
  // whole_pixel by its width.
  [[nodiscard]] double share_scale() const {
    return (right_ - left_).count() == step_ ? share_scale_ : share_scale_of_longer_;
  }
  // That of a time that is not before this one.
  [[nodiscard]] std::uint32_t of(Nanoseconds time) const {
    if (time < right_)
      return number_;
    // The next one may be longer by a nanosecond; then it is found the other way.
    return has_begun_ && time.count() < right_.count() + step_ ? number_ + 1 : view_.pixel(time);
  }
  void go_to(std::uint32_t number) {
    if (has_begun_ && number == number_ + 1) {
      left_ = right_;
      rest_ += step_rest_;
      right_ += Nanoseconds{step_};
      if (rest_ >= view_.pixels) {
        rest_ -= view_.pixels;
        right_ += Nanoseconds{1};
      }
    } else {
      left_ = view_.edge(number);
      right_ = view_.edge(number + 1);
      rest_ = rest_of(number + 1);
      has_begun_ = true;
    }
    number_ = number;
  }

 private:
  // What is lost where the edge is rounded down, in parts of view_.pixels.
  [[nodiscard]] std::int64_t rest_of(std::uint32_t pixel) const {
    return step_rest_ * pixel % view_.pixels;
  }

  const TimelineView& view_;
  std::int64_t step_;
  std::int64_t step_rest_;
  double share_scale_;
  double share_scale_of_longer_;
  std::uint32_t number_ = 0;
  Nanoseconds left_{};
  Nanoseconds right_{};  // 0: no pixel yet
  std::int64_t rest_ = 0;
  bool has_begun_ = false;
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
    while (block < last_ && index_.block(block).start < view_.to.count()) {
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
    const std::int64_t from = index_.block(block).start;
    if (from < pixel_.left().count() || from >= right)
      return block;
    std::array<std::int64_t, span_state_count - 1> sums{};
    double weighted = 0;
    const std::size_t first = block;
    std::int64_t start = from;
    // The thread's last block ends elsewhere.
    for (; block + 1 < last_; ++block) {
      const SpanBlock& here = index_.block(block);
      const std::int64_t end = index_.block(block + 1).start;
      if (end >= right || end - start >= SpanIndex::long_block)
        break;
      for (std::size_t s = 0; s < sums.size(); ++s)
        sums[s] += here.times[s];
      weighted += here.weighted;
      if (with_names_)
        remember(here, block, end - start);
      start = end;
    }
    if (block == first)
      return block;
    std::int64_t rest = start - from;
    for (std::size_t s = 0; s < sums.size(); ++s) {
      times_[s] += Nanoseconds{sums[s]};
      rest -= sums[s];
    }
    times_.back() += Nanoseconds{rest};
    weighted_ += weighted;
    crowded_ |= start > from;
    return block;
  }

  // A block that reaches over the edge to the next pixel, which it ends in, where both are summarised:
  // what is on the left is counted, and the rest of its sums is on the right.
  bool take_split(std::size_t number) {
    const SpanBlock& block = index_.block(number);
    const std::int64_t block_end = index_.block_end(thread_, number);
    const std::int64_t right = pixel_.right().count();
    if (pixel_.is_last() || block.start < pixel_.left().count() || block.start >= right ||
        block_end <= right || block_end >= pixel_.next_right().count() ||
        block_end - block.start >= SpanIndex::long_block)
      return false;
    SpanTimes left{};
    double left_weighted = 0;
    SpanIndex::Tokens token(index_, block);
    PartIndex part = block.first_part;
    std::int64_t start = block.start;
    std::int64_t end = start + token.length();
    const auto count = [&](std::int64_t until) {
      left[index_of(token.state())] += Nanoseconds{until - start};
      if (block.has_weights && token.state() == SpanState::running)
        left_weighted += execution_.scaled_weight(part) * static_cast<double>(until - start);
    };
    const auto see = [&](std::int64_t from, std::int64_t to) {
      if (with_names_)
        remember(token.state(), {token.is_standstill() ? no_part : part, token.ends_part()},
                 Nanoseconds{to - from});
    };
    const auto next = [&] {
      part += token.ends_part() ? 1U : 0U;
      token.next();
      start = end;
      end += token.length();
    };
    while (end <= right) {
      count(end);
      see(start, end);
      next();
    }
    // What fills a pixel is no crowd.
    if (!crowded_ && (start == block.start || block.start == pixel_.left().count()))
      return false;
    const bool is_within = start == right;
    if (!is_within) {
      count(right);
      see(start, right);
    }
    for (std::size_t s = 0; s < left.size(); ++s)
      times_[s] += left[s];
    weighted_ += left_weighted;
    crowded_ = true;
    enter(pixel_.number() + 1);
    times_ = index_.times(thread_, number);
    for (std::size_t s = 0; s < left.size(); ++s)
      times_[s] -= left[s];
    weighted_ = block.weighted - left_weighted;
    crowded_ = is_within || end < block_end;
    if (!crowded_)
      pending_.push_back(
          {start, end, token.is_standstill() ? no_part : part, token.state(), token.ends_part()});
    if (with_names_) {
      see(right, end);
      while (end < block_end) {
        next();
        see(start, end);
      }
    }
    return true;
  }

  void take_one_by_one(std::size_t number) {
    const SpanBlock& block = index_.block(number);
    has_weights_ = block.has_weights;
    if (index_.block_end(thread_, number) - block.start >= SpanIndex::long_block) {
      SpanIndex::Reader reader(index_, thread_, number);
      for (std::uint32_t left = block.spans; left > 0 && reader.next(); --left)
        add(reader);
      return;
    }
    SpanIndex::Tokens token(index_, block);
    PartIndex part = block.first_part;
    SpanToken span;
    span.end = block.start;
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
  void remember(const SpanBlock& block, std::size_t number, std::int64_t length) {
    const Nanoseconds ran{block.times[index_of(SpanState::running)]};
    if (ran > most_run_) {
      most_run_ = ran;
      run_.block = number;
    }
    const Nanoseconds waited =
        Nanoseconds{length - block.times[index_of(SpanState::runnable)]} - ran;
    if (waited > most_wait_) {
      most_wait_ = waited;
      wait_.block = number;
    }
  }
  // What a block, if it is one, has seen.
  [[nodiscard]] Seen in_block(Seen seen, bool waits) const {
    if (seen.block == no_block)
      return seen;
    const SpanBlock& block = index_.block(seen.block);
    const SpanBlock::Token token = waits ? block.longest_wait : block.longest_run;
    return {token.is_standstill ? no_part : block.first_part + token.part, token.is_of_part};
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

bool Timeline::is_active(std::uint32_t thread, const TimelineView& view) const {
  const SpanIndex& index = execution_->index();
  SpanIndex::Reader reader(index, thread, index.block_at(thread, view.from.count()));
  while (reader.next() && reader.start < view.to.count()) {
    if (reader.end > view.from.count() && reader.end > reader.start &&
        (reader.state == SpanState::running || reader.state == SpanState::runnable))
      return true;
  }
  return count_calls(*execution_, thread, view) > 0;
}

TimelineThread Timeline::thread(std::uint32_t thread, const TimelineView& view) const {
  TimelineThread result;
  const SpanIndex& index = execution_->index();
  const std::size_t last = index.last_block(thread);
  if (index.first_block(thread) == last)
    return result;
  result.started = true;
  result.start = Nanoseconds{index.block(index.first_block(thread)).start};
  result.end = Nanoseconds{index.end(thread)};
  result.critical_ns = critical_[thread];
  result.calls = count_calls(*execution_, thread, view);
  const auto add = [&](const SpanToken& reader) {
    const std::int64_t from = std::max(reader.start, view.from.count());
    const std::int64_t to = std::min(reader.end, view.to.count());
    if (to <= from)
      return;
    result.times[index_of(reader.state)] += Nanoseconds{to - from};
    if (reader.ends_part)
      result.critical_in_view_ns +=
          execution_->weight(reader.part) *
          static_cast<double>(execution_->length_of(reader.part).count()) *
          static_cast<double>(to - from) / static_cast<double>(reader.end - reader.start);
  };
  for (std::size_t number = index.block_at(thread, view.from.count());
       number < last && index.block(number).start < view.to.count(); ++number) {
    const SpanBlock& block = index.block(number);
    const std::int64_t end = index.block_end(thread, number);
    if (block.start < view.from.count() || end > view.to.count() ||
        end - block.start >= SpanIndex::long_block) {
      SpanIndex::Reader reader(index, thread, number);
      for (std::uint32_t left = block.spans; left > 0; --left) {
        static_cast<void>(reader.next());
        add(reader);
      }
      continue;
    }
    const SpanTimes times = index.times(thread, number);
    for (std::size_t s = 0; s < times.size(); ++s)
      result.times[s] += times[s];
    result.critical_in_view_ns += static_cast<double>(block.critical);
  }
  result.active = result.calls > 0 || result.times[index_of(SpanState::running)] > Nanoseconds{} ||
                  result.times[index_of(SpanState::runnable)] > Nanoseconds{};
  return result;
}

}  // namespace longpole::analysis
