#include "recording/profiles.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace longpole::recording {

std::uint32_t ProfilePools::pool(const Key& key, StackId start) {
  const auto [place, is_new] = ids_.try_emplace(key, static_cast<std::uint32_t>(pools_.size()));
  if (is_new) {
    const auto stack_of = [&](std::uint32_t site) {
      return site != no_site ? sites_[site] : StackId::none();
    };
    Pool pool;
    for (const StackId stack : {stack_of(std::get<3>(key)), stack_of(std::get<2>(key)), start})
      if (!pool.fallback.known())
        pool.fallback = stack;
    pools_.push_back(std::move(pool));
  }
  return place->second;
}

void ProfilePools::finish_stretch(MergedThread& thread, std::size_t first, std::size_t last,
                                  std::uint32_t id, std::size_t& next_sample) {
  Pool& pool = pools_[id];
  for (std::size_t i = first; i <= last; ++i)
    if (thread.events[i].cpu.count() > 0) {
      thread.events[i].profile = ProfileId{id};
      pool.used = true;
    }
  for (; next_sample < thread.samples.size() && thread.samples[next_sample].event <= last;
       ++next_sample) {
    const MergedSample& sample = thread.samples[next_sample];
    if (paths_[sample.path].known())
      pool.samples[paths_[sample.path]] += sample.weight;
  }
}

void ProfilePools::add_thread(MergedThread& thread, FunctionId function, StackId start) {
  std::uint32_t site_before = no_site;
  std::size_t first = 0;
  std::size_t next_sample = 0;
  for (std::size_t i = 0; i < thread.events.size(); ++i) {
    const std::uint32_t site = thread.sites[i];
    if (thread.events[i].kind == EventKind::external_wait && site == no_site)
      continue;
    const std::uint32_t id = pool({function, thread.is_main, site_before, site}, start);
    finish_stretch(thread, first, i, id, next_sample);
    first = i + 1;
    site_before = site;
  }
}

std::vector<Profile> ProfilePools::take_profiles(std::vector<Thread>& threads) {
  std::vector<Profile> profiles;
  std::vector<ProfileId> ids(pools_.size());
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    const Pool& pool = pools_[i];
    Profile profile;
    for (const auto& [stack, samples] : pool.samples)
      profile.entries.push_back({stack, static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                            samples, std::numeric_limits<std::uint32_t>::max()))});
    if (profile.entries.empty() && pool.fallback.known())
      profile.entries.push_back({pool.fallback, 0});
    if (!pool.used || profile.entries.empty())
      continue;
    ids[i] = ProfileId{static_cast<std::uint32_t>(profiles.size())};
    profiles.push_back(std::move(profile));
  }
  for (Thread& thread : threads)
    for (Event& event : thread.events)
      if (event.profile.known())
        event.profile = ids[event.profile.index()];
  return profiles;
}

}  // namespace longpole::recording
