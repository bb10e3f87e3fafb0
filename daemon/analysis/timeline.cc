#include "analysis/timeline.h"

#include <algorithm>
#include <future>
#include <utility>

namespace longpole::analysis {
namespace {

__extension__ using Wide = __int128;

// A time that can be multiplied by a number of pixels, or by whole_pixel, in 64 bits.
constexpr std::int64_t narrow = std::int64_t{1} << 48U;

}  // namespace

Nanoseconds TimelineView::edge(std::uint32_t pixel) const {
  const std::int64_t width = (to - from).count();
  if (width < narrow && pixels <= 1U << 14U) [[likely]]
    return from + Nanoseconds{width * pixel / pixels};
  return from + Nanoseconds{static_cast<std::int64_t>(Wide{width} * pixel / pixels)};
}

std::uint32_t TimelineView::pixel(Nanoseconds time) const {
  if (time >= to)
    return pixels - 1;
  const std::int64_t width = (to - from).count();
  const std::int64_t passed = (time - from).count() + 1;
  if (width < narrow && pixels <= 1U << 14U) [[likely]]
    return static_cast<std::uint32_t>((passed * pixels + width - 1) / width - 1);
  return static_cast<std::uint32_t>((Wide{passed} * pixels + width - 1) / width - 1);
}

Timeline::Timeline(std::shared_ptr<const Execution> execution)
    : execution_(std::move(execution)), critical_(execution_->thread_count(), 0) {
  auto critical = std::async(std::launch::async, [this] { find_critical(); });
  find_parallelism();
  critical.get();
}

void Timeline::find_critical() {
  for (std::uint32_t t = 0; t < execution_->thread_count(); ++t) {
    for (PartIndex index = execution_->begin(t); index < execution_->end(t); ++index)
      critical_[t] +=
          execution_->weight(index) * static_cast<double>(execution_->length_of(index).count());
  }
}

const CpuTurns& Timeline::cpu_turns() const {
  std::call_once(cpu_turns_->once, [&] { cpu_turns_->turns.emplace(*execution_); });
  return *cpu_turns_->turns;
}

std::size_t Timeline::bytes() const {
  return execution_->bytes() + parallelism_.bytes() + critical_.capacity() * sizeof(double);
}

std::vector<PathPiece> Timeline::path(const TimelineView& view) const {
  return execution_->path().pieces(view);
}

}  // namespace longpole::analysis
