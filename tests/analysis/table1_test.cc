// The 1999 report's Table 1: a recording with its path marked, and what the functions come to.
#include <gmock/gmock.h>

#include "analysis/accounts.h"

namespace longpole::analysis {
namespace {

using simulation::no_segment;
using simulation::Schedule;
using simulation::Segment;

constexpr std::uint32_t a = 0;
constexpr std::uint32_t b = 1;
constexpr std::uint32_t c = 2;

// Rows of the table; row 8 read as marked: that stretch releases thread 1. Rows 14 and 18, the
// exits of the threads, stand outside every function and are charged to none.
class Table1 : public testing::Test {
 protected:
  Table1() {
    recording_.functions = {{"a", {}, 0, 0, {}}, {"b", {}, 0, 0, {}}, {"c", {}, 0, 0, {}}};
    recording_.stacks = {{StackId::none(), FunctionId{a}, {}, 0, false},
                         {StackId{0}, FunctionId{b}, {}, 0, false},
                         {StackId::none(), FunctionId{c}, {}, 0, false}};
    // By function: the stack a, the stack a b, the stack c.
    for (std::uint32_t s = 0; s < 3; ++s)
      recording_.profiles.push_back({true, {{StackId{s}, 0}}});
    recording_.threads = {Thread{.name = "1"}, Thread{.name = "2"}};

    enter(1, a, 0);
    executing(1, a, 0, 3'894'285, true);
    enter(2, c, 0);
    executing(2, c, 0, 1'680, false);
    enter(1, b, 3'894'285);
    executing(1, b, 3'894'285, 3'894'284, true);
    executing(1, b, 7'789'474, 177, true);
    executing(2, c, 7'789'651, 3'928'914, true);
    executing(1, b, 7'789'658, 156, false);
    executing(2, c, 11'718'565, 113, true);
    executing(2, c, 11'718'678, 3'832'353, false);
    executing(1, b, 11'718'678, 3'884'579, true);
    leave(2, c, 15'551'031);
    exit_thread(2, 15'551'031, 58, false);
    leave(1, b, 15'603'257);
    executing(1, a, 15'603'257, 3'884'579, true);
    leave(1, a, 19'487'836);
    exit_thread(1, 19'487'836, 54, true);

    for (std::uint32_t t = 0; t < 2; ++t) {
      schedule_.thread_begin.push_back(
          static_cast<simulation::SegmentIndex>(schedule_.segments.size()));
      schedule_.segments.insert(schedule_.segments.end(), rows_[t].begin(), rows_[t].end());
      weights_.scaled.insert(weights_.scaled.end(), marks_[t].begin(), marks_[t].end());
    }
    schedule_.thread_begin.push_back(
        static_cast<simulation::SegmentIndex>(schedule_.segments.size()));
  }

  // Times in microseconds. A stretch that the table marks weighs one.
  void add(std::uint32_t thread, Event event, std::int64_t start, std::int64_t length,
           bool marked) {
    std::vector<Event>& events = recording_.threads[thread - 1].events;
    rows_[thread - 1].push_back({.start = std::chrono::microseconds(start),
                                 .end = std::chrono::microseconds(start + length),
                                 .released_by = no_segment,
                                 .event = static_cast<std::uint32_t>(events.size()),
                                 .thread = ThreadId{thread - 1},
                                 .running = true});
    marks_[thread - 1].push_back(marked ? 1 : 0);
    event.cpu = std::chrono::microseconds(length);
    events.push_back(event);
  }
  void enter(std::uint32_t thread, std::uint32_t function, std::int64_t at) {
    add(thread, {.subject = function, .kind = EventKind::enter}, at, 0, false);
  }
  void leave(std::uint32_t thread, std::uint32_t function, std::int64_t at) {
    add(thread, {.subject = function, .kind = EventKind::leave}, at, 0, false);
  }
  void executing(std::uint32_t thread, std::uint32_t function, std::int64_t start,
                 std::int64_t length, bool marked) {
    add(thread, {.profile = ProfileId{function}, .kind = EventKind::yield}, start, length, marked);
  }
  void exit_thread(std::uint32_t thread, std::int64_t start, std::int64_t length, bool marked) {
    add(thread, {.kind = EventKind::thread_end}, start, length, marked);
  }

  Recording recording_;
  Schedule schedule_;
  Weights weights_;

 private:
  std::vector<Segment> rows_[2];
  std::vector<std::int64_t> marks_[2];
};

TEST_F(Table1, ComesToWhatTheReportSays) {
  const Accounts accounts(recording_, schedule_);
  const AccountSums sums = accounts.sum(schedule_, weights_);
  const std::vector<FunctionTimes> functions = accounts.functions(sums);
  EXPECT_EQ(sums.critical_calls[a], 1U);
  EXPECT_DOUBLE_EQ(functions[a].critical_self, 7.778864e9);
  EXPECT_DOUBLE_EQ(functions[a].critical_total, 15.557904e9);
  EXPECT_EQ(sums.critical_calls[b], 1U);
  EXPECT_DOUBLE_EQ(functions[b].critical_self, 7.779040e9);
  EXPECT_DOUBLE_EQ(functions[b].critical_total, 7.779040e9);
  EXPECT_EQ(sums.critical_calls[c], 0U);
  EXPECT_DOUBLE_EQ(functions[c].critical_self, 3.929027e9);
  EXPECT_DOUBLE_EQ(functions[c].critical_total, 3.929027e9);
  // Row 18.
  EXPECT_DOUBLE_EQ(functions.back().critical_self, 54e3);
  EXPECT_EQ(accounts.calls()[c], 1U);
}

}  // namespace
}  // namespace longpole::analysis
