#include "recording/profiles.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace longpole::recording {
namespace {

void add(const SampleCounts& counts, SampleCounts& sum) {
  for (const auto& [stack, samples] : counts)
    sum[stack] += samples;
}

Profile profile_of(const SampleCounts& counts, StackId fallback) {
  Profile profile;
  for (const auto& [stack, samples] : counts)
    profile.entries.push_back({stack, static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                          samples, std::numeric_limits<std::uint32_t>::max()))});
  if (profile.entries.empty() && fallback.known())
    profile.entries.push_back({fallback, 0});
  return profile;
}

}  // namespace

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

void ProfilePools::finish_stretch(MergedThread& thread, Stretch stretch, std::size_t& next_sample) {
  for (std::size_t i = stretch.first; i <= stretch.last; ++i)
    if (thread.events[i].cpu.count() > 0)
      thread.events[i].profile = ProfileId{stretch.pool};
  for (; next_sample < thread.samples.size() && thread.samples[next_sample].event <= stretch.last;
       ++next_sample) {
    const MergedSample& sample = thread.samples[next_sample];
    if (paths_[sample.path].known())
      stretch.samples[paths_[sample.path]] += sample.weight;
  }
  if (stretch.samples.empty())
    return;
  add(stretch.samples, pools_[stretch.pool].samples);
  stretches_.push_back(std::move(stretch));
}

void ProfilePools::add_thread(MergedThread& thread, std::size_t index, FunctionId function,
                              StackId start) {
  std::uint32_t site_before = no_site;
  std::size_t first = 0;
  std::size_t next_sample = 0;
  for (std::size_t i = 0; i < thread.events.size(); ++i) {
    const std::uint32_t site = thread.sites[i];
    if (thread.events[i].kind == EventKind::external_wait && site == no_site)
      continue;
    const std::uint32_t id = pool({function, thread.is_main, site_before, site}, start);
    finish_stretch(thread, {.pool = id, .thread = index, .first = first, .last = i, .samples = {}},
                   next_sample);
    first = i + 1;
    site_before = site;
  }
}

void ProfilePools::find_differences() {
  std::map<std::uint32_t, std::map<std::size_t, std::vector<Stretch*>>> by_pool;
  for (Stretch& stretch : stretches_)
    by_pool[stretch.pool][stretch.thread].push_back(&stretch);
  const auto give_profiles = [](const std::vector<Stretch*>& stretches) {
    std::vector<const SampleCounts*> counts;
    for (const Stretch* stretch : stretches)
      counts.push_back(&stretch->samples);
    if (differ(counts))
      for (Stretch* stretch : stretches)
        stretch->has_profile = true;
  };
  for (const auto& [pool, by_thread] : by_pool) {
    std::map<std::size_t, SampleCounts> of_threads;
    std::vector<const SampleCounts*> counts;
    std::vector<Stretch*> all;
    for (const auto& [thread, stretches] : by_thread) {
      SampleCounts& sum = of_threads[thread];
      for (const Stretch* stretch : stretches)
        add(stretch->samples, sum);
      counts.push_back(&sum);
      all.insert(all.end(), stretches.begin(), stretches.end());
    }
    if (differ(counts)) {
      for (const auto& [thread, stretches] : by_thread)
        give_profiles(stretches);
      of_threads_.emplace(pool, std::move(of_threads));
    } else {
      give_profiles(all);
    }
  }
}

std::vector<Profile> ProfilePools::take_profiles(std::vector<Thread>& threads) {
  find_differences();
  std::vector<Profile> profiles;
  const auto make = [&](const SampleCounts& counts, StackId fallback) {
    Profile profile = profile_of(counts, fallback);
    if (profile.entries.empty())
      return ProfileId::none();
    profiles.push_back(std::move(profile));
    return ProfileId{static_cast<std::uint32_t>(profiles.size() - 1)};
  };
  constexpr std::size_t all_threads = std::numeric_limits<std::size_t>::max();
  std::map<std::pair<std::uint32_t, std::size_t>, ProfileId> made;
  const auto shared_profile = [&](std::uint32_t pool, std::size_t thread) {
    const auto of_threads = of_threads_.find(pool);
    const bool is_its_own = of_threads != of_threads_.end() && of_threads->second.contains(thread);
    const auto [place, is_new] = made.try_emplace({pool, is_its_own ? thread : all_threads});
    if (is_new)
      place->second = make(is_its_own ? of_threads->second.at(thread) : pools_[pool].samples,
                           pools_[pool].fallback);
    return place->second;
  };

  const auto for_own = [&](const auto& give) {
    for (const Stretch& stretch : stretches_)
      if (stretch.has_profile)
        give(stretch, std::span(threads[stretch.thread].events)
                          .subspan(stretch.first, stretch.last - stretch.first + 1));
  };
  // Those first, so that what nobody shares is not made.
  for_own([](const Stretch&, std::span<Event> events) {
    for (Event& event : events)
      event.profile = ProfileId::none();
  });
  for (std::size_t t = 0; t < threads.size(); ++t)
    for (Event& event : threads[t].events)
      if (event.profile.known())
        event.profile = shared_profile(static_cast<std::uint32_t>(event.profile.index()), t);
  for_own([&](const Stretch& stretch, std::span<Event> events) {
    const ProfileId own = make(stretch.samples, StackId::none());
    for (Event& event : events)
      if (event.cpu.count() > 0)
        event.profile = own;
  });
  return profiles;
}

}  // namespace longpole::recording
