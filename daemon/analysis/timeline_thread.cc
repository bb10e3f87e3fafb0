// One thread of a timeline in numbers.
#include <algorithm>

#include "analysis/timeline.h"
#include "analysis/timeline_calls.h"

namespace longpole::analysis {

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
  result.start = Nanoseconds{index.block(index.first_block(thread)).start()};
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
       number < last && index.block(number).start() < view.to.count(); ++number) {
    const SpanBlock& block = index.block(number);
    const std::int64_t end = index.block_end(thread, number);
    if (block.start() < view.from.count() || end > view.to.count() ||
        end - block.start() >= SpanIndex::long_block) {
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
