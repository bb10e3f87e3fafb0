#include "recording/barrier_completions.h"

#include <algorithm>
#include <map>
#include <utility>

#include "recording/event_edits.h"

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
      : threads_(threads),
        objects_(objects),
        is_in_barrier_(is_in_barrier),
        edits_(threads.size()),
        moving_(threads.size()) {}

  void split() {
    for (const auto& [barrier, by_thread] : parts())
      split(meetings_of(by_thread));
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      apply_edits(std::move(edits_[t]), threads_[t]);
      for (const std::size_t sample : moving_[t])
        ++threads_[t].samples[sample].event;
      std::ranges::stable_sort(threads_[t].samples, {}, &MergedSample::event);
    }
  }

 private:
  using ByThread = std::map<std::uint32_t, std::vector<Part>>;

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
      for_samples_of(meeting.last, [&](std::size_t, const MergedSample& sample) {
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
    EventEdit posts = behind(meeting.last);
    for (const Part& part : meeting.others) {
      const std::uint32_t semaphore =
          objects_.wake_ups(ThreadId{part.thread}, ThreadId{meeting.last.thread}).value;
      Event post = event_at(done, EventKind::semaphore_post, semaphore);
      post.cpu = posts.events.empty() ? alone : Nanoseconds{};
      posts.add(post, site(meeting.last));

      Event& arrival = threads_[part.thread].events[part.event];
      const Nanoseconds until = arrival.time + arrival.duration;
      arrival.duration = std::clamp(last.time - arrival.time, Nanoseconds{}, arrival.duration);
      Event wait = event_at(arrival.time + arrival.duration, EventKind::semaphore_wait, semaphore);
      wait.duration = until - wait.time;
      EventEdit waits = behind(part);
      waits.add(wait, site(part));
      edits_[part.thread].push_back(std::move(waits));
    }
    edits_[meeting.last.thread].push_back(std::move(posts));
    for_samples_of(meeting.last, [&](std::size_t index, const MergedSample& sample) {
      if (is_in_barrier_(sample.path))
        moving_[meeting.last.thread].push_back(index);
    });
  }

  [[nodiscard]] static EventEdit behind(const Part& part) {
    return {.first = part.event + 1, .behind = part.event + 1};
  }
  [[nodiscard]] std::uint32_t site(const Part& part) const {
    return threads_[part.thread].sites[part.event];
  }

  template <typename Take>
  void for_samples_of(const Part& part, const Take& take) const {
    const std::vector<MergedSample>& samples = threads_[part.thread].samples;
    const auto [first, behind] =
        std::ranges::equal_range(samples, part.event, {}, &MergedSample::event);
    for (auto sample = first; sample != behind; ++sample)
      take(static_cast<std::size_t>(sample - samples.begin()), *sample);
  }

  std::vector<MergedThread>& threads_;
  ObjectTable& objects_;
  const std::function<bool(std::uint32_t path)>& is_in_barrier_;
  std::vector<std::vector<EventEdit>> edits_;     // by thread
  std::vector<std::vector<std::size_t>> moving_;  // samples, to the first event behind
};

}  // namespace

void split_completions(std::vector<MergedThread>& threads, ObjectTable& objects,
                       const std::function<bool(std::uint32_t path)>& is_in_barrier) {
  Splitter(threads, objects, is_in_barrier).split();
}

}  // namespace longpole::recording
