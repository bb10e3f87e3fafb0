// The pixels of one row of a timeline, from left to right: where each begins and ends, and what part of
// it is what.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "analysis/span_index.h"
#include "analysis/timeline_view.h"

namespace longpole::analysis {

using PixelShares = std::array<std::uint8_t, span_state_count>;

// In parts of whole_pixel: none is lost, and all of it is whole. `scale`: whole_pixel by `width`.
[[nodiscard]] inline PixelShares shares_of(const SpanTimes& times, Nanoseconds width,
                                           double scale) {
  // A byte each, in a word: what is computed in registers is not waited for, as what is stored would be.
  // Without branches, which would be guessed wrongly in every other pixel.
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t shares = 0;
  std::uint32_t sum = 0;
  std::uint32_t largest = 0;  // share, and behind it where its byte begins
  Nanoseconds all{};
  const auto add = [&](SpanState state) {
    const Nanoseconds time = times[index_of(state)];
    const auto bits = static_cast<std::uint32_t>(8 * index_of(state));
    const auto rounded = static_cast<std::uint32_t>(
        static_cast<std::int32_t>(static_cast<double>(time.count()) * scale));
    const std::uint32_t share = rounded + (static_cast<std::uint32_t>(rounded == 0) &
                                           static_cast<std::uint32_t>(time > Nanoseconds{}));
    shares |= std::uint64_t{share} << bits;
    sum += share;
    largest = std::max(largest, share << 8U | bits);
    all += time;
  };
  add(SpanState::running);
  add(SpanState::runnable);
  add(SpanState::blocked);
  // Most threads do neither.
  if (times[index_of(SpanState::io)] + times[index_of(SpanState::sleeping)] > Nanoseconds{}) {
    add(SpanState::io);
    add(SpanState::sleeping);
  }
  // May be less than nothing: no byte becomes so, and what is carried is carried back.
  const std::uint32_t wanted = all == width ? whole_pixel : std::min(sum, whole_pixel - 1);
  shares += (std::uint64_t{wanted} - sum) << (largest & 0xffU);
  PixelShares bytes;
  std::memcpy(bytes.data(), &shares, bytes.size());
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
        share_scales_{whole_pixel / static_cast<double>(step_),
                      whole_pixel / static_cast<double>(step_ + 1)} {}

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] Nanoseconds left() const { return left_; }
  [[nodiscard]] Nanoseconds right() const { return right_; }
  [[nodiscard]] bool is_last() const { return number_ + 1 == view_.pixels; }
  // whole_pixel by its width.
  [[nodiscard]] double share_scale() const {
    return share_scales_[static_cast<std::size_t>((right_ - left_).count() - step_)];
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
      // As often as not, which no branch predictor guesses.
      const std::int64_t longer = rest_ >= view_.pixels ? 1 : 0;
      rest_ -= longer * view_.pixels;
      right_ += Nanoseconds{step_ + longer};
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
  std::array<double, 2> share_scales_;  // of a pixel, and of one longer by a nanosecond
  std::uint32_t number_ = 0;
  Nanoseconds left_{};
  Nanoseconds right_{};  // 0: no pixel yet
  std::int64_t rest_ = 0;
  bool has_begun_ = false;
};

}  // namespace longpole::analysis
