// Program files: what each statement becomes, and what each mistake is told.
#include "trace/program_text.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "storage/load.h"

namespace longpole {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Recording program(std::string_view text) {
  auto recording = read_program(text, "test.prog");
  EXPECT_TRUE(recording) << recording.error().text();
  return recording.value_or(Recording{});
}

std::string why(std::string_view text, const Limits& limits = {},
                ErrorKind kind = ErrorKind::bad_input) {
  const auto recording = read_program(text, "test.prog", limits);
  if (recording)
    return "was accepted";
  EXPECT_EQ(recording.error().kind, kind);
  EXPECT_EQ(recording.error().what, "cannot read test.prog");
  return recording.error().why;
}

std::vector<EventKind> kinds(const Thread& thread) {
  std::vector<EventKind> out;
  for (const Event& event : thread.events)
    out.push_back(event.kind);
  return out;
}

// The names of the functions on the path of an exact profile, the innermost first.
std::vector<std::string> path(const Recording& r, ProfileId profile) {
  EXPECT_TRUE(r.profiles[profile.index()].exact);
  std::vector<std::string> out;
  for (StackId at = r.profiles[profile.index()].entries.at(0).stack; at.known();
       at = r.stacks[at.index()].caller)
    out.push_back(r.functions[r.stacks[at.index()].function.index()].name);
  return out;
}

TEST(ProgramText, ReadsTheGoldenPrograms) {
  for (const char* name :
       {"allocation-four", "ecp-figure4", "figure1", "weight-above-one", "weight-negative"}) {
    const auto recording =
        storage::load_recording(LONGPOLE_GOLDEN "/" + std::string(name) + ".prog");
    ASSERT_TRUE(recording) << recording.error().text();
    EXPECT_TRUE(validate(*recording));
  }
  const auto figure4 = storage::load_recording(LONGPOLE_GOLDEN "/ecp-figure4.prog");
  ASSERT_EQ(figure4->threads.size(), 3U);
  EXPECT_EQ(figure4->threads[0].events.size(), 9U);
  EXPECT_EQ(figure4->run.cpu_time, 20ms);
}

TEST(ProgramText, MakesAnEventOfEveryStatement) {
  const Recording r = program(R"(# everything
semaphore S = 3
thread main priority=-2 cpu=1
  enter f
    run g 2.5
  leave f
  create worker
  detach worker
  cancel worker
  join worker
  lock M
  trylock M busy
  timedlock M 4 timeout
  unlock M
  rdlock L
  wrlock L
  rwunlock L
  wait S
  trywait S ok
  timedwait S 7us ok
  post S
  cwait C M
  ctimedwait C M 1 s timeout
  signal C
  broadcast C
  barrier B 2
  yield
  sleep 3ns
  io disk 2ms
  external 1
  send X to worker
  receive X
  exit
  end
thread worker
)");
  ASSERT_EQ(r.threads.size(), 2U);
  const Thread& thread = r.threads[0];
  std::vector<EventKind> all{EventKind::enter,         EventKind::run,
                             EventKind::leave,         EventKind::thread_create,
                             EventKind::thread_detach, EventKind::thread_cancel,
                             EventKind::thread_join};
  for (auto k = static_cast<int>(EventKind::mutex_lock); k < static_cast<int>(event_kind_count);
       ++k)
    all.push_back(static_cast<EventKind>(k));
  all.push_back(EventKind::thread_end);
  EXPECT_EQ(kinds(thread), all);
  EXPECT_EQ(thread.priority, -2);
  EXPECT_EQ(thread.bound_to, 1U);
  EXPECT_EQ(r.threads[1].creator, ThreadId{0});
  EXPECT_THAT(kinds(r.threads[1]), ElementsAre(EventKind::thread_end));

  const auto event = [&](EventKind kind) {
    for (const Event& e : thread.events)
      if (e.kind == kind)
        return e;
    return Event{};
  };
  EXPECT_EQ(event(EventKind::run).cpu, 2500us);
  EXPECT_THAT(path(r, event(EventKind::run).profile), ElementsAre("g", "f"));
  EXPECT_EQ(event(EventKind::mutex_trylock).outcome, Outcome::busy);
  EXPECT_EQ(event(EventKind::mutex_timedlock).outcome, Outcome::timeout);
  EXPECT_EQ(event(EventKind::mutex_timedlock).duration, 4ms);
  EXPECT_EQ(event(EventKind::semaphore_timedwait).outcome, Outcome::ok);
  EXPECT_EQ(event(EventKind::semaphore_timedwait).duration, 7us);
  EXPECT_EQ(event(EventKind::condition_timedwait).duration, 1s);
  EXPECT_EQ(event(EventKind::condition_wait).mutex(), event(EventKind::mutex_lock).object());
  EXPECT_EQ(event(EventKind::condition_signal).other, unknown_count);
  EXPECT_EQ(event(EventKind::barrier_wait).other, 2U);
  EXPECT_EQ(event(EventKind::sleep).duration, 3ns);
  EXPECT_EQ(event(EventKind::io).duration, 2ms);
  EXPECT_EQ(event(EventKind::send).receiver(), ThreadId{1});
  EXPECT_EQ(r.objects[event(EventKind::semaphore_wait).subject].initial, 3U);
  EXPECT_EQ(r.objects[event(EventKind::semaphore_wait).subject].name, "S");
  EXPECT_EQ(r.objects[event(EventKind::io).subject].kind, ObjectKind::device);
}

TEST(ProgramText, TakesDurationsInEveryUnitExactly) {
  const Recording r = program(
      "thread t\n run f 1\n run f 1 ms\n run f 0.000001\n run f 12ns\n run f 1.5us\n run f 2 us\n"
      "run f 0.000000003s\nrun f 1.500000000000000\n");
  std::vector<std::int64_t> cpu;
  for (const Event& event : r.threads[0].events)
    cpu.push_back(event.cpu.count());
  EXPECT_THAT(cpu, ElementsAre(1'000'000, 1'000'000, 1, 12, 1'500, 2'000, 3, 1'500'000, 0));
}

TEST(ProgramText, RunInsideCountsForAllThatWereEntered) {
  const Recording r = program(
      "thread t\nenter a\nenter b\nrun c 1\nleave b\nrun c 1\nleave a\nrun c 1\nenter a\nenter b\n"
      "run c 2\n");
  std::vector<std::vector<std::string>> paths;
  std::vector<ProfileId> profiles;
  for (const Event& event : r.threads[0].events)
    if (event.kind == EventKind::run) {
      paths.push_back(path(r, event.profile));
      profiles.push_back(event.profile);
    }
  using Path = std::vector<std::string>;
  EXPECT_THAT(paths,
              ElementsAre(Path{"c", "b", "a"}, Path{"c", "a"}, Path{"c"}, Path{"c", "b", "a"}));
  EXPECT_EQ(profiles[0], profiles[3]) << "the same path is the same profile";
}

TEST(ProgramText, TimesAreThoseOfTheThreadsOwnClock) {
  const Recording r = program(
      "thread a\nrun f 2\nlock M\nsleep 3\nrun f 1\nthread b\ntimedwait S 4 timeout\nrun g 1\n"
      "timedwait S 9 ok\n");
  const auto times = [&](std::size_t thread) {
    std::vector<Nanoseconds> out;
    for (const Event& event : r.threads[thread].events)
      out.push_back(event.time);
    return out;
  };
  EXPECT_THAT(times(0), ElementsAre(2ms, 2ms, 2ms, 6ms, 6ms));
  EXPECT_THAT(times(1), ElementsAre(0ms, 5ms, 5ms, 5ms));
}

TEST(ProgramText, NamesMayBeQuotedAndOfAnyCharacters) {
  const Recording r = program(
      "thread \"a \\\"b\\\" # \\x41\\n\" # a comment\r\n  lock std::m<int>\n  lock \"\xc3\xa4 = "
      "?\"\n");
  EXPECT_EQ(r.threads[0].name, "a \"b\" # A\n");
  EXPECT_EQ(r.objects[0].name, "std::m<int>");
  EXPECT_EQ(r.objects[1].name, "\xc3\xa4 = ?");
}

TEST(ProgramText, EveryMistakeIsToldWithLineAndColumn) {
  const std::string statements =
      "expected run, enter, leave, create, join, detach, cancel, end, lock, trylock, timedlock, "
      "unlock, rdlock, wrlock, rwunlock, wait, trywait, timedwait, post, cwait, ctimedwait, "
      "signal, broadcast, barrier, yield, sleep, io, external, send, receive or exit, found ";
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"", "it has no thread"},
      {"# nothing\n", "it has no thread"},
      {"run f 1\n",
       "line 1, column 1: expected `thread NAME` or `semaphore NAME = VALUE`, found \"run\""},
      {"thread\n", "line 1, column 7: expected the name of a thread, found the end of the line"},
      {"thread \"\"\n", "line 1, column 8: expected the name of a thread, found an empty name"},
      {"thread a b\n", "line 1, column 10: expected priority=N or cpu=N, found \"b\""},
      {"thread a priority=x\n", "line 1, column 10: expected a priority, found \"priority=x\""},
      {"thread a cpu=-1\n", "line 1, column 10: expected a CPU, found \"cpu=-1\""},
      {"thread a\nthread b\nthread a\n", "line 3, column 8: thread \"a\" already begins on line 1"},
      {"thread a\n  lok M\n", "line 2, column 3: " + statements + "\"lok\""},
      {"thread a\n  \"run\" f 1\n", "line 2, column 3: " + statements + "\"run\""},
      {"thread a\n  run f\n", "line 2, column 8: expected a duration, found the end of the line"},
      {"thread a\n  run f # 1\n",
       "line 2, column 9: expected a duration, found the end of the line"},
      {"thread a\n  run \xc3\xa4 x\n",
       "line 2, column 9: expected a duration such as 3, 2.5 or 800us, found \"x\""},
      {"thread a\n  run f 1.5.2\n",
       "line 2, column 9: expected a duration such as 3, 2.5 or 800us, found \"1.5.2\""},
      {"thread a\n  run f 1.\n",
       "line 2, column 9: expected a duration such as 3, 2.5 or 800us, found \"1.\""},
      {"thread a\n  run f -1\n",
       "line 2, column 9: expected a duration such as 3, 2.5 or 800us, found \"-1\""},
      {"thread a\n  run f 1 min\n",
       "line 2, column 11: expected the end of the line, found \"min\""},
      {"thread a\n  run f x1 ms\n",
       "line 2, column 9: expected a duration such as 3, 2.5 or 800us, found \"x1\""},
      {"thread a\n  run f 1.0000001\n",
       "line 2, column 9: \"1.0000001\" is finer than a nanosecond"},
      {"thread a\n  run f 0.5ns\n", "line 2, column 9: \"0.5ns\" is finer than a nanosecond"},
      {"thread a\n  create b\n", "line 2, column 10: there is no thread \"b\" in this file"},
      {"thread a\n  join b\n", "line 2, column 8: there is no thread \"b\" in this file"},
      {"thread a\n  send X to b\n", "line 2, column 13: there is no thread \"b\" in this file"},
      {"thread a\n  send X a\n", R"(line 2, column 10: expected "to", found "a")"},
      {"thread a\n  create a\n", "line 2, column 3: the thread creates itself"},
      {"thread a\n create b\n create b\nthread b\n",
       "line 3, column 2: the thread was already created on line 2"},
      {"thread a\n  trylock M\n",
       "line 2, column 12: expected ok or busy, found the end of the line"},
      {"thread a\n  trylock M timeout\n",
       "line 2, column 13: expected ok or busy, found \"timeout\""},
      {"thread a\n  timedlock M ok\n",
       "line 2, column 15: expected a duration such as 3, 2.5 or 800us, found \"ok\""},
      {"thread a\n  timedlock M 3 busy\n",
       "line 2, column 17: expected ok or timeout, found \"busy\""},
      {"thread a\n  lock M failed\n",
       "line 2, column 10: expected the end of the line, found \"failed\""},
      {"thread a\n  cwait C\n",
       "line 2, column 10: expected the name of a mutex, found the end of the line"},
      {"thread a\n  barrier B\n",
       "line 2, column 12: expected a number of threads, found the end of the line"},
      {"thread a\n  barrier B 0\n",
       "line 2, column 13: expected a number of threads from 1 to 4294967294, found \"0\""},
      {"thread a\n  barrier B 99999999999999999999\n",
       "line 2, column 13: expected a number of threads from 1 to 4294967294, found "
       "\"99999999999999999999\""},
      {"thread a\n barrier B 2\nthread b\n barrier B 3\n",
       "line 4, column 2: the barrier \"B\" is for 3 threads here and for 2 on line 2"},
      {"thread a\n  leave f\n", "line 2, column 3: \"f\" is left but was not entered"},
      {"thread a\n enter f\n enter g\n leave f\n",
       R"(line 4, column 2: "f" is left inside "g", which was entered on line 3)"},
      {"thread a\n end\n lock M\n",
       "line 3, column 2: expected `thread NAME` after the end of a thread, found \"lock\""},
      {"semaphore S 3\nthread a\n", R"(line 1, column 13: expected "=", found "3")"},
      {"semaphore S = 1\nsemaphore S = 1\nthread a\n",
       "line 2, column 11: semaphore \"S\" has a value already"},
      {"thread a\nsemaphore S = 1\n",
       "line 2, column 11: the value of a semaphore is given above the first `thread` line"},
      {"thread a\n lock \"M\n", "line 2, column 7: the quotation mark is never closed"},
      {"thread a\n lock \"M\"x\n",
       "line 2, column 10: expected a blank after the closing quotation mark"},
      {"thread a\n lock M\"x\"\n",
       "line 2, column 8: a quotation mark inside a word; put the whole name in quotes"},
      {"thread a\n lock \"\\q\"\n", R"(line 2, column 8: expected one of \" \\ \n \t \r \xHH)"},
      {"thread a\n lock \"\\x4\"\n", "line 2, column 8: expected two hexadecimal digits after \\x"},
      {std::string("thread a\n lock M\0\n", 17), "line 2, column 8: the byte 0x00 inside a word"},
  };
  for (const auto& [text, message] : mistakes)
    EXPECT_EQ(why(text), message) << text;
}

TEST(ProgramText, NamesTheLimitThatRefuses) {
  Limits limits{.threads = 2, .events = 3, .stack_depth = 3, .name_bytes = 4, .line_bytes = 20};
  EXPECT_EQ(why("thread a\n  run f 99999999s\n", {}, ErrorKind::limit),
            "line 2, column 9: \"99999999s\" is longer than 834 days");
  EXPECT_EQ(why("thread a\n run f 72057594s\n run f 1s\n", {}, ErrorKind::limit),
            "line 3, column 2: the thread takes longer than 834 days");
  EXPECT_EQ(why("thread a\nthread b\nthread c\n", limits, ErrorKind::limit),
            "line 3, column 8: more than 2 threads");
  EXPECT_EQ(why("thread a\nyield\nyield\nyield\nyield\n", limits, ErrorKind::limit),
            "line 5, column 1: more than 3 statements");
  EXPECT_EQ(why("thread a\nlock abcde\n", limits, ErrorKind::limit),
            "line 2, column 6: a name of 5 bytes; the limit is 4");
  EXPECT_EQ(why("thread a\nlock a #############\n", limits, ErrorKind::limit), "was accepted");
  EXPECT_EQ(why("thread a\nlock a ##############\n", limits, ErrorKind::limit),
            "line 2, column 1: a line of 21 bytes; the limit is 20");
  EXPECT_EQ(why("thread a\nenter a\nenter b\nenter c\n", limits, ErrorKind::limit),
            "line 4, column 1: more than 3 functions inside each other");
}

}  // namespace
}  // namespace longpole
