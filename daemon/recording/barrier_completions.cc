#include "recording/barrier_completions.h"

#include <algorithm>
#include <map>
#include <utility>

namespace longpole::recording {
namespace {

constexpr std::uint64_t fewest_samples = 3;
constexpr double smallest_share = 0.02;

// One thread's part in one meeting.
struct Part {
  std::uint32_t thread;
  std::uint32_t event;
};

// All who met at one time; the last of them lets the others go.
struct Meeting {
  Part last{};
  std::vector<Part> others;
};

class Splitter {
 public:
  Splitter(std::vector<MergedThread>& threads, ObjectTable& objects,
           const std::function<bool(std::uint32_t path)>& is_in_barrier)
      : threads_(threads), objects_(objects), is_in_barrier_(is_in_barrier) {}

  void split() {
    for (const auto& [barrier, by_thread] : parts())
      split(meetings_of(by_thread));
    for (std::uint32_t t = 0; t < threads_.size(); ++t)
      if (const auto found = edits_.find(t); found != edits_.end())
        rewrite(threads_[t], found->second);
  }

 private:
  using ByThread = std::map<std::uint32_t, std::vector<Part>>;
  // What is added behind events, and the CPU time and samples that move to it.
  struct Edit {
    std::vector<Event> behind;
    bool takes_samples = false;
  };

  [[nodiscard]] const Event& event(const Part& part) const {
    return threads_[part.thread].events[part.event];
  }

  [[nodiscard]] bool is_ours(const Event& event) const {
    if (event.kind != EventKind::barrier_wait || event.outcome != Outcome::ok)
      return false;
    return objects_.objects()[event.subject].address == 0;
  }

  [[nodiscard]] std::map<std::uint32_t, ByThread> parts() const {
    std::map<std::uint32_t, ByThread> parts;
    for (std::uint32_t t = 0; t < threads_.size(); ++t)
      for (std::uint32_t i = 0; i < threads_[t].events.size(); ++i)
        if (const Event& event = threads_[t].events[i]; is_ours(event))
          parts[event.subject][t].push_back({t, i});
    return parts;
  }

  // Each comes once to each meeting.
  [[nodiscard]] std::vector<Meeting> meetings_of(const ByThread& by_thread) const {
    std::size_t count = by_thread.begin()->second.size();
    for (const auto& [thread, parts] : by_thread)
      count = std::min(count, parts.size());
    std::vector<Meeting> meetings(count);
    for (std::size_t m = 0; m < count; ++m) {
      Meeting& meeting = meetings[m];
      for (const auto& [thread, parts] : by_thread)
        meeting.others.push_back(parts[m]);
      const auto last = std::ranges::max_element(
          meeting.others, {}, [this](const Part& part) { return event(part).time; });
      meeting.last = *last;
      meeting.others.erase(last);
    }
    return meetings;
  }

  void split(const std::vector<Meeting>& meetings) {
    std::uint64_t all = 0;
    std::uint64_t inside = 0;
    for (const Meeting& meeting : meetings)
      for_samples_of(meeting.last, [&](const MergedSample& sample) {
        all += sample.weight;
        inside += is_in_barrier_(sample.path) ? sample.weight : 0U;
      });
    if (inside < fewest_samples)
      return;
    const double share = static_cast<double>(inside) / static_cast<double>(all);
    if (share >= smallest_share)
      for (const Meeting& meeting : meetings)
        split(meeting, share);
  }

  void split(const Meeting& meeting, double share) {
    Event& last = threads_[meeting.last.thread].events[meeting.last.event];
    const Nanoseconds done = last.time;
    const auto alone =
        Nanoseconds{static_cast<std::int64_t>(static_cast<double>(last.cpu.count()) * share)};
    if (alone <= Nanoseconds{})
      return;
    last.cpu -= alone;
    last.time -= alone;
    Edit& edit = edits_[meeting.last.thread][meeting.last.event];
    edit.takes_samples = true;
    for (const Part& part : meeting.others) {
      const std::uint32_t semaphore =
          objects_.wake_ups(ThreadId{part.thread}, ThreadId{meeting.last.thread}).value;
      Event post;
      post.kind = EventKind::semaphore_post;
      post.subject = semaphore;
      post.time = done;
      post.cpu = edit.behind.empty() ? alone : Nanoseconds{};
      edit.behind.push_back(post);

      Event& arrival = threads_[part.thread].events[part.event];
      const Nanoseconds until = arrival.time + arrival.duration;
      arrival.duration = std::clamp(last.time - arrival.time, Nanoseconds{}, arrival.duration);
      Event wait;
      wait.kind = EventKind::semaphore_wait;
      wait.subject = semaphore;
      wait.time = arrival.time + arrival.duration;
      wait.duration = until - wait.time;
      edits_[part.thread][part.event].behind.push_back(wait);
    }
  }

  template <typename Take>
  void for_samples_of(const Part& part, const Take& take) const {
    const std::vector<MergedSample>& samples = threads_[part.thread].samples;
    for (auto sample = std::ranges::lower_bound(samples, part.event, {}, &MergedSample::event);
         sample != samples.end() && sample->event == part.event; ++sample)
      take(*sample);
  }

  void rewrite(MergedThread& thread, const std::map<std::uint32_t, Edit>& edits) const {
    std::vector<Event> events;
    std::vector<std::uint32_t> sites;
    auto sample = thread.samples.begin();
    for (std::uint32_t i = 0; i < thread.events.size(); ++i) {
      const auto edit = edits.find(i);
      const bool takes_samples = edit != edits.end() && edit->second.takes_samples;
      const auto now = static_cast<std::uint32_t>(events.size());
      for (; sample != thread.samples.end() && sample->event == i; ++sample)
        sample->event = now + (takes_samples && is_in_barrier_(sample->path) ? 1U : 0U);
      events.push_back(thread.events[i]);
      if (edit != edits.end())
        events.insert(events.end(), edit->second.behind.begin(), edit->second.behind.end());
      sites.resize(events.size(), thread.sites[i]);
    }
    std::ranges::stable_sort(thread.samples, {}, &MergedSample::event);
    thread.events = std::move(events);
    thread.sites = std::move(sites);
  }

  std::vector<MergedThread>& threads_;
  ObjectTable& objects_;
  const std::function<bool(std::uint32_t path)>& is_in_barrier_;
  std::map<std::uint32_t, std::map<std::uint32_t, Edit>> edits_;  // by thread and event
};

}  // namespace

void split_completions(std::vector<MergedThread>& threads, ObjectTable& objects,
                       const std::function<bool(std::uint32_t path)>& is_in_barrier) {
  Splitter(threads, objects, is_in_barrier).split();
}

}  // namespace longpole::recording
