#include "analysis/activity.h"

#include <algorithm>

#include "analysis/call_tree.h"

namespace longpole::analysis {

using simulation::Segment;
using simulation::SegmentIndex;

namespace {

// When what happens at a time of the ideal execution happens where each moment takes
// max(n/P, 1) times as long.
class StretchedTime {
 public:
  StretchedTime(const simulation::Schedule& ideal, std::uint32_t cpus)
      : steps_(simulation::concurrency(ideal)) {
    double now = 0;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      at_.push_back(now);
      factor_.push_back(std::max(1.0, static_cast<double>(steps_[i].running) / cpus));
      if (i + 1 < steps_.size())
        now += factor_[i] * static_cast<double>((steps_[i + 1].time - steps_[i].time).count());
    }
  }

  [[nodiscard]] double of(Nanoseconds time) const {
    const auto after = std::upper_bound(
        steps_.begin(), steps_.end(), time,
        [](Nanoseconds t, const simulation::ConcurrencyStep& step) { return t < step.time; });
    const auto step = static_cast<std::size_t>(after - steps_.begin()) - 1;
    return at_[step] + factor_[step] * static_cast<double>((time - steps_[step].time).count());
  }

 private:
  std::vector<simulation::ConcurrencyStep> steps_;
  std::vector<double> at_;
  std::vector<double> factor_;
};

}  // namespace

ActivityConsumer::ActivityConsumer(const Recording& recording)
    : recording_(recording),
      by_profile_(recording.profiles.size() + 1),
      by_stack_(recording.stacks.size() + 1),
      last_(recording.threads.size()) {}

void ActivityConsumer::add(const simulation::Stretch& stretch) {
  const std::vector<Event>& events = recording_.threads[stretch.thread].events;
  Last& last = last_[stretch.thread];
  if (last.end >= Nanoseconds{})
    wait(events[last.event], static_cast<double>((stretch.ready - last.end).count()));
  const Event& event = events[stretch.event];
  const auto length = static_cast<double>((stretch.end - stretch.start).count());
  const auto runnable = static_cast<double>((stretch.start - stretch.ready).count());
  if (stretch.spins != 0)
    spin(event, length, runnable);
  else if (stretch.running())
    compute(event, length, runnable);
  else
    wait(event, length + runnable);
  last = {stretch.event, stretch.end};
}

void ActivityConsumer::compute(const Event& event, double running_ns, double runnable_ns) {
  // Without a profile nothing was computed, but for what its call takes.
  const bool at_call = !event.profile.known() && event.site.known();
  Times& times =
      at_call
          ? by_stack_[event.site.index()]
          : by_profile_[event.profile.known() ? event.profile.index() : recording_.profiles.size()];
  times.running += running_ns;
  times.runnable += runnable_ns;
}

void ActivityConsumer::spin(const Event& event, double running_ns, double runnable_ns) {
  Times& times = by_stack_[event.site.known() ? event.site.index() : recording_.stacks.size()];
  times.running += running_ns;
  times.runnable += runnable_ns;
}

void ActivityConsumer::wait(const Event& event, double blocked_ns) {
  by_stack_[event.site.known() ? event.site.index() : recording_.stacks.size()].blocked +=
      blocked_ns;
}

std::vector<FunctionActivity> ActivityConsumer::functions() const {
  std::vector<FunctionActivity> all(recording_.functions.size() + 1);
  const std::vector<StackId> charged = charged_frames(recording_);
  const auto put = [&](StackId stack, const Times& times, double share) {
    FunctionActivity& function =
        stack.known() ? all[recording_.stacks[charged[stack.index()].index()].function.index()]
                      : all.back();
    function.running_ns += times.running * share;
    function.runnable_ns += times.runnable * share;
    function.blocked_ns += times.blocked * share;
  };
  for (std::uint32_t stack = 0; stack < recording_.stacks.size(); ++stack)
    put(StackId{stack}, by_stack_[stack], 1);
  put(StackId::none(), by_stack_.back(), 1);
  for (std::size_t profile = 0; profile < recording_.profiles.size(); ++profile) {
    for_each_share(recording_.profiles[profile], [&](const ProfileEntry& entry, double share) {
      put(entry.stack, by_profile_[profile], share);
    });
  }
  put(StackId::none(), by_profile_.back(), 1);
  for (std::uint32_t f = 0; f < recording_.functions.size(); ++f)
    all[f].function = FunctionId{f};
  std::erase_if(all, [](const FunctionActivity& one) {
    return one.running_ns == 0 && one.runnable_ns == 0 && one.blocked_ns == 0;
  });
  return all;
}

std::vector<FunctionActivity> shared_activity(const Recording& recording,
                                              const simulation::Schedule& ideal,
                                              std::uint32_t cpus) {
  const StretchedTime stretched(ideal, cpus);
  ActivityConsumer activity(recording);
  for (std::size_t t = 0; t < recording.threads.size(); ++t) {
    const std::vector<Event>& events = recording.threads[t].events;
    for (SegmentIndex s = ideal.thread_begin[t]; s < ideal.thread_begin[t + 1]; ++s) {
      const Segment& segment = ideal.segments[s];
      const double start = stretched.of(segment.start);
      const double length = stretched.of(segment.end) - start;
      if (s > ideal.thread_begin[t]) {
        const Segment& before = ideal.segments[s - 1];
        activity.wait(events[before.event], start - stretched.of(before.end));
      }
      const auto computed = static_cast<double>((segment.end - segment.start).count());
      if (segment.running)
        activity.compute(events[segment.event], computed, length - computed);
      else
        activity.wait(events[segment.event], length);
    }
  }
  return activity.functions();
}

}  // namespace longpole::analysis
