#include "analysis/leading_places.h"

#include <algorithm>
#include <map>

#include "analysis/call_tree.h"

namespace longpole::analysis {

std::vector<StackId> leading_places(const Recording& recording) {
  const std::vector<StackId> charged = charged_frames(recording);
  std::vector<StackId> places;
  places.reserve(recording.profiles.size());
  for (const Profile& profile : recording.profiles) {
    std::map<FunctionId, std::uint64_t> functions;
    std::map<StackId, std::uint64_t> frames;
    for (const ProfileEntry& entry : profile.entries) {
      const StackId frame = charged[entry.stack.index()];
      functions[recording.stacks[frame.index()].function] += entry.samples;
      frames[frame] += entry.samples;
    }
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    const FunctionId function = std::max_element(functions.begin(), functions.end(), fewer)->first;
    StackId place;
    for (const auto& [frame, samples] : frames) {
      if (recording.stacks[frame.index()].function == function &&
          (!place.known() || samples > frames[place]))
        place = frame;
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace longpole::analysis
