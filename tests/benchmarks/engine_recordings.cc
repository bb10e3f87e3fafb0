#include "engine_recordings.h"

#include <fmt/format.h>

#include <random>

namespace longpole {
namespace {

constexpr std::uint32_t functions = 200;
constexpr std::uint32_t profiles = 100;
constexpr std::uint32_t locks_per_thread = 2;

void add_profiles(Recording& recording, std::mt19937_64& random) {
  recording.files.push_back({"/src/program.cc", "", false});
  for (std::uint32_t f = 0; f < functions; ++f) {
    recording.functions.push_back(
        {fmt::format("function{}", f), FileId{0}, 10 * f + 1, 10 * f + 9, {}});
    const StackId caller =
        f == 0 ? StackId::none() : StackId{std::uniform_int_distribution(0U, f - 1)(random)};
    recording.stacks.push_back({caller, FunctionId{f}, FileId{0}, 10 * f + 5, false});
  }
  for (std::uint32_t p = 0; p < profiles; ++p) {
    Profile profile;
    for (std::uint32_t f = p % 7; f < functions; f += 13)
      profile.entries.push_back({StackId{f}, 1 + f % 5});
    recording.profiles.push_back(std::move(profile));
  }
}

// After some computing.
void add_event(Thread& thread, EventKind kind, std::uint32_t subject, std::mt19937_64& random) {
  Event event;
  event.cpu = Nanoseconds{std::uniform_int_distribution<std::int64_t>(100, 5000)(random)};
  event.kind = kind;
  event.subject = subject;
  event.profile = ProfileId{std::uniform_int_distribution(0U, profiles - 1)(random)};
  thread.events.push_back(event);
}

}  // namespace

Recording busy_recording(std::uint32_t threads, std::size_t events) {
  std::mt19937_64 random(threads);
  Recording recording;
  recording.run.source = Source::kernel;
  add_profiles(recording, random);
  const std::uint32_t locks = locks_per_thread * threads;
  for (std::uint32_t i = 0; i < locks; ++i)
    recording.objects.push_back({ObjectKind::mutex, fmt::format("lock{}", i)});
  recording.objects.push_back({ObjectKind::barrier, "barrier"});
  for (std::uint32_t t = 0; t < threads; ++t)
    recording.objects.push_back({ObjectKind::semaphore, fmt::format("semaphore{}", t)});

  const std::size_t rounds = events / threads / 4;
  for (std::uint32_t t = 0; t < threads; ++t) {
    Thread thread;
    thread.name = fmt::format("thread{}", t);
    thread.events.reserve(4 * rounds + rounds / 1000 + 2);
    const auto add = [&](EventKind kind, std::uint32_t subject) {
      add_event(thread, kind, subject, random);
    };
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::uint32_t lock = std::uniform_int_distribution(0U, locks - 1)(random);
      add(EventKind::mutex_lock, lock);
      add(EventKind::mutex_unlock, lock);
      add(EventKind::semaphore_post, locks + 1 + (t + 1) % threads);
      add(EventKind::semaphore_wait, locks + 1 + t);
      if (round % 1000 == 999) {
        add(EventKind::barrier_wait, locks);
        thread.events.back().other = threads;
      }
    }
    add(EventKind::thread_end, unknown_count);
    recording.threads.push_back(std::move(thread));
  }
  return recording;
}

Recording contended_recording(std::uint32_t threads, std::size_t events) {
  std::mt19937_64 random(threads);
  Recording recording;
  recording.run.source = Source::kernel;
  add_profiles(recording, random);
  recording.objects.push_back({ObjectKind::mutex, "lock"});
  const std::size_t rounds = events / threads / 2;
  for (std::uint32_t t = 0; t < threads; ++t) {
    Thread thread;
    thread.name = fmt::format("thread{}", t);
    thread.events.reserve(2 * rounds + 1);
    for (std::size_t round = 0; round < rounds; ++round) {
      add_event(thread, EventKind::mutex_lock, 0, random);
      add_event(thread, EventKind::mutex_unlock, 0, random);
    }
    add_event(thread, EventKind::thread_end, unknown_count, random);
    recording.threads.push_back(std::move(thread));
  }
  return recording;
}

}  // namespace longpole
