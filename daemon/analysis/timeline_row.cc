// One thread of a timeline: what a picture of its row shows, and its numbers.
#include <algorithm>

#include "analysis/timeline.h"

namespace longpole::analysis {
namespace {

constexpr std::size_t index_of(SpanState state) {
  return static_cast<std::size_t>(state);
}

// In parts of whole_pixel: none is lost, and all of it is whole.
std::array<std::uint8_t, span_state_count> shares_of(const SpanTimes& times, Nanoseconds width) {
  std::array<std::uint8_t, span_state_count> shares{};
  const double scale = whole_pixel / static_cast<double>(width.count());
  std::uint32_t sum = 0;
  Nanoseconds all{};
  std::size_t most = 0;
  for (std::size_t s = 0; s < times.size(); ++s) {
    if (times[s] == Nanoseconds{})
      continue;
    const auto share =
        std::max(1U, static_cast<std::uint32_t>(static_cast<double>(times[s].count()) * scale));
    shares[s] = static_cast<std::uint8_t>(share);
    sum += share;
    all += times[s];
    if (times[s] > times[most])
      most = s;
  }
  const std::uint32_t goal = all == width ? whole_pixel : std::min(sum, whole_pixel - 1);
  shares[most] = static_cast<std::uint8_t>(shares[most] + goal - sum);
  return shares;
}

// The pixel at hand. From one to the next goes without a division, which is dear: there are as many
// pixels as threads times the width of the picture.
class Pixel {
 public:
  explicit Pixel(const TimelineView& view)
      : view_(view),
        step_((view.to - view.from).count() / view.pixels),
        step_rest_((view.to - view.from).count() % view.pixels) {}

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] Nanoseconds left() const { return left_; }
  [[nodiscard]] Nanoseconds right() const { return right_; }
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
  std::uint32_t number_ = 0;
  Nanoseconds left_{};
  Nanoseconds right_{};  // 0: no pixel yet
  std::int64_t rest_ = 0;
  bool has_begun_ = false;
};

// Takes the spans of a row, and its calls, in order of time.
class RowBuilder {
 public:
  RowBuilder(const Execution& execution, std::uint32_t thread, const TimelineView& view,
             bool with_names, TimelineRow& row)
      : execution_(execution),
        index_(execution.index()),
        thread_(thread),
        view_(view),
        with_names_(with_names),
        row_(row),
        pixel_(view) {}

  // All of it is in the pixel at hand, and none of its calls is to be shown one by one.
  [[nodiscard]] bool can_take(std::size_t block) const {
    const std::int64_t start = index_.block(block).start;
    const std::int64_t end = index_.block_end(thread_, block);
    if (start < pixel_.left().count() || end >= pixel_.right().count() ||
        end - start >= SpanIndex::long_block)
      return false;
    const bool is_in_cell = cell_ == pixel_.number() / cell_pixels;
    if (is_in_cell && calls_ > most_calls_of_a_cell)
      return true;
    const std::size_t calls = calls_of(block);
    return calls == 0 || (is_in_cell && calls + calls_ > most_calls_of_a_cell);
  }
  void take(std::size_t block) {
    const SpanTimes times = index_.times(thread_, block);
    for (std::size_t s = 0; s < times.size(); ++s)
      times_[s] += times[s];
    crowded_ |= index_.block_end(thread_, block) > index_.block(block).start;
    weighted_ += static_cast<double>(index_.block(block).weighted) * execution_.weight_scale();
    if (times[index_of(SpanState::running)] > most_run_) {
      most_run_ = times[index_of(SpanState::running)];
      run_.block = block;
    }
    const Nanoseconds waited = times[index_of(SpanState::blocked)] +
                               times[index_of(SpanState::io)] +
                               times[index_of(SpanState::sleeping)];
    if (waited > most_wait_) {
      most_wait_ = waited;
      wait_.block = block;
    }
    const bool is_crowded = cell_ == pixel_.number() / cell_pixels && calls_ > most_calls_of_a_cell;
    const std::size_t calls = is_crowded ? 0 : calls_of(block);
    calls_ += calls;  // of a cell that is crowded already, how many more does not matter
    if (is_crowded || calls > 0)
      count_calls(index_.block(block).first_part, behind(block));
  }

  void add(const SpanIndex::Reader& reader, bool with_call) {
    if (reader.end > reader.start && reader.end > view_.from.count() &&
        reader.start < view_.to.count())
      add_span(reader);
    if (!with_call || !reader.ends_part || reader.end < view_.from.count())
      return;
    if (const std::uint8_t kind = execution_.shown_call(reader.part); kind != 0) {
      const Nanoseconds time{reader.end};
      const bool is_here = time >= pixel_.left() && time < pixel_.right();
      const std::uint32_t pixel = is_here ? pixel_.number() : view_.pixel(time);
      add_call({reader.part, 0, time}, pixel / cell_pixels, kind);
    }
  }
  void finish() {
    settle();
    if (crowded_)
      flush();
    flush_cell();
  }

 private:
  static constexpr std::size_t no_block = ~std::size_t{0};
  // A span, or the longest in a block.
  struct Seen {
    PartIndex part = no_part;
    bool is_of_part = false;
    std::size_t block = no_block;
  };

  [[nodiscard]] PartIndex behind(std::size_t block) const {
    return block + 1 < index_.last_block(thread_) ? index_.block(block + 1).first_part
                                                  : execution_.end(thread_);
  }
  [[nodiscard]] std::size_t calls_of(std::size_t block) const {
    std::size_t calls = 0;
    for (PartIndex part = index_.block(block).first_part; part < behind(block); ++part)
      calls += execution_.shown_call(part) != 0 ? 1U : 0U;
    return calls;
  }

  void add_span(const SpanIndex::Reader& reader) {
    const Nanoseconds whole_start{reader.start};
    const Nanoseconds whole_end{reader.end};
    const Nanoseconds start = std::max(whole_start, view_.from);
    const Nanoseconds end = std::min(whole_end, view_.to);
    if (start >= pixel_.right())
      enter(pixel_.of(start));
    const Nanoseconds left = pixel_.left();
    const Nanoseconds right = pixel_.right();
    if (whole_start > left && whole_end <= right) {  // as most do
      crowded_ = true;
      count(reader, whole_start, whole_end);
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
      row_.spans.push_back(execution_.span(thread_, reader));
    } else if (!leaves) {
      pending_.push_back(reader);
    } else {
      pending_.assign(1, reader);  // the others are in this pixel only, which is crowded
      count(reader, start, here);
      flush();
      crowded_ = false;
      begin(last);
      count(reader, pixel_.left(), end);
      return;
    }
    count(reader, start, here);
    if (leaves) {
      enter(last);
      count(reader, pixel_.left(), end);
    }
  }
  // Those that reach into the pixel at hand, of which all is known: they are shown where it is not
  // summarised.
  void settle() {
    if (!crowded_) {
      for (const SpanIndex::Reader& reader : pending_)
        row_.spans.push_back(execution_.span(thread_, reader));
    }
    pending_.clear();
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
  void count(const SpanIndex::Reader& reader, Nanoseconds start, Nanoseconds end) {
    const Nanoseconds length = end - start;
    times_[index_of(reader.state)] += length;
    if (reader.state == SpanState::running) {
      weighted_ += execution_.scaled_weight(reader.part) * static_cast<double>(length.count());
      remember(reader, length, most_run_, run_);
    } else if (reader.state != SpanState::runnable) {
      remember(reader, length, most_wait_, wait_);
    }
  }
  static void remember(const SpanIndex::Reader& reader, Nanoseconds length, Nanoseconds& most,
                       Seen& seen) {
    if (length <= most)
      return;
    most = length;
    seen = {reader.part, reader.ends_part, no_block};
  }
  [[nodiscard]] Seen in_block(Seen seen, bool waits) const {
    if (seen.block == no_block)
      return seen;
    SpanIndex::Reader reader(index_, thread_, seen.block);
    const SpanBlock& block = index_.block(seen.block);
    const std::uint8_t token = waits ? block.longest_wait : block.longest_run;
    for (std::uint32_t i = 0; i <= token; ++i)
      static_cast<void>(reader.next());
    return {reader.part, reader.ends_part, no_block};
  }
  void flush() {
    PixelSummary summary;
    summary.pixel = pixel_.number();
    summary.shares = shares_of(times_, pixel_.right() - pixel_.left());
    const auto ran = static_cast<double>(times_[index_of(SpanState::running)].count());
    summary.weight =
        ran > 0 ? static_cast<float>(weighted_ / (ran * execution_.weight_scale())) : 0.0F;
    if (with_names_ && most_run_ > Nanoseconds{})
      summary.run = in_block(run_, false).part;
    if (with_names_ && most_wait_ > Nanoseconds{}) {
      const Seen wait = in_block(wait_, true);
      summary.wait = execution_.event_of(
          thread_, {.state = SpanState::blocked, .part = wait.part, .is_of_part = wait.is_of_part});
    }
    row_.summaries.push_back(summary);
  }

  void add_call(TimelineCall call, std::uint32_t cell, std::uint8_t kind) {
    if (cell != cell_) {
      flush_cell();
      cell_ = cell;
    }
    if (calls_ < most_calls_of_a_cell)
      listed_[calls_] = call;
    ++calls_;
    ++kinds_[0][kind];
  }
  // In four tables by turns: calls of one kind often follow each other, and a sum waits for the one before.
  void count_calls(PartIndex part, PartIndex behind) {
    for (; part + kinds_.size() <= behind; part += static_cast<PartIndex>(kinds_.size())) {
      for (std::size_t i = 0; i < kinds_.size(); ++i)
        ++kinds_[i][execution_.shown_call(part + static_cast<PartIndex>(i))];
    }
    for (; part < behind; ++part)
      ++kinds_[0][execution_.shown_call(part)];
  }
  void flush_cell() {
    if (calls_ <= most_calls_of_a_cell) {
      row_.calls.insert(row_.calls.end(), listed_.begin(),
                        listed_.begin() + static_cast<std::ptrdiff_t>(calls_));
    } else {
      auto& sums = kinds_[0];
      for (std::size_t table = 1; table < kinds_.size(); ++table) {
        for (std::size_t kind = 0; kind < sums.size(); ++kind)
          sums[kind] += kinds_[table][kind];
      }
      for (std::size_t kind = 0; kind < event_kind_count; ++kind) {
        if (sums[kind + 1] > 0)
          row_.counts.push_back({cell_, static_cast<EventKind>(kind), sums[kind + 1]});
      }
    }
    calls_ = 0;
    kinds_ = {};
  }

  const Execution& execution_;
  const SpanIndex& index_;
  std::uint32_t thread_;
  const TimelineView& view_;
  bool with_names_;
  TimelineRow& row_;
  Pixel pixel_;
  bool crowded_ = false;
  std::vector<SpanIndex::Reader> pending_;  // at spans from the pixel before, or out of the view
  SpanTimes times_{};
  Seen run_;
  Seen wait_;
  Nanoseconds most_run_{};
  Nanoseconds most_wait_{};
  double weighted_ = 0;
  std::uint32_t cell_ = 0;
  std::size_t calls_ = 0;
  std::array<TimelineCall, most_calls_of_a_cell> listed_{};
  // By kind plus one: Execution::shown_call.
  std::array<std::array<std::uint32_t, event_kind_count + 1>, 4> kinds_{};
};

// Hands out the tokens of a thread that the view shows, and whole blocks where `can_take` says so.
template <typename CanTake, typename TakeBlock, typename TakeSpan>
void walk(const SpanIndex& index, std::uint32_t thread, const TimelineView& view,
          const CanTake& can_take, const TakeBlock& take_block, const TakeSpan& take_span) {
  // A call at the left edge may be of the block before.
  std::size_t block = index.block_at(thread, view.from.count() - 1);
  const std::size_t last = index.last_block(thread);
  SpanIndex::Reader reader(index, thread, block);
  while (true) {
    if (block < last && reader.is_at(block)) {
      if (can_take(block)) {
        take_block(block);
        if (++block == last)
          return;
        reader.skip_to(block);
        continue;
      }
      ++block;
    }
    if (!reader.next() || reader.start > view.to.count())
      return;
    take_span(reader);
  }
}

}  // namespace

TimelineRow Timeline::row(std::uint32_t thread, const TimelineView& view, WithNames names) const {
  TimelineRow row;
  row.summaries.reserve(view.pixels);
  RowBuilder builder(*execution_, thread, view, names == WithNames::yes, row);
  walk(
      execution_->index(), thread, view, [&](std::size_t block) { return builder.can_take(block); },
      [&](std::size_t block) { builder.take(block); },
      [&](const SpanIndex::Reader& reader) {
        builder.add(reader, !is_behind(Nanoseconds{reader.end}, view));
      });
  builder.finish();
  for (TimelineCall& call : row.calls)
    call.event = execution_->event_number(call.part);
  return row;
}

bool Timeline::is_active(std::uint32_t thread, const TimelineView& view) const {
  // A call at the left edge may be of the block before.
  const SpanIndex& index = execution_->index();
  SpanIndex::Reader reader(index, thread, index.block_at(thread, view.from.count() - 1));
  while (reader.next() && reader.start <= view.to.count()) {
    const bool overlaps = reader.start < view.to.count() && reader.end > view.from.count() &&
                          reader.end > reader.start;
    if (overlaps && (reader.state == SpanState::running || reader.state == SpanState::runnable))
      return true;
    if (reader.ends_part && reader.end >= view.from.count() &&
        !is_behind(Nanoseconds{reader.end}, view) && execution_->shown_call(reader.part) != 0)
      return true;
  }
  return false;
}

TimelineThread Timeline::thread(std::uint32_t thread, const TimelineView& view) const {
  TimelineThread result;
  const SpanIndex& index = execution_->index();
  if (index.first_block(thread) == index.last_block(thread))
    return result;
  result.started = true;
  result.start = Nanoseconds{index.block(index.first_block(thread)).start};
  result.end = Nanoseconds{index.end(thread)};
  result.critical_ns = critical_[thread];
  // Calls are counted over neighbouring blocks in one go, which takes a fraction of the time.
  PartIndex counted = 0;
  PartIndex to_count = 0;
  const auto count_calls = [&] {
    for (; counted < to_count; ++counted)
      result.calls += execution_->shown_call(counted) != 0 ? 1U : 0U;
  };
  walk(
      index, thread, view,
      [&](std::size_t block) {
        const std::int64_t start = index.block(block).start;
        const std::int64_t end = index.block_end(thread, block);
        return start >= view.from.count() && end < view.to.count() &&
               end - start < SpanIndex::long_block;
      },
      [&](std::size_t block) {
        const SpanTimes times = index.times(thread, block);
        for (std::size_t s = 0; s < times.size(); ++s)
          result.times[s] += times[s];
        result.critical_in_view_ns += static_cast<double>(index.block(block).critical);
        if (to_count != index.block(block).first_part) {
          count_calls();
          counted = index.block(block).first_part;
        }
        to_count = block + 1 < index.last_block(thread) ? index.block(block + 1).first_part
                                                        : execution_->end(thread);
      },
      [&](const SpanIndex::Reader& reader) {
        const std::int64_t from = std::max(reader.start, view.from.count());
        const std::int64_t to = std::min(reader.end, view.to.count());
        if (to > from) {
          result.times[index_of(reader.state)] += Nanoseconds{to - from};
          if (reader.ends_part)
            result.critical_in_view_ns +=
                execution_->weight(reader.part) *
                static_cast<double>(execution_->length_of(reader.part).count()) *
                static_cast<double>(to - from) / static_cast<double>(reader.end - reader.start);
        }
        if (reader.ends_part && reader.end >= view.from.count() &&
            !is_behind(Nanoseconds{reader.end}, view) && execution_->shown_call(reader.part) != 0)
          ++result.calls;
      });
  count_calls();
  result.active = result.calls > 0 || result.times[index_of(SpanState::running)] > Nanoseconds{} ||
                  result.times[index_of(SpanState::runnable)] > Nanoseconds{};
  return result;
}

}  // namespace longpole::analysis
