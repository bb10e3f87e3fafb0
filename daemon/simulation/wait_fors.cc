#include "simulation/wait_fors.h"

#include <algorithm>

#include "simulation/recorded_order.h"

namespace longpole::simulation {
namespace {

struct Edge {
  WaitFors::Key from = 0;
  WaitFors::Wait to = 0;
};

bool takes_lock(EventKind kind) {
  return kind == EventKind::mutex_lock || kind == EventKind::mutex_trylock ||
         kind == EventKind::mutex_timedlock || kind == EventKind::rwlock_read ||
         kind == EventKind::rwlock_write;
}

}  // namespace

// Makes an edge of each pair whose object is not direct.
class WaitFors::Edges : public EnablingConsumer {
 public:
  Edges(const Recording& recording, WaitFors& out) : recording_(recording), out_(out) {}

  void enabled(std::uint32_t thread, std::uint32_t event, Releaser releaser) override {
    const Event& releasing = recording_.threads[releaser.thread].events[releaser.event];
    // A wait for a condition lets go of its mutex; both have the same model.
    if (out_.models_[releasing.subject] != Model::direct)
      add(out_.key_of(releaser.thread, releaser.event), out_.wait_at(thread, event));
  }

  void polled(std::uint32_t thread, std::uint32_t event, Releaser releaser) override {
    if (out_.models_[recording_.threads[thread].events[event].subject] == Model::direct)
      return;
    const Wait wait = out_.wait_at(thread, event);
    out_.waits_[wait].poll = static_cast<Wait>(out_.waits_.size());
    out_.waits_.push_back({.thread = thread, .event = event, .is_poll = true});
    add(out_.key_of(releaser.thread, releaser.event), out_.waits_[wait].poll);
  }

  void joined(std::uint32_t thread, std::uint32_t event, std::uint32_t target) override {
    if (out_.joins_are_paired_)
      add(out_.key_of_end(target), out_.wait_at(thread, event));
  }

  void arrived(std::uint32_t thread, std::uint32_t event, std::uint32_t generation) override {
    gates_.resize(std::max<std::size_t>(gates_.size(), generation + std::size_t{1}), none);
    const Event& arrival = recording_.threads[thread].events[event];
    if (out_.models_[arrival.subject] == Model::direct)
      return;
    if (gates_[generation] == none) {
      gates_[generation] = static_cast<Wait>(out_.waits_.size());
      out_.waits_.push_back({.thread = none, .event = out_.gates_++});
    }
    add(out_.key_of(thread, event), gates_[generation]);
    if (arrival.outcome == Outcome::ok)
      add(out_.key_of_gate(gates_[generation]), out_.wait_at(thread, event));
  }

  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }

 private:
  void add(Key from, Wait to) {
    edges_.push_back({from, to});
    ++out_.waits_[to].missing;
  }

  const Recording& recording_;
  WaitFors& out_;
  std::vector<Wait> gates_;  // by generation
  std::vector<Edge> edges_;
};

WaitFors::WaitFors(const Recording& recorded, const Models& models) {
  if (models.all_direct())
    return;
  models_ = models_of_objects(recorded, models);
  joins_are_paired_ = models.general == Model::client_server;
  lists_.assign(recorded.threads.size(), 0);
  Key key = 0;
  for (const Thread& thread : recorded.threads) {
    first_event_.push_back(key);
    key += static_cast<Key>(thread.events.size());
  }
  first_end_ = key;
  first_gate_ = first_end_ + static_cast<Key>(recorded.threads.size());
  wait_of_event_.assign(first_end_, none);
  Edges edges(recorded, *this);
  RecordedOrder(recorded, edges).run();

  // By what enables them.
  first_enabled_.assign(std::size_t{first_gate_} + gates_ + 2, 0);
  for (const Edge& edge : edges.edges())
    ++first_enabled_[edge.from + std::size_t{2}];
  for (std::size_t i = 2; i < first_enabled_.size(); ++i)
    first_enabled_[i] += first_enabled_[i - 1];
  enabled_.resize(edges.edges().size());
  for (const Edge& edge : edges.edges())
    enabled_[first_enabled_[edge.from + std::size_t{1}]++] = edge.to;
  first_enabled_.pop_back();
  find_lists(recorded);
}

WaitFors::Wait WaitFors::wait_at(std::uint32_t thread, std::uint32_t event) {
  Wait& wait = wait_of_event_[first_event_[thread] + event];
  if (wait == none) {
    wait = static_cast<Wait>(waits_.size());
    waits_.push_back({.thread = thread, .event = event});
  }
  return wait;
}

void WaitFors::find_lists(const Recording& recorded) {
  // A measured call that took no time did not wait: nobody was served there.
  const bool measured =
      recorded.run.source == Source::kernel || recorded.run.source == Source::portable;
  for (std::uint32_t t = 0; t < recorded.threads.size(); ++t) {
    const std::vector<Event>& events = recorded.threads[t].events;
    // Where the end was not recorded nobody can tell which list was the last.
    if (events.empty() || events.back().kind != EventKind::thread_end)
      continue;
    std::uint32_t held = 0;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const Wait wait = wait_of(t, i);
      const bool may_start = event.kind == EventKind::thread_join
                                 ? joins_are_paired_
                                 : event.subject != unknown_count && governs(event) &&
                                       models_[event.subject] == Model::client_server;
      const bool waited = !measured || event.duration > Nanoseconds{};
      if (wait != none && waited && held == 0 && may_start && event.outcome == Outcome::ok &&
          event.kind != EventKind::send && event.kind != EventKind::barrier_wait) {
        waits_[wait].starts_list = true;
        ++lists_[t];
      }
      if (event.outcome != Outcome::ok)
        continue;
      if (takes_lock(event.kind))
        ++held;
      else if (event.kind == EventKind::mutex_unlock || event.kind == EventKind::rwlock_unlock)
        held -= held > 0 ? 1 : 0;
    }
  }
}

bool WaitFors::governs(const Event& event) const {
  switch (event.kind) {
    case EventKind::thread_join:
      return joins_are_paired_;
    case EventKind::mutex_lock:
    case EventKind::mutex_trylock:
    case EventKind::mutex_timedlock:
    case EventKind::mutex_unlock:
    case EventKind::rwlock_read:
    case EventKind::rwlock_write:
    case EventKind::rwlock_unlock:
    case EventKind::semaphore_wait:
    case EventKind::semaphore_trywait:
    case EventKind::semaphore_timedwait:
    case EventKind::semaphore_post:
    case EventKind::condition_wait:
    case EventKind::condition_timedwait:
    case EventKind::condition_signal:
    case EventKind::condition_broadcast:
    case EventKind::barrier_wait:
    case EventKind::send:
    case EventKind::receive:
      return event.subject < models_.size() && models_[event.subject] != Model::direct;
    default:
      return false;
  }
}

}  // namespace longpole::simulation
