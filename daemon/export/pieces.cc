#include "export/pieces.h"

#include <algorithm>
#include <utility>

#include "analysis/call_text.h"
#include "analysis/call_tree.h"

namespace longpole::exporting {

using analysis::SpanState;

namespace {

// Deals out the stretches of one profile to its call paths.
class Pool {
 public:
  explicit Pool(const Profile& profile) {
    analysis::for_each_share(profile, [&](const ProfileEntry& entry, double share) {
      paths_.push_back({entry.stack, share, 0});
    });
  }

  template <typename Take>  // take(StackId, length): together `length`
  void deal(std::int64_t length, std::int64_t grain, const Take& take) {
    for (Path& path : paths_)
      path.owed += path.share * static_cast<double>(length);
    Path* most = &paths_.front();
    std::int64_t left = length;
    for (Path& path : paths_) {
      if (path.owed > most->owed)
        most = &path;
    }
    for (Path& path : paths_) {
      std::int64_t piece = 0;
      if (&path == most)
        continue;
      if (path.owed >= static_cast<double>(grain))
        piece = std::min(left, static_cast<std::int64_t>(path.owed));
      if (piece <= 0)
        continue;
      take(path.stack, piece);
      path.owed -= static_cast<double>(piece);
      left -= piece;
    }
    if (left > 0)
      take(most->stack, left);
    most->owed -= static_cast<double>(left);
  }

 private:
  struct Path {
    StackId stack;
    double share = 0;
    double owed = 0;
  };
  std::vector<Path> paths_;
};

}  // namespace

std::vector<Piece> pieces_of(const Run& run, std::uint32_t thread) {
  const Recording& recording = *run.recording;
  const std::int64_t grain =
      recording.run.samples > 0
          ? recording.run.cpu_time.count() / static_cast<std::int64_t>(recording.run.samples)
          : 0;
  std::map<ProfileId, Pool> pools;
  std::vector<Piece> pieces;
  const std::vector<Stretch>& stretches = run.threads[thread].stretches;
  for (std::uint32_t i = 0; i < stretches.size(); ++i) {
    const Stretch& stretch = stretches[i];
    const Event& event = recording.threads[thread].events[stretch.event];
    if (stretch.start == stretch.end)
      continue;
    if (stretch.state != SpanState::running || !event.profile.known()) {
      const bool at_call =
          stretch.state != SpanState::running && stretch.state != SpanState::runnable;
      pieces.push_back({stretch.start, stretch.end, at_call ? event.site : StackId::none(), i});
      continue;
    }
    const auto pool =
        pools.try_emplace(event.profile, recording.profiles[event.profile.index()]).first;
    Nanoseconds at = stretch.start;
    pool->second.deal((stretch.end - stretch.start).count(), grain,
                      [&](StackId stack, std::int64_t length) {
                        pieces.push_back({at, at + Nanoseconds{length}, stack, i});
                        at += Nanoseconds{length};
                      });
  }
  return pieces;
}

std::string state_text(const Run& run, std::uint32_t thread, const Piece& piece) {
  const Stretch& stretch = run.threads[thread].stretches[piece.stretch];
  const Event& event = run.recording->threads[thread].events[stretch.event];
  switch (stretch.state) {
    case SpanState::running:
      return piece.stack.known() ? "" : "computes, where is not known";
    case SpanState::runnable:
      return "waits for a CPU";
    case SpanState::blocked:
    case SpanState::io:
    case SpanState::sleeping:
      break;
  }
  return "off the CPU: " + analysis::call_text(*run.recording, event);
}

}  // namespace longpole::exporting
