// What threads run that a library starts: std::thread's all begin in a function of libstdc++.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include "own_code.h"

namespace longpole::recording {
namespace {

__attribute__((noinline)) int one_body() {
  asm volatile("nop; nop; nop; nop");
  return 1;
}
__attribute__((noinline)) int another_body() {
  asm volatile("nop; nop; nop; nop");
  return 2;
}
__attribute__((noinline)) int creator() {
  asm volatile("nop; nop; nop; nop");
  return 3;
}

constexpr std::uint32_t of_one_body = 0;  // paths
constexpr std::uint32_t of_another = 1;

MergedThread thread_with(const std::vector<Event>& events,
                         const std::vector<std::uint32_t>& sites) {
  MergedThread thread;
  thread.events = events;
  thread.sites = sites;
  Event end;
  end.kind = EventKind::thread_end;
  end.time = Nanoseconds{1000};
  end.cpu = Nanoseconds{10};
  thread.events.push_back(end);
  thread.sites.push_back(no_site);
  return thread;
}

// The main thread creates one at each of these sites, which starts in a function of libc.
MergedRun run_of(const std::vector<std::uint32_t>& created_at) {
  MergedRun run;
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < created_at.size(); ++i) {
    Event event;
    event.kind = EventKind::thread_create;
    event.subject = i + 1;
    event.time = Nanoseconds{10 * i};
    events.push_back(event);
  }
  run.threads.push_back(thread_with(events, created_at));
  run.threads[0].is_main = true;
  for (std::uint32_t i = 0; i < created_at.size(); ++i) {
    run.threads.push_back(thread_with({}, {}));
    run.threads.back().start_function =
        reinterpret_cast<std::uint64_t>(::dlsym(RTLD_NEXT, "qsort"));
    run.threads.back().creator = ThreadId{0};
  }
  run.sites = {{inside(&creator), {}}, {inside(&creator) + 1, {}}};
  run.paths = {{inside(&one_body)}, {inside(&another_body)}};
  return run;
}

std::vector<std::string> bodies_of(const Recording& recording) {
  std::vector<std::string> bodies;
  for (std::size_t i = 1; i < recording.threads.size(); ++i) {
    const std::string& name = recording.functions[recording.threads[i].start_function.index()].name;
    bodies.emplace_back(name.find("one_body") != std::string::npos       ? "one"
                        : name.find("another_body") != std::string::npos ? "another"
                                                                         : "the library's");
  }
  return bodies;
}

TEST(ThreadBodies, OfAThreadWithoutSamplesAreThoseOfItsSiblings) {
  MergedRun run = run_of({0, 0, 1, 1, 0});
  run.threads[2].samples = {{0, of_one_body, 1}};
  run.threads[3].samples = {{0, of_another, 1}};
  const Recording recording = symbolize(std::move(run), own_mappings(), "");
  EXPECT_THAT(bodies_of(recording),
              testing::ElementsAre("one", "one", "another", "another", "one"));
  // And so are its lines.
  const auto profile = [&](std::size_t thread) {
    return recording.threads[thread].events.back().profile;
  };
  EXPECT_EQ(profile(1), profile(2));
  EXPECT_EQ(profile(4), profile(3));
  EXPECT_NE(profile(1), profile(3));
}

TEST(ThreadBodies, AreNotGuessedWhereSiblingsDiffer) {
  MergedRun run = run_of({0, 0, 0});
  run.threads[1].samples = {{0, of_one_body, 1}};
  run.threads[2].samples = {{0, of_another, 1}};
  EXPECT_THAT(bodies_of(symbolize(std::move(run), own_mappings(), "")),
              testing::ElementsAre("one", "another", "the library's"));
}

TEST(ThreadBodies, AreWhatTheThreadCallsWhereNoSiblingTells) {
  MergedRun run = run_of({0, 0});
  run.sites.push_back({inside(&another_body), {}});
  Event yield;
  yield.kind = EventKind::yield;
  run.threads[1].events.insert(run.threads[1].events.begin(), yield);
  run.threads[1].sites.insert(run.threads[1].sites.begin(), 2);
  EXPECT_THAT(bodies_of(symbolize(std::move(run), own_mappings(), "")),
              testing::ElementsAre("another", "the library's"));
}

}  // namespace
}  // namespace longpole::recording
