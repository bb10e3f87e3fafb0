#include "recording/thread_attributes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace longpole::recording {
namespace {

std::string name_of(const longpole_record& record) {
  std::array<char, sizeof record.object + sizeof record.site> bytes{};
  std::memcpy(bytes.data(), &record.object, sizeof record.object);
  std::memcpy(bytes.data() + sizeof record.object, &record.site, sizeof record.site);
  return {bytes.data(), ::strnlen(bytes.data(), bytes.size())};
}

struct Saying {
  std::int64_t time;
  ThreadId of;
  longpole_record record;
};

}  // namespace

void apply_thread_attributes(
    const std::vector<RawThread>& raw, const std::function<std::int64_t(std::uint64_t)>& time_of,
    const std::function<ThreadId(std::uint64_t, std::int64_t)>& thread_of_handle,
    std::vector<MergedThread>& threads) {
  std::vector<Saying> sayings;
  for (const RawThread& thread : raw)
    thread.for_each_record([&](const longpole_record& record) {
      const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
      if (!is_thread_attribute(kind))
        return;
      const std::int64_t time = time_of(record.tsc);
      ThreadId of = ThreadId::none();
      if (kind == LONGPOLE_THREAD_NAME) {
        of = thread_of_handle(other_of(record), time);
      } else if ((other_of(record) & LONGPOLE_BY_THREAD_ID) == 0) {
        of = thread_of_handle(record.object, time);
      } else {
        const auto found = std::ranges::find_if(raw, [&](const RawThread& candidate) {
          return candidate.tid == static_cast<std::int32_t>(record.object);
        });
        if (found != raw.end())
          of = ThreadId{static_cast<std::uint32_t>(found - raw.begin())};
      }
      if (of.known() && of.index() < threads.size())
        sayings.push_back({time, of, record});
    });
  std::ranges::stable_sort(sayings, {}, &Saying::time);
  for (const Saying& saying : sayings) {
    MergedThread& thread = threads[saying.of.index()];
    const auto value = static_cast<std::uint32_t>(other_of(saying.record));
    switch (LONGPOLE_KIND(saying.record.kind_and_flags)) {
      case LONGPOLE_THREAD_NAME:
        thread.name = name_of(saying.record);
        break;
      case LONGPOLE_PRIORITY:
        thread.priority = static_cast<std::int32_t>(value);
        break;
      default:
        thread.bound_to.reset();
        if (value != LONGPOLE_ANY_CPU)
          thread.bound_to = value;
        break;
    }
  }
}

}  // namespace longpole::recording
