// Text recordings: what is implied in those made by hand, and what each mistake is told. That
// nothing is lost is shown in round_trip_test.cc.
#include "trace/recording_text.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "storage/load.h"

namespace longpole {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

Recording recording(std::string_view text) {
  auto read = read_recording_text(text, "test.rec");
  EXPECT_TRUE(read) << read.error().text();
  return read.value_or(Recording{});
}

std::string why(std::string_view text, const Limits& limits = {},
                ErrorKind kind = ErrorKind::bad_input) {
  const auto read = read_recording_text(text, "test.rec", limits);
  if (read)
    return "was accepted";
  EXPECT_EQ(read.error().kind, kind);
  EXPECT_EQ(read.error().what, "cannot read test.rec");
  return read.error().why;
}

std::vector<Nanoseconds> cpu_times(const Thread& thread) {
  std::vector<Nanoseconds> out;
  for (const Event& event : thread.events)
    out.push_back(event.cpu);
  return out;
}

// The golden recordings without their comment are what is printed for them, byte for byte.
TEST(RecordingText, PrintsTheGoldenRecordingsAsTheyStand) {
  for (const char* name : {"model-p", "model-q", "model-r"}) {
    const auto text = storage::read_file_whole(LONGPOLE_GOLDEN "/" + std::string(name) + ".rec");
    ASSERT_TRUE(text) << text.error().text();
    EXPECT_EQ(write_recording_text(recording(*text)), text->substr(text->find('\n') + 1));
  }
}

TEST(RecordingText, TheThreadOfALineRanSinceTheLineBefore) {
  const auto text = storage::read_file_whole(LONGPOLE_GOLDEN "/model-p.rec");
  ASSERT_TRUE(text) << text.error().text();
  const Recording r = recording(*text);
  ASSERT_EQ(r.threads.size(), 4U);
  EXPECT_THAT(cpu_times(r.threads[0]), ElementsAre(0ms, 1ms, 2ms, 1ms, 1ms, 2ms));
  EXPECT_THAT(cpu_times(r.threads[1]), ElementsAre(2ms, 1ms));
  EXPECT_THAT(cpu_times(r.threads[2]), ElementsAre(2ms, 3ms));
  EXPECT_THAT(cpu_times(r.threads[3]), ElementsAre(3ms));
  EXPECT_EQ(r.threads[0].priority, 4);
  EXPECT_EQ(r.threads[3].creator, ThreadId{0});
  EXPECT_FALSE(r.threads[0].creator.known());
  EXPECT_EQ(r.run.source, Source::text);
  EXPECT_EQ(r.run.elapsed, 18ms);
  EXPECT_EQ(r.run.cpu_time, 18ms);
  EXPECT_EQ(r.threads[1].events[0].receiver(), ThreadId{0});
}

TEST(RecordingText, TakesWhatALineSaysInPlaceOfWhatIsImplied) {
  const Recording r = recording(R"(semaphore S = 2
0 A create B
3 B wait S cpu=1.5us from A
3 A sleep 5
10 A signal C woke=1
10 B run f 2
11 B lock M took=4
16 B trylock M busy
20 B cwait C M unfinished
)");
  ASSERT_EQ(r.threads.size(), 2U);
  EXPECT_THAT(cpu_times(r.threads[0]), ElementsAre(0ms, 0ms, 2ms, 0ms))
      << "it slept for five of the seven milliseconds";
  EXPECT_THAT(cpu_times(r.threads[1]), ElementsAre(1500ns, 2ms, 1ms, 1ms, 4ms, 0ms))
      << "it waited for four of the five milliseconds before 16";
  EXPECT_EQ(r.threads[1].events[0].waker, ThreadId{0});
  EXPECT_EQ(r.threads[0].events[2].other, 1U);
  EXPECT_EQ(r.threads[1].events[2].duration, 4ms);
  EXPECT_EQ(r.threads[1].events[4].outcome, Outcome::unfinished);
  EXPECT_EQ(r.threads[1].events[5].kind, EventKind::thread_end) << "where no line says it";
  EXPECT_EQ(r.threads[1].events[5].time, 20ms);
  EXPECT_EQ(r.objects[0].initial, 2U);
}

TEST(RecordingText, AnIncompleteRunNeedNotEnd) {
  const Recording r = recording("incomplete\n0 A create B\n");
  EXPECT_FALSE(r.run.complete);
  EXPECT_EQ(r.threads[0].events.size(), 1U);
  EXPECT_TRUE(r.threads[1].events.empty());
}

TEST(RecordingText, FunctionsOfOneNameAreToldApart) {
  const Recording r = recording(R"(file 0 a.c
function 0 f file=0
function 1 f
0 A enter @1
1 A leave f
)");
  EXPECT_EQ(r.threads[0].events[0].callee(), FunctionId{1});
  EXPECT_EQ(r.threads[0].events[1].callee(), FunctionId{0});
}

TEST(RecordingText, EveryMistakeIsToldWithLineAndColumn) {
  const std::string settings =
      "expected failed, unfinished, took=DURATION, cpu=DURATION, from THREAD, woke=NUMBER, "
      "fd=NUMBER, bytes=NUMBER, "
      "site=NUMBER or profile=NUMBER, found ";
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"", "it has no event"},
      {"5x A end\n", "line 1, column 1: expected a time such as 3, 2.5 or 800us, found \"5x\""},
      {"A end\n",
       "line 1, column 1: expected a time in milliseconds, or a line of the header, found \"A\""},
      {"0\n", "line 1, column 2: expected the name of a thread, found the end of the line"},
      {"0 A\n", "line 1, column 4: expected a statement, found the end of the line"},
      {"0 A end\npriority A 1\n",
       "line 2, column 1: expected a time such as 3, 2.5 or 800us, found \"priority\""},
      {"2 A yield\n1 A end\n",
       "line 2, column 1: the time is earlier than that of the line before"},
      {"0 A lock M cpu=x\n",
       "line 1, column 12: expected a duration such as 3, 2.5 or 800us, found \"cpu=x\""},
      {"0 A lock M woke=1\n", "line 1, column 12: " + settings + "\"woke=1\""},
      {"0 A run f 1 cpu=1\n", "line 1, column 13: " + settings + "\"cpu=1\""},
      {"0 A sleep 1 took=1\n", "line 1, column 13: " + settings + "\"took=1\""},
      {"0 A join B\n", "line 1, column 10: thread \"B\" does nothing, and nobody creates it"},
      {"0 A lock M from B\n",
       "line 1, column 17: thread \"B\" does nothing, and nobody creates it"},
      {"0 A create A\n", "line 1, column 1: the thread creates itself"},
      {"0 A create B\n1 A create B\n",
       "line 2, column 1: the thread was already created on line 1"},
      {"0 A timedlock M 1\n",
       "line 1, column 18: expected ok or timeout or failed or unfinished, found the end of the "
       "line"},
      {"0 A run @0 1\n", "line 1, column 9: there is no function 0"},
      {"cpus 0\n", "line 1, column 6: expected a number of CPUs from 1 to 4294967295, found \"0\""},
      {"cpus 2\ncpus 2\n", "line 2, column 1: a second \"cpus\" line"},
      {"source magic\n",
       "line 1, column 8: expected program, text, kernel or portable, found \"magic\""},
      {"function 1 f\n",
       "line 1, column 10: expected 0, since entries are numbered from 0 in order, found 1"},
      {"stack 0 color=1\n",
       "line 1, column 9: expected function=NUMBER, file=NUMBER, line=NUMBER, caller=NUMBER, "
       "inlined, found \"color=1\""},
      {"mutex M\nmutex M\n", "line 2, column 7: a second line for mutex \"M\""},
      {"thread A\nthread A\n", "line 2, column 8: a second line for thread \"A\""},
      {"thread A prio=1\n",
       "line 1, column 10: expected start=NUMBER, priority=NUMBER or cpu=NUMBER, found \"prio=1\""},
      {"0 A barrier B 2\n0 B barrier B 3\n",
       "event 0 of thread \"B\" (barrier) waits at its barrier for another number of threads than "
       "before"},
      {"0 A lock M profile=3\n",
       "event 0 of thread \"A\" (lock) has a profile that is not in the table of profiles"},
  };
  for (const auto& [text, message] : mistakes)
    EXPECT_EQ(why(text), message) << text;
}

TEST(RecordingText, NamesTheLimitThatRefuses) {
  const Limits limits{.threads = 2, .events = 3, .table_entries = 1};
  EXPECT_EQ(why("0 A yield\n0 B yield\n0 C yield\n", limits, ErrorKind::limit),
            "line 3, column 3: more than 2 threads");
  EXPECT_EQ(why("0 A yield\n0 A yield\n0 A yield\n0 A yield\n", limits, ErrorKind::limit),
            "line 4, column 1: more than 3 events");
  EXPECT_EQ(why("module 0 a\nmodule 1 b\n", limits, ErrorKind::limit),
            "line 2, column 8: more than 1 entries");
  EXPECT_EQ(why("mutex a\nmutex b\n", limits, ErrorKind::limit),
            "line 2, column 7: more than 1 objects");
}

}  // namespace
}  // namespace longpole
