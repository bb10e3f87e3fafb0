#include "allocation/delays.h"

#include <map>
#include <tuple>

namespace longpole::allocation {

using simulation::no_stretch;
using simulation::Stretch;
using simulation::StretchIndex;

std::vector<Delay> DelayFinder::delays() const {
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Nanoseconds> sums;
  StretchIndex at =
      stretches_.empty() ? no_stretch : static_cast<StretchIndex>(stretches_.size() - 1);
  while (at != no_stretch) {
    const Stretch& stretch = stretches_[at];
    if (stretch.start > stretch.ready && stretch.given_by != no_stretch) {
      const Stretch& before = stretches_[stretch.given_by];
      if (before.thread != stretch.thread)
        sums[{stretch.thread, before.thread, false}] += stretch.start - stretch.ready;
      at = stretch.given_by;
      continue;
    }
    if (stretch.released_by != no_stretch) {
      const Stretch& releaser = stretches_[stretch.released_by];
      if (releaser.thread != stretch.thread && releaser.end < stretch.ready)
        sums[{stretch.thread, releaser.thread, true}] += stretch.ready - releaser.end;
    }
    at = stretch.released_by;
  }
  std::vector<Delay> delays;
  for (const auto& [who, time] : sums)
    delays.push_back({std::get<0>(who), std::get<1>(who), std::get<2>(who), time});
  return delays;
}

}  // namespace longpole::allocation
