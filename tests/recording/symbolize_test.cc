#include "recording/symbolize.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "own_code.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;

TEST(ReadMaps, FilesOnlyAndEachLineOnce) {
  constexpr std::string_view snapshots =
      "55d60c48f000-55d60c490000 r--p 00000000 fe:00 10955847                   /tmp/my program\n"
      "55d60c494000-55d60c495000 rw-p 00000000 00:00 0 \n"
      "55d60c496000-55d60c497000 rw-p 00000000 00:00 0                          [heap]\n"
      "7ffd1d5c6000-7ffd1d5c8000 r-xp 00000000 00:00 0                          [vdso]\n"
      "damaged line\n"
      "nonsense-here r--p 00000000 fe:00 1 /tmp/x\n"
      "55d60c48f000-55d60c490000 r--p 00000000 fe:00 10955847                   /tmp/my program\n"
      "55d60c490000-55d60c491000 r-xp 00001000 fe:00 10955847                   /tmp/my program";
  std::vector<std::string> lines;
  for (const symbols::Mapping& m : read_maps(snapshots))
    lines.push_back(fmt::format("{} {:x} {:x} {:x}", m.path, m.start, m.end, m.file_offset));
  EXPECT_THAT(lines, ElementsAre("/tmp/my program 55d60c48f000 55d60c490000 0",
                                 "[vdso] 7ffd1d5c6000 7ffd1d5c8000 0",
                                 "/tmp/my program 55d60c490000 55d60c491000 1000"));
}

// A thread whose events are one lock after another, from the sites given.
MergedThread thread_of(const std::vector<std::uint32_t>& sites) {
  MergedThread thread;
  for (const std::uint32_t site : sites) {
    Event event;
    event.kind = EventKind::yield;
    event.time = Nanoseconds{static_cast<std::int64_t>(thread.events.size()) * 10};
    event.cpu = Nanoseconds{10};
    thread.events.push_back(event);
    thread.sites.push_back(site);
  }
  Event end;
  end.kind = EventKind::thread_end;
  end.time = Nanoseconds{1000};
  thread.events.push_back(end);
  thread.sites.push_back(no_site);
  return thread;
}

// Addresses of this very program: two functions that are far enough apart.
__attribute__((noinline)) int first_place() {
  asm volatile("nop; nop; nop; nop");
  return 1;
}
__attribute__((noinline)) int second_place() {
  asm volatile("nop; nop; nop; nop");
  return 2;
}

TEST(Symbolize, StretchesBetweenTheSameCallsShareTheirSamples) {
  MergedRun run;
  run.threads = {thread_of({0, 1, 0, 1}), thread_of({0, 1})};
  run.threads[0].is_main = true;
  run.sites = {{inside(&first_place), {}}, {inside(&second_place), {}}};
  run.paths = {{inside(&first_place)}, {inside(&second_place)}};
  // The two stretches from site 0 to site 1 of the first thread: one sample and three.
  run.threads[0].samples = {{1, 0, 1}, {3, 1, 3}};
  const Recording recording = symbolize(std::move(run), own_mappings(), "");
  ASSERT_TRUE(validate(recording).has_value());
  const std::vector<Event>& events = recording.threads[0].events;
  EXPECT_EQ(events[1].profile, events[3].profile);
  EXPECT_NE(events[1].profile, events[2].profile);
  EXPECT_NE(events[0].profile, events[2].profile);  // the same call, but from another one before
  std::vector<std::uint32_t> counts;
  for (const ProfileEntry& entry : recording.profiles[events[1].profile.index()].entries)
    counts.push_back(entry.samples);
  EXPECT_THAT(counts, ElementsAre(1, 3));
  // Of another start function, so not pooled with those; falls back on the call at its end.
  const Profile& other = recording.profiles[recording.threads[1].events[1].profile.index()];
  ASSERT_EQ(other.entries.size(), 1U);
  EXPECT_EQ(other.entries[0].samples, 0U);
  EXPECT_EQ(other.entries[0].stack, recording.threads[1].events[1].site);
  EXPECT_FALSE(events[4].profile.known());  // no CPU time, no profile
}

// The recorder's own work is not the program's: its cost is taken out, so its samples must not count.
TEST(Symbolize, SamplesOfTheRecordersOwnWorkDoNotCount) {
  constexpr std::uint64_t recorder = 0x7f0000000000;
  std::vector<symbols::Mapping> mappings = own_mappings();
  mappings.push_back({"/opt/lib/liblongpole-recorder.so", recorder, recorder + 0x1000, 0});
  const std::uint64_t user = inside(&first_place);
  const std::uint64_t libc = inside(&second_place);
  const auto reader = reinterpret_cast<std::uint64_t>(::dlsym(RTLD_NEXT, "process_vm_readv")) + 2;
  MergedRun run;
  run.run.source = Source::kernel;
  run.threads = {thread_of({0, 0})};
  run.threads[0].is_main = true;
  run.sites = {{user, {}}};
  run.paths = {
      {libc, recorder + 16, user},                 // what the program called, through the recorder
      {recorder + 16, user},                       // in the recorder
      {libc, recorder + 32, recorder + 16, user},  // what the recorder called
      {libc, user},
      // A routine of the program that the recorder calls.
      {user, libc, recorder + 16, libc, recorder + 48, recorder + 64, user},
      {reader, recorder + 16, user},  // what only the recorder calls
  };
  run.threads[0].samples = {{0, 0, 1},    {0, 1, 20},    {0, 2, 300},
                            {0, 3, 4000}, {0, 4, 50000}, {0, 5, 600000}};
  const auto samples = [&] {
    std::uint32_t sum = 0;
    for (const Profile& profile : symbolize(run, mappings, "").profiles)
      for (const ProfileEntry& entry : profile.entries)
        sum += entry.samples;
    return sum;
  };
  EXPECT_EQ(samples(), 54001U);
  // Its paths have the caller of the innermost frame, which may have none of its own.
  run.run.source = Source::portable;
  EXPECT_EQ(samples(), 54000U);
}

TEST(Symbolize, NamesAreUniqueAndTellWhereThingsComeFrom) {
  MergedRun run;
  run.threads = {thread_of({}), thread_of({}), thread_of({})};
  run.threads[0].is_main = true;
  run.threads[1].start_function = run.threads[2].start_function =
      reinterpret_cast<std::uint64_t>(&first_place);
  run.objects = {{ObjectKind::mutex, 0x10, 0, 0},
                 {ObjectKind::mutex, 0x20, 0, 0},
                 {ObjectKind::semaphore, 0x20, no_site, 3}};
  run.sites = {{inside(&second_place), {}}};
  const Recording recording = symbolize(std::move(run), own_mappings(), "");
  ASSERT_TRUE(validate(recording).has_value());
  EXPECT_EQ(recording.threads[0].name, "main");
  EXPECT_THAT(recording.threads[1].name, testing::EndsWith("first_place.1"));
  EXPECT_THAT(recording.threads[2].name, testing::EndsWith("first_place.2"));
  EXPECT_EQ(recording.objects[1].name, recording.objects[0].name + "#2");
  EXPECT_EQ(recording.objects[2].name, "unnamed");
  EXPECT_EQ(recording.objects[2].initial, 3U);
}

// As each task of a pool has a future: when each of them looked for its number from the first on, 60,000 took eight minutes.
TEST(Symbolize, ThingsOfOnePlaceAreNumberedHoweverManyThereAre) {
  constexpr std::uint32_t many = 50'000;
  MergedRun run;
  run.threads = {thread_of({})};
  run.threads[0].is_main = true;
  run.sites = {{inside(&second_place), {}}};
  for (std::uint32_t i = 0; i < many; ++i)
    run.objects.push_back({ObjectKind::semaphore, 0x10 + i, 0, 0});
  const Recording recording = symbolize(std::move(run), own_mappings(), "");
  ASSERT_TRUE(validate(recording).has_value());
  EXPECT_EQ(recording.objects.back().name,
            fmt::format("{}#{}", recording.objects.front().name, many));
}

}  // namespace
}  // namespace longpole::recording
