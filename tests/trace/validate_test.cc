// validate(): each invariant of recording.h, broken once.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "trace/limits.h"
#include "trace/recording.h"

namespace longpole {
namespace {

using testing::HasSubstr;

// Two threads, and one of everything.
Recording sound() {
  Recording r;
  r.modules.push_back({.path = "/bin/program", .build_id = "0a1b"});
  r.files.push_back({.path = "/src/a.cc"});
  r.functions.push_back({.name = "f", .file = {0}, .module = {0}});
  r.stacks.push_back({.function = {0}, .file = {0}, .line = 3});
  r.stacks.push_back({.caller = {0}, .function = {0}});
  r.profiles.push_back({.entries = {{.stack = {0}, .samples = 2}, {.stack = {1}}}});
  r.objects.push_back({.kind = ObjectKind::mutex, .name = "M"});
  r.objects.push_back({.kind = ObjectKind::barrier, .name = "B", .first_site = {1}});
  r.objects.push_back({.kind = ObjectKind::condition, .name = "C"});
  r.objects.push_back({.kind = ObjectKind::semaphore, .name = "S", .initial = 2});
  r.threads.push_back({.name = "main", .start_function = {0}});
  r.threads.push_back({.name = "worker", .creator = {0}});
  const auto at = [](std::int64_t time, Event event) {
    event.time = Nanoseconds{time};
    return event;
  };
  r.threads[0].events = {
      at(1, {.subject = 1, .kind = EventKind::thread_create}),
      at(2,
         {.subject = 0, .site = {1}, .profile = {0}, .waker = {1}, .kind = EventKind::mutex_lock}),
      at(2, {.subject = 2, .other = 0, .kind = EventKind::condition_wait}),
      at(3, {.subject = 1, .other = 2, .kind = EventKind::barrier_wait}),
      at(4, {.kind = EventKind::thread_end})};
  r.threads[1].events = {at(1, {.subject = 2, .other = 1, .kind = EventKind::condition_signal}),
                         at(3, {.subject = 1, .other = 2, .kind = EventKind::barrier_wait}),
                         at(3, {.duration = Nanoseconds{5}, .kind = EventKind::sleep}),
                         at(9, {.kind = EventKind::thread_end})};
  return r;
}

TEST(Validate, AcceptsWhatIsSound) {
  const auto valid = validate(sound());
  EXPECT_TRUE(valid) << valid.error().text();
}

TEST(Validate, RefusesEveryBrokenInvariant) {
  using Break = std::function<void(Recording&)>;
  const auto lock = [](Recording& r) -> Event& { return r.threads[0].events[1]; };
  const std::vector<std::pair<std::string, Break>> breaks{
      {"it has no thread", [](Recording& r) { r.threads.clear(); }},
      {"its source is of no known kind",
       [](Recording& r) { r.run.source = static_cast<Source>(9); }},
      {"a time of the run is negative", [](Recording& r) { r.run.elapsed = Nanoseconds{-1}; }},
      {"on no CPU at all", [](Recording& r) { r.run.cpus = 0; }},
      {"its CPU times on several CPUs are not in ascending order",
       [](Recording& r) {
         r.run.cpu_time_on = {{4, 800}, {2, 700}};
       }},
      {"its CPU times on several CPUs are not in ascending order",
       [](Recording& r) {
         r.run.cpu_time_on = {{1, 1000}};
       }},
      {"its CPU time on 2 CPUs is not 1 to 10000 thousandths",
       [](Recording& r) {
         r.run.cpu_time_on = {{2, 0}};
       }},
      {"its CPU time on 4 CPUs is not 1 to 10000 thousandths",
       [](Recording& r) {
         r.run.cpu_time_on = {{2, 1000}, {4, 10'001}};
       }},
      {"a notice has no name", [](Recording& r) { r.notices.push_back({}); }},
      {"a module has no name", [](Recording& r) { r.modules[0].path.clear(); }},
      {"the build id of /bin/program is not hexadecimal",
       [](Recording& r) { r.modules[0].build_id = "xyz"; }},
      {"the hash of /src/a.cc is not a SHA-256", [](Recording& r) { r.files[0].sha256 = "ab"; }},
      {"function 0 has no name", [](Recording& r) { r.functions[0].name.clear(); }},
      {"function 0 names a file or module", [](Recording& r) { r.functions[0].file = {1}; }},
      {"function 0 names a file or module", [](Recording& r) { r.functions[0].module = {1}; }},
      {"stack 1 does not come after its caller", [](Recording& r) { r.stacks[1].caller = {1}; }},
      {"stack 1 names a function or file", [](Recording& r) { r.stacks[1].function = {}; }},
      {"stack 1 names a function or file", [](Recording& r) { r.stacks[1].file = {1}; }},
      {"profile 0 has 0 entries", [](Recording& r) { r.profiles[0].entries.clear(); }},
      {"profile 0 has 2 entries", [](Recording& r) { r.profiles[0].exact = true; }},
      {"profile 0 names a stack", [](Recording& r) { r.profiles[0].entries[1].stack = {2}; }},
      {"profile 0 is not in the order",
       [](Recording& r) { std::swap(r.profiles[0].entries[0], r.profiles[0].entries[1]); }},
      {"object 0 is of no known kind",
       [](Recording& r) { r.objects[0].kind = static_cast<ObjectKind>(7); }},
      {"object 0 has no name", [](Recording& r) { r.objects[0].name.clear(); }},
      {"two of the kind mutex are called \"M\"",
       [](Recording& r) { r.objects.push_back(r.objects[0]); }},
      {"the site of \"M\"", [](Recording& r) { r.objects[0].first_site = {2}; }},
      {"\"M\" has an initial value", [](Recording& r) { r.objects[0].initial = 1; }},
      {"thread 0 has no name", [](Recording& r) { r.threads[0].name.clear(); }},
      {"two threads are called \"main\"", [](Recording& r) { r.threads[1].name = "main"; }},
      {"the start function of thread \"main\"",
       [](Recording& r) { r.threads[0].start_function = {1}; }},
      {"the creator of thread \"worker\"", [](Recording& r) { r.threads[1].creator = {1}; }},
      {"the creator of thread \"worker\"", [](Recording& r) { r.threads[1].creator = {2}; }},
      {"thread \"main\" has a creator that does not create it",
       [](Recording& r) { r.threads[0].creator = {1}; }},
      {"creates a thread that names another creator",
       [](Recording& r) { r.threads[1].creator = {}; }},
      {"thread \"main\" is created by a thread that it created",
       [](Recording& r) {
         r.threads[0].creator = {1};
         std::vector<Event>& events = r.threads[1].events;
         events.insert(events.begin(), {.subject = 0, .kind = EventKind::thread_create});
       }},
      {"event 1 of thread \"main\" (create) creates a thread that was created before",
       [](Recording& r) { r.threads[0].events[1] = r.threads[0].events[0]; }},
      {"thread \"main\" does not end", [](Recording& r) { r.threads[0].events.pop_back(); }},
      {"thread \"main\" does not end",
       [](Recording& r) {
         r.threads[0].events.clear();
         r.threads[1].creator = {};
       }},
      {"comes after the end of the thread",
       [](Recording& r) { r.threads[0].events[3] = r.threads[0].events[4]; }},
      {"comes after the end of the program",
       [&](Recording& r) {
         lock(r).kind = EventKind::program_exit;
         lock(r).subject = unknown_count;
       }},
      {"comes after a call that did not return",
       [&](Recording& r) { lock(r).outcome = Outcome::unfinished; }},
      {"event 1 of thread \"main\" is of no known kind",
       [&](Recording& r) { lock(r).kind = static_cast<EventKind>(event_kind_count); }},
      {"(lock) has an outcome", [&](Recording& r) { lock(r).outcome = Outcome::busy; }},
      {"(lock) has an outcome", [&](Recording& r) { lock(r).outcome = Outcome::timeout; }},
      {"(lock) has an outcome", [&](Recording& r) { lock(r).outcome = static_cast<Outcome>(5); }},
      {"(lock) has a time", [&](Recording& r) { lock(r).time = Nanoseconds{-1}; }},
      {"(lock) has a time", [&](Recording& r) { lock(r).time = longest_time + Nanoseconds{1}; }},
      {"(lock) comes earlier", [&](Recording& r) { lock(r).time = Nanoseconds{0}; }},
      {"(lock) has a CPU time", [&](Recording& r) { lock(r).cpu = Nanoseconds{-1}; }},
      {"(lock) has a duration", [&](Recording& r) { lock(r).duration = Nanoseconds{-1}; }},
      {"(lock) names a thread, object", [&](Recording& r) { lock(r).subject = 9; }},
      {"(lock) names a thread, object", [&](Recording& r) { lock(r).subject = unknown_count; }},
      {"(lock) is done to an object of another kind", [&](Recording& r) { lock(r).subject = 1; }},
      {"(lock) has a mutex, receiver or count", [&](Recording& r) { lock(r).other = 0; }},
      {"(cwait) has a mutex, receiver or count",
       [](Recording& r) { r.threads[0].events[2].other = 1; }},
      {"(cwait) has a mutex, receiver or count",
       [](Recording& r) { r.threads[0].events[2].other = unknown_count; }},
      {"(signal) has a mutex, receiver or count",
       [](Recording& r) { r.threads[1].events[0].other = 3; }},
      {"(barrier) has a mutex, receiver or count",
       [](Recording& r) { r.threads[0].events[3].other = 0; }},
      {"event 1 of thread \"worker\" (barrier) waits at its barrier for another number",
       [](Recording& r) { r.threads[0].events[3].other = 3; }},
      {"(lock) has a site", [&](Recording& r) { lock(r).site = {2}; }},
      {"(lock) has a profile", [&](Recording& r) { lock(r).profile = {1}; }},
      {"(lock) was woken by itself", [&](Recording& r) { lock(r).waker = {0}; }},
      {"(lock) was woken by itself", [&](Recording& r) { lock(r).waker = {2}; }},
      {"beyond 834 days",
       [](Recording& r) {
         r.threads[1].events[2].duration = longest_time;
         r.threads[0].events[1].cpu = Nanoseconds{1};
       }},
  };
  for (const auto& [message, broken] : breaks) {
    Recording r = sound();
    broken(r);
    const auto valid = validate(r);
    ASSERT_FALSE(valid) << message;
    EXPECT_THAT(valid.error().text(), HasSubstr(message));
    EXPECT_EQ(valid.error().kind, ErrorKind::bad_input);
  }
}

TEST(Validate, RefusesWhatIsTooLarge) {
  Recording named = sound();
  named.threads[0].name = std::string(Limits{}.name_bytes + 1, 'x');
  Recording deep = sound();
  for (std::uint32_t i = 1; i < Limits{}.stack_depth; ++i)
    deep.stacks.push_back({.caller = {i}, .function = {0}});
  for (const Recording& r : {named, deep}) {
    const auto valid = validate(r);
    ASSERT_FALSE(valid);
    EXPECT_EQ(valid.error().kind, ErrorKind::limit);
    EXPECT_THAT(valid.error().text(), HasSubstr("the limit is"));
  }
}

TEST(Validate, CallsThatFailedNeedNotSayWhatTheyWereDoneTo) {
  Recording r = sound();
  Event& lock = r.threads[0].events[1];
  lock.outcome = Outcome::failed;
  lock.subject = unknown_count;
  EXPECT_TRUE(validate(r));
}

TEST(Validate, ARunThatWasCutShortNeedNotEnd) {
  Recording r = sound();
  r.run.complete = false;
  r.threads[0].events.resize(2);
  r.threads[0].events[1].outcome = Outcome::unfinished;
  r.threads[1].events.clear();
  EXPECT_TRUE(validate(r));
}

}  // namespace
}  // namespace longpole
