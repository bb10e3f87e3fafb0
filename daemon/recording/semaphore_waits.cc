#include "recording/semaphore_waits.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace longpole::recording {

SemaphoreWaits::SemaphoreWaits(const std::vector<RawThread>& threads) {
  for (const RawThread& thread : threads) {
    std::optional<std::pair<std::uint64_t, Wait>> under_way;
    thread.for_each_record([&](const longpole_record& record) {
      const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
      if (under_way) {
        under_way->second.end = std::max(record.tsc, under_way->second.begin);
        waits_[under_way->first].push_back(under_way->second);
        under_way.reset();
      }
      if ((kind == LONGPOLE_SEMAPHORE_WAIT || kind == LONGPOLE_SEMAPHORE_TIMEDWAIT) &&
          (LONGPOLE_FLAGS(record.kind_and_flags) & LONGPOLE_BEGINS) != 0)
        under_way = {record.object, {record.tsc, UINT64_MAX}};
    });
    if (under_way)
      waits_[under_way->first].push_back(under_way->second);
  }
  for (auto& [semaphore, waits] : waits_) {
    std::ranges::sort(waits, {}, &Wait::begin);
    std::size_t last = 0;
    for (std::size_t i = 1; i < waits.size(); ++i) {
      if (waits[i].begin <= waits[last].end)
        waits[last].end = std::max(waits[last].end, waits[i].end);
      else
        waits[++last] = waits[i];
    }
    waits.resize(last + 1);
  }
}

bool SemaphoreWaits::has_waiter(std::uint64_t semaphore, std::uint64_t stamp) const {
  const auto found = waits_.find(semaphore);
  if (found == waits_.end())
    return false;
  const std::vector<Wait>& waits = found->second;
  const auto after = std::ranges::upper_bound(waits, stamp, {}, &Wait::begin);
  return after != waits.begin() && stamp < std::prev(after)->end;
}

}  // namespace longpole::recording
