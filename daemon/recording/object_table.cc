#include "recording/object_table.h"

#include <algorithm>
#include <limits>

namespace longpole::recording {
namespace {

constexpr std::int64_t always = std::numeric_limits<std::int64_t>::min();

// Addresses in user space have 56 bits at most.
std::uint64_t key(ObjectKind kind, std::uint64_t address) {
  return address | std::uint64_t{static_cast<std::uint8_t>(kind)} << 60U;
}

}  // namespace

void ObjectTable::add_initialization(ObjectKind kind, std::uint64_t address, std::int64_t time,
                                     std::uint32_t value, std::uint32_t site) {
  std::vector<Life>& lives = lives_[key(kind, address)];
  const auto after =
      std::upper_bound(lives.begin(), lives.end(), time,
                       [](std::int64_t t, const Life& life) { return t < life.from; });
  lives.insert(after, {time, ObjectId::none(), value, site});
}

ObjectId ObjectTable::use(ObjectKind kind, std::uint64_t address, std::int64_t time,
                          std::uint32_t site) {
  std::vector<Life>& lives = lives_[key(kind, address)];
  if (lives.empty() || lives.front().from > time)
    lives.insert(lives.begin(), {always, ObjectId::none(), std::nullopt, no_site});
  auto life = lives.end() - 1;
  if (lives.size() > 1)
    life = std::upper_bound(lives.begin(), lives.end(), time,
                            [](std::int64_t t, const Life& l) { return t < l.from; }) -
           1;
  if (!life->id.known()) {
    life->id = make(kind, address, time, *life, site);
  } else if (Details& details = details_[life->id.index()];
             life->site == no_site && time < details.first_use) {
    details.first_use = time;
    objects_[life->id.index()].first_site = site;
  }
  return life->id;
}

ObjectId ObjectTable::wake_ups(ThreadId woken, ThreadId waker) {
  const auto [place, is_new] = wake_ups_.try_emplace({woken, waker});
  if (is_new)
    place->second = add_stand_in({.kind = ObjectKind::semaphore,
                                  .stands_for = StandsFor::wake_ups,
                                  .woken = woken,
                                  .waker = waker});
  return place->second;
}

ObjectId ObjectTable::barrier(std::uint32_t number, std::uint32_t site) {
  const auto [place, is_new] = barriers_.try_emplace(number);
  if (is_new)
    place->second = add_stand_in({.kind = ObjectKind::barrier});
  if (std::uint32_t& first_site = objects_[place->second.index()].first_site; first_site == no_site)
    first_site = site;
  return place->second;
}

ObjectId ObjectTable::signals(ThreadId woken, int signal) {
  const auto [place, is_new] = signals_.try_emplace({woken, signal});
  if (is_new)
    place->second =
        add_stand_in({.kind = ObjectKind::semaphore,
                      .stands_for = signal == 0 ? StandsFor::cancellation : StandsFor::signals,
                      .woken = woken,
                      .signal = signal});
  return place->second;
}

ObjectId ObjectTable::channel(std::uint32_t channel, bool room, std::uint32_t site) {
  const auto [place, is_new] = channels_.try_emplace({channel, room});
  if (is_new)
    place->second = add_stand_in({.kind = ObjectKind::semaphore,
                                  .first_site = site,
                                  .stands_for = room ? StandsFor::room : StandsFor::data});
  return place->second;
}

ObjectId ObjectTable::add_stand_in(const MergedObject& object) {
  objects_.push_back(object);
  details_.push_back({0, always});
  return ObjectId{static_cast<std::uint32_t>(objects_.size() - 1)};
}

ObjectId ObjectTable::make(ObjectKind kind, std::uint64_t address, std::int64_t time,
                           const Life& life, std::uint32_t site) {
  const ObjectId id{static_cast<std::uint32_t>(objects_.size())};
  const bool counts = kind == ObjectKind::semaphore && life.value.has_value();
  objects_.push_back(
      {kind, address, life.site != no_site ? life.site : site, counts ? *life.value : 0});
  details_.push_back({life.value, time});
  return id;
}

}  // namespace longpole::recording
