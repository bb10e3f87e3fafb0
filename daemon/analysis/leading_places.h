// Where most of a stretch of computing was: one place for each profile, for pictures that can name
// only one.
#pragma once

#include <vector>

#include "trace/recording.h"

namespace longpole::analysis {

// By profile: the frame that most of it is charged to (study.h): of the function that has most, its
// line that has most.
[[nodiscard]] std::vector<StackId> leading_places(const Recording& recording);

// By profile: the part of it that is charged to a place that `is_there`, 0…1.
template <typename Predicate>
[[nodiscard]] std::vector<double> shares_at(const Recording& recording,
                                            const std::vector<StackId>& charged,
                                            const Predicate& is_there) {
  std::vector<double> shares;
  shares.reserve(recording.profiles.size());
  for (const Profile& profile : recording.profiles) {
    double all = 0;
    double there = 0;
    for (const ProfileEntry& entry : profile.entries) {
      const double samples = profile.entries.size() == 1 ? 1 : entry.samples;
      all += samples;
      if (is_there(recording.stacks[charged[entry.stack.index()].index()]))
        there += samples;
    }
    shares.push_back(all > 0 ? there / all : 0);
  }
  return shares;
}

}  // namespace longpole::analysis
