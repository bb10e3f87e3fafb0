#include "analysis/change.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "analysis/call_tree.h"
#include "analysis/critical_sections.h"
#include "simulation/condition_pairs.h"
#include "trace/event_forms.h"

namespace longpole::analysis {
namespace {

bool is_call_on_object(EventKind kind) {
  return event_form(kind).subject == SubjectForm::object;
}

__extension__ using Wide = __int128;

// What is left of a stretch of computing of one profile: `kept` parts of `weight · whole`.
struct Rest {
  std::int64_t kept = whole;
  std::int64_t weight = 1;
};

class Shortening {
 public:
  Shortening(const Recording& recording, const std::vector<Speed>& speeds)
      : recording_(recording), speeds_(speeds), charged_(charged_frames(recording)) {
    for (const Profile& profile : recording.profiles)
      rests_.push_back(rest_of(profile));
  }

  void apply(std::uint32_t thread, std::vector<Event>& events) const {
    std::int64_t of_thread = whole;
    std::vector<std::pair<Holding, std::int64_t>> locks;
    for (const Speed& speed : speeds_) {
      if (speed.part.kind == Part::Kind::thread && speed.part.thread.value == thread)
        of_thread = part_of(of_thread, whole - speed.less);
      else if (speed.part.kind == Part::Kind::lock)
        locks.emplace_back(Holding(speed.part.lock), whole - speed.less);
    }
    Wide carried = 0;  // of a nanosecond, in parts of `whole`
    for (Event& event : events) {
      std::int64_t while_held = whole;
      for (const auto& [holding, rest] : locks) {
        if (holding.held())
          while_held = part_of(while_held, rest);
      }
      const Rest rest = event.profile.known() ? rests_[event.profile.index()] : Rest{};
      const std::int64_t others = part_of(of_thread, while_held);
      if (others != whole || rest.kept != rest.weight * whole)
        event.cpu = keep(event.cpu, rest, others, carried);
      if (while_held != whole && (event.kind == EventKind::sleep || event.kind == EventKind::io ||
                                  event.kind == EventKind::external_wait))
        event.duration = keep(event.duration, {}, while_held, carried);
      for (auto& [holding, unused] : locks)
        holding.step(event);
    }
  }

  // Of what is left each place has another share. Numbers of samples stay what they are, whole ones: what rounding leaves
  // over goes to the next place that is shortened, so that a part's sum is right to a sample.
  void apply(Profile& profile) const {
    if (profile.exact)
      return;
    std::vector<ProfileEntry> left;
    Wide carried = whole / 2;
    for (ProfileEntry entry : profile.entries) {
      if (const std::int64_t rest = rest_of(entry); rest != whole) {
        carried += Wide{entry.samples} * rest;
        entry.samples = static_cast<std::uint32_t>(carried / whole);
        carried %= whole;
        if (entry.samples == 0)
          continue;
      }
      left.push_back(entry);
    }
    if (!left.empty())
      profile.entries = std::move(left);
  }

 private:
  static std::int64_t part_of(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(Wide{a} * b / whole);
  }

  static Nanoseconds keep(Nanoseconds time, Rest rest, std::int64_t others, Wide& carried) {
    carried += Wide{time.count()} * rest.kept / rest.weight * others / whole;
    const auto kept = static_cast<std::int64_t>(carried / whole);
    carried %= whole;
    return Nanoseconds{kept};
  }

  // A function is on a call path as long as it is the charged frame or one of its callers.
  [[nodiscard]] bool concerns(const Part& part, StackId charged) const {
    const Stack& frame = recording_.stacks[charged.index()];
    const auto is_one = [&](FunctionId function) {
      return std::find(part.functions.begin(), part.functions.end(), function) !=
             part.functions.end();
    };
    switch (part.kind) {
      case Part::Kind::function:
        return is_one(frame.function);
      case Part::Kind::function_with_callees:
        for (StackId at = charged; at.known(); at = recording_.stacks[at.index()].caller) {
          if (is_one(recording_.stacks[at.index()].function))
            return true;
        }
        return false;
      case Part::Kind::line:
        return frame.line == part.line &&
               std::find(part.files.begin(), part.files.end(), frame.file) != part.files.end();
      case Part::Kind::thread:
      case Part::Kind::lock:
        return false;
    }
    return false;
  }

  // Of `whole`.
  [[nodiscard]] std::int64_t rest_of(const ProfileEntry& entry) const {
    std::int64_t rest = whole;
    for (const Speed& speed : speeds_) {
      if (concerns(speed.part, charged_[entry.stack.index()]))
        rest = part_of(rest, whole - speed.less);
    }
    return rest;
  }

  [[nodiscard]] Rest rest_of(const Profile& profile) const {
    std::uint64_t samples = 0;
    for (const ProfileEntry& entry : profile.entries)
      samples += entry.samples;
    const bool alike = profile.exact || samples == 0;  // all entries have the same part
    const std::size_t entries = profile.exact ? 1 : profile.entries.size();
    Wide kept = 0;
    Wide all = 0;
    for (std::size_t e = 0; e < entries; ++e) {
      const std::int64_t rest = rest_of(profile.entries[e]);
      const std::uint64_t weight = alike ? 1 : profile.entries[e].samples;
      kept += Wide{weight} * rest;
      all += weight;
    }
    // So that a length times this fits.
    constexpr Wide most = std::int64_t{1} << 31;
    while (all > most) {
      all /= 2;
      kept /= 2;
    }
    return {static_cast<std::int64_t>(kept), static_cast<std::int64_t>(all)};
  }

  const Recording& recording_;
  const std::vector<Speed>& speeds_;
  std::vector<StackId> charged_;
  std::vector<Rest> rests_;  // by profile
};

Expected<void> check_split(const Recording& recording, const Split& split) {
  const Object& object = recording.objects[split.lock.index()];
  const std::string what = "cannot split " + object.name;
  if (!locks_of(recording)[split.lock.index()])
    return bad_input(what, "it is not used as a lock",
                     "name a mutex, a rwlock or a semaphore that guards something");
  if (split.into < 1 || split.into > most_parts_of_a_lock)
    return bad_input(what,
                     "a lock can become 1 to " + std::to_string(most_parts_of_a_lock) + " locks");
  for (const Thread& thread : recording.threads) {
    Holding holding(split.lock);
    for (const Event& event : thread.events) {
      if ((event.kind == EventKind::condition_wait ||
           event.kind == EventKind::condition_timedwait) &&
          event.other == split.lock.value)
        return bad_input(what,
                         "threads wait with it for condition " +
                             recording.objects[event.subject].name +
                             ", which would have to be split alike",
                         "ask for shorter hold times instead: --speed lock:" + object.name + "=50");
      if (Holding::is_release(event) && event.subject == split.lock.value && !holding.held())
        return bad_input(what, "thread " + thread.name + " releases it for another thread");
      holding.step(event);
    }
  }
  return {};
}

std::string name_of_part(const Recording& recording, const Object& lock, std::uint32_t number) {
  std::string name = lock.name + "." + std::to_string(number);
  const auto taken = [&] {
    return std::any_of(
        recording.objects.begin(), recording.objects.end(),
        [&](const Object& other) { return other.kind == lock.kind && other.name == name; });
  };
  while (taken())
    name += '\'';
  return name;
}

void split_lock(Recording& recording, const Split& split) {
  const auto first = static_cast<std::uint32_t>(recording.objects.size());
  // The first part is the lock itself.
  for (std::uint32_t part = 1; part < split.into; ++part) {
    Object lock = recording.objects[split.lock.index()];
    lock.name = name_of_part(recording, lock, part + 1);
    recording.objects.push_back(std::move(lock));
  }
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    Holding holding(split.lock);
    std::uint32_t section = t % split.into;
    for (Event& event : recording.threads[t].events) {
      if (event.subject != split.lock.value || !is_call_on_object(event.kind))
        continue;
      const Event as_recorded = event;
      if (section != 0)
        event.subject = first + section - 1;
      const bool over = holding.releases(as_recorded);
      holding.step(as_recorded);
      if (over)
        section = (section + 1) % split.into;
    }
  }
}

void free_object(Recording& recording, ObjectId object) {
  const ObjectKind kind = recording.objects[object.index()].kind;
  // Who went past a condition by a mutex still needs what it found there, whoever has the mutex.
  std::optional<simulation::ConditionPairs> conditions;
  if (kind == ObjectKind::mutex)
    conditions.emplace(recording);
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    std::vector<Event>& events = recording.threads[t].events;
    std::optional<Holding> goes_past;
    for (std::uint32_t at = 0; at < events.size(); ++at) {
      Event& event = events[at];
      if (event.subject != object.value || !is_call_on_object(event.kind))
        continue;
      if (conditions && conditions->pass_at(t, at) != nullptr)
        goes_past.emplace(object);
      if (goes_past) {
        goes_past->step(event);
        if (!goes_past->held())
          goes_past.reset();
        continue;
      }
      event.subject = unknown_count;
      if (kind == ObjectKind::device && event.outcome == Outcome::ok) {
        event.kind = EventKind::external_wait;  // it takes its time, in no queue
        continue;
      }
      event.kind = EventKind::yield;
      event.outcome = Outcome::ok;
      event.other = unknown_count;
      event.duration = {};
      event.waker = {};
    }
  }
}

}  // namespace

Expected<Recording> changed(const Recording& recording, const Changes& changes) {
  for (const Split& split : changes.splits) {
    if (const auto possible = check_split(recording, split); !possible)
      return tl::unexpected(possible.error());
  }
  Recording result = recording;
  if (!changes.speeds.empty()) {
    const Shortening shortening(recording, changes.speeds);
    for (std::uint32_t t = 0; t < result.threads.size(); ++t)
      shortening.apply(t, result.threads[t].events);
    for (Profile& profile : result.profiles)
      shortening.apply(profile);
  }
  for (const Split& split : changes.splits)
    split_lock(result, split);
  for (const ObjectId object : changes.freed)
    free_object(result, object);
  return result;
}

}  // namespace longpole::analysis
