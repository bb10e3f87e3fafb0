#include "synthetic_recording.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace longpole::tests {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t events_of_a_round = 10;

class Synthesis {
 public:
  Synthesis(std::size_t events, std::uint32_t threads) : random_(1), threads_(threads) {
    const std::size_t per_round = events_of_a_round * threads;
    rounds_ = (events + per_round - 1) / per_round;
  }

  Recording make() {
    make_tables();
    for (std::uint32_t i = 0; i < threads_; ++i)
      make_thread(i);
    return std::move(r_);
  }

 private:
  static constexpr std::uint32_t locks = 16;

  void make_tables() {
    r_.run.source = Source::kernel;
    r_.run.cost_per_event = Nanoseconds{31};
    r_.modules.push_back({.path = "/usr/bin/program", .has_line_table = true});
    r_.files.push_back({.path = "/home/user/program/main.cc"});
    for (std::uint32_t i = 0; i < 40; ++i)
      r_.functions.push_back({.name = "function_" + std::to_string(i),
                              .file = {0},
                              .line = 10 * i,
                              .last_line = 10 * i + 8,
                              .module = {0}});
    for (std::uint32_t i = 0; i < 400; ++i)
      r_.stacks.push_back({.caller = i < 40 ? StackId::none() : StackId{i / 2},
                           .function = {i % 40},
                           .file = {0},
                           .line = 10 * (i % 40) + i % 8});
    for (std::uint32_t i = 0; i < 50; ++i) {
      Profile profile;
      for (std::uint32_t stack = i; stack < 400; stack += 1 + index(60))
        profile.entries.push_back({{stack}, 1 + index(500)});
      r_.profiles.push_back(std::move(profile));
    }
    for (std::uint32_t i = 0; i < locks; ++i)
      r_.objects.push_back({.kind = ObjectKind::mutex, .name = "table[" + std::to_string(i) + "]"});
    r_.objects.push_back({.kind = ObjectKind::mutex, .name = "queue_mutex"});
    r_.objects.push_back({.kind = ObjectKind::condition, .name = "not_empty"});
  }

  void make_thread(std::uint32_t self) {
    Thread thread{.name = "worker " + std::to_string(self)};
    thread.events.reserve(rounds_ * events_of_a_round + 1);
    now_ = milliseconds{self};
    for (std::size_t round = 0; round < rounds_; ++round)
      make_round(thread.events, self);
    call(thread.events, EventKind::thread_end, unknown_count, 0, 500);
    r_.threads.push_back(std::move(thread));
  }

  // Take a job from the queue, then work on four entries of a table, each under its lock.
  void make_round(std::vector<Event>& events, std::uint32_t self) {
    call(events, EventKind::mutex_lock, locks, 1, 300);
    Event& wait = call(events, EventKind::condition_wait, locks + 1, 2, 150);
    wait.other = locks;
    if (chance(10)) {
      wait.waker = {(self + 1 + index(threads_ - 1)) % threads_};
      wait.duration = jitter(40'000);
      now_ += wait.duration;
    }
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t lock = index(locks);
      Event& acquisition = call(events, EventKind::mutex_lock, lock, 10 + 2 * i, 1'500);
      if (chance(50)) {
        acquisition.waker = {(self + 1 + index(threads_ - 1)) % threads_};
        acquisition.duration = jitter(20'000);
        now_ += acquisition.duration;
      }
      call(events, EventKind::mutex_unlock, lock, 11 + 2 * i, 400);
    }
  }

  Event& call(std::vector<Event>& events, EventKind kind, std::uint32_t subject, std::uint32_t site,
              double typical_ns) {
    const Nanoseconds cpu = jitter(typical_ns);
    // Between two calls the thread mostly keeps the CPU; now and then another has it for a while.
    const Nanoseconds off = chance(200) ? jitter(3'000'000) : Nanoseconds{};
    now_ += cpu + r_.run.cost_per_event + off;
    return events.emplace_back(Event{.time = now_,
                                     .cpu = cpu,
                                     .subject = subject,
                                     .site = {40 + site},
                                     .profile = {site},
                                     .kind = kind});
  }

  // Times of real code: most near the typical, a tail of much longer ones.
  Nanoseconds jitter(double typical_ns) {
    return Nanoseconds{static_cast<std::int64_t>(typical_ns * std::exp(spread_(random_)))};
  }
  std::uint32_t index(std::uint32_t size) { return static_cast<std::uint32_t>(random_() % size); }
  bool chance(std::uint32_t one_in) { return index(one_in) == 0; }

  std::mt19937 random_;
  std::normal_distribution<double> spread_{0.0, 0.4};
  std::uint32_t threads_;
  std::size_t rounds_;
  Recording r_;
  Nanoseconds now_{};
};

}  // namespace

Recording synthetic_recording(std::size_t events, std::uint32_t threads) {
  return Synthesis(events, threads).make();
}

}  // namespace longpole::tests
