#include "recording/stolen_time.h"

#include <algorithm>
#include <utility>

#include "recording/system.h"

namespace longpole::recording {

StolenTimeWatch::StolenTimeWatch(std::vector<std::uint32_t> cpus)
    : cpus_(std::move(cpus)), may_be_stolen_(cpu_use(cpus_).stolen.count() > 0) {}

void StolenTimeWatch::look(std::int64_t now_ns) {
  if (may_be_stolen_)
    note({now_ns, cpu_use(cpus_).stolen.count()});
}

void StolenTimeWatch::note(const StolenLook& now) {
  if (!looks_.empty() && looks_.back().stolen_ns == now.stolen_ns) {
    last_ = now;
    return;
  }
  if (last_)
    looks_.push_back(*std::exchange(last_, std::nullopt));
  looks_.push_back(now);
}

std::vector<StolenLook> StolenTimeWatch::take() {
  if (last_)
    looks_.push_back(*std::exchange(last_, std::nullopt));
  return std::exchange(looks_, {});
}

StolenTime::StolenTime(std::span<const StolenLook> looks, std::int64_t base_ns) {
  for (const StolenLook& look : looks)
    looks_.push_back({look.monotonic_ns - base_ns, look.stolen_ns});
}

std::int64_t StolenTime::total() const {
  return looks_.empty() ? 0 : looks_.back().stolen - looks_.front().stolen;
}

std::size_t StolenTime::before(std::int64_t time) const {
  const auto after = std::ranges::upper_bound(looks_, time, {}, &Look::time);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - looks_.begin(), 1) - 1);
}

std::int64_t StolenTime::most_between(std::int64_t from, std::int64_t until) const {
  if (looks_.empty())
    return 0;
  const auto after = std::ranges::lower_bound(looks_, until, {}, &Look::time);
  const Look& last = after == looks_.end() ? looks_.back() : *after;
  const std::int64_t seen = last.stolen - looks_[before(from)].stolen;
  return seen > 0 ? seen + cpu_use_step.count() : 0;
}

std::vector<std::int64_t> StolenTime::shared_out(std::span<const Run> runs) const {
  std::vector<std::int64_t> out(runs.size());
  if (looks_.size() < 2)
    return out;
  const auto for_each_part = [&](const Run& run, auto&& part) {
    for (std::size_t i = before(run.from); i + 1 < looks_.size() && looks_[i].time < run.until; ++i)
      part(i, std::max<std::int64_t>(
                  std::min(run.until, looks_[i + 1].time) - std::max(run.from, looks_[i].time), 0));
  };
  std::vector<std::int64_t> ran(looks_.size() - 1);
  for (const Run& run : runs)
    for_each_part(run, [&](std::size_t i, std::int64_t length) { ran[i] += length; });
  for (std::size_t r = 0; r < runs.size(); ++r) {
    double stolen = 0;
    for_each_part(runs[r], [&](std::size_t i, std::int64_t length) {
      const std::int64_t there = std::min(looks_[i + 1].stolen - looks_[i].stolen, ran[i]);
      if (ran[i] > 0)
        stolen +=
            static_cast<double>(there) * static_cast<double>(length) / static_cast<double>(ran[i]);
    });
    out[r] = static_cast<std::int64_t>(stolen);
  }
  return out;
}

}  // namespace longpole::recording
