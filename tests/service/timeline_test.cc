// What an editor is told of a timeline: the picture, what is at a place of it, and where a line runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>

#include "client.h"
#include "daemon.h"

namespace longpole::testing {
namespace {

using grpc::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two threads for one lock, a sleep and a device; the last on one CPU has to wait for it.
constexpr const char* program =
    "thread A\n"
    "  run f 1\n  lock M\n  run f 4\n  unlock M\n  run f 1\n"
    "thread B\n"
    "  run g 2\n  lock M\n  run g 1\n  unlock M\n  sleep 2\n  io disk 1\n";

class TimelineTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::uint64_t open() const {
    return client.open(directory.write("locks.prog", program)).handle();
  }
  [[nodiscard]] v1::GetTimelineRequest request(std::uint32_t cpus, const std::string& scheduler,
                                               std::uint32_t pixels) const {
    v1::GetTimelineRequest asked;
    asked.set_handle(open());
    asked.mutable_simulation()->set_cpus(cpus);
    asked.mutable_simulation()->set_scheduler(scheduler);
    asked.mutable_view()->set_pixels(pixels);
    return asked;
  }
  [[nodiscard]] grpc::Status ask(const v1::GetTimelineRequest& request) {
    grpc::ClientContext context;
    return client.stub().GetTimeline(&context, request, &timeline);
  }
  [[nodiscard]] grpc::Status ask(const v1::GetTimelineItemRequest& request) {
    grpc::ClientContext context;
    return client.stub().GetTimelineItem(&context, request, &item);
  }
  [[nodiscard]] grpc::Status ask(const v1::FindInTimelineRequest& request) {
    grpc::ClientContext context;
    return client.stub().FindInTimeline(&context, request, &found);
  }

  // "running 0–1 f; blocked 2–5 M": what a row shows one by one, in ms.
  [[nodiscard]] std::string row_text(int number) const {
    const v1::TimelineStretches& row = timeline.rows(number).stretches();
    std::string text;
    for (int i = 0; i < row.start_ns_size(); ++i) {
      const std::string state =
          v1::TimelineState_Name(row.state()[static_cast<std::size_t>(i)]).substr(15);
      if (i > 0)
        text += "; ";
      text += state;
      if (row.cpu(i) != 0)
        text += fmt::format(" on {}", row.cpu(i) - 1);
      text += fmt::format(" {}-{}", row.start_ns(i) / ms, row.end_ns(i) / ms);
      if (row.object(i) != 0)
        text += fmt::format(" {}", timeline.objects(static_cast<int>(row.object(i)) - 1).name());
      if (row.place(i) != 0)
        text += fmt::format(" {}", timeline.places(static_cast<int>(row.place(i)) - 1).function());
    }
    return text;
  }

  TemporaryDirectory directory;
  Daemon daemon;
  Client client{daemon};
  v1::GetTimelineResponse timeline;
  v1::GetTimelineItemResponse item;
  v1::FindInTimelineResponse found;
};

TEST_F(TimelineTest, WhatThreadsDoAndWaitFor) {
  ASSERT_TRUE(ask(request(2, "fifo", 100)).ok());
  EXPECT_EQ(timeline.total_ns(), 9 * ms);
  EXPECT_EQ(timeline.model(), "direct");
  ASSERT_EQ(timeline.rows_size(), 2);
  EXPECT_EQ(row_text(0), "RUNNING on 0 0-1 f; RUNNING on 0 1-5 f; RUNNING on 0 5-6 f");
  EXPECT_EQ(row_text(1),
            "RUNNING on 1 0-2 g; BLOCKED 2-5 M; RUNNING on 1 5-6 g; SLEEPING 6-8; IO 8-9 disk");
  EXPECT_THAT(timeline.path().thread(), ElementsAre(0U, 1U));
  EXPECT_THAT(timeline.path().start_ns(), ElementsAre(0, 5 * ms));
  EXPECT_THAT(timeline.path().end_ns(), ElementsAre(5 * ms, 9 * ms));
  EXPECT_EQ(timeline.path().arrival(), std::string("\0\1", 2));
  EXPECT_EQ(timeline.parallelism().mean_running(10), 2);
  EXPECT_EQ(timeline.parallelism().mean_running(30), 1);
  EXPECT_EQ(timeline.parallelism().mean_running(90), 0);
  EXPECT_EQ(timeline.classes().idle_ns(), 3 * ms);
  EXPECT_EQ(timeline.classes().serial_ns(), 3 * ms);
  EXPECT_EQ(timeline.classes().parallel_ns(), 3 * ms);
}

TEST_F(TimelineTest, ManyStretchesInOnePixelAreSummarised) {
  ASSERT_TRUE(ask(request(2, "fifo", 1)).ok());
  ASSERT_EQ(timeline.rows_size(), 2);
  EXPECT_EQ(row_text(0), "");
  const v1::TimelineSummaries& summaries = timeline.rows(1).summaries();
  EXPECT_THAT(summaries.pixel(), ElementsAre(0U));
  ASSERT_EQ(summaries.shares().size(), 5U);
  const auto share = [&](std::size_t state) {
    return static_cast<unsigned char>(summaries.shares()[state]);
  };
  EXPECT_NEAR(share(0), 85, 1);  // 3 of 9 ms
  EXPECT_EQ(share(1), 0);
  EXPECT_NEAR(share(2), 85, 1);
  EXPECT_NEAR(share(3), 28, 1);
  EXPECT_NEAR(share(4), 56, 1);
  ASSERT_NE(summaries.place(0) + summaries.object(0), 0U);
  EXPECT_EQ(timeline.objects(static_cast<int>(summaries.object(0)) - 1).name(), "M");
}

TEST_F(TimelineTest, SummariesTellWhatTheColourNeeds) {
  v1::GetTimelineRequest asked = request(2, "fifo", 1);
  const auto told = [&](v1::TimelineColour colour) {
    asked.set_colour(colour);
    EXPECT_TRUE(ask(asked).ok());
    const v1::TimelineSummaries& summaries = timeline.rows(1).summaries();
    EXPECT_EQ(summaries.pixel_size(), 1);
    return std::array{summaries.weight_size(), summaries.place_size(), summaries.object_size()};
  };
  EXPECT_THAT(told(v1::TIMELINE_COLOUR_UNSPECIFIED), ElementsAre(1, 1, 1));
  EXPECT_THAT(told(v1::TIMELINE_COLOUR_STATE), ElementsAre(0, 0, 0));
  EXPECT_THAT(told(v1::TIMELINE_COLOUR_WEIGHT), ElementsAre(1, 0, 0));
  EXPECT_THAT(told(v1::TIMELINE_COLOUR_PLACE), ElementsAre(0, 1, 0));
  EXPECT_THAT(told(v1::TIMELINE_COLOUR_OBJECT), ElementsAre(0, 0, 1));
  EXPECT_THAT(told(static_cast<v1::TimelineColour>(77)), ElementsAre(1, 1, 1));
}

TEST_F(TimelineTest, TablesHoldWhatTheRowsNameAndNothingElse) {
  v1::GetTimelineRequest asked = request(2, "fifo", 100);
  asked.add_rows(1);
  asked.mutable_view()->set_from_ns(6.5 * ms);
  asked.mutable_view()->set_to_ns(8.5 * ms);
  ASSERT_TRUE(ask(asked).ok());
  ASSERT_EQ(timeline.objects_size(), 1) << "the lock is over by then";
  EXPECT_EQ(timeline.objects(0).name(), "disk");
  EXPECT_THAT(timeline.rows(0).stretches().object(), ElementsAre(0U, 1U));

  asked.mutable_view()->set_from_ns(5.2 * ms);
  asked.mutable_view()->set_to_ns(5.8 * ms);
  ASSERT_TRUE(ask(asked).ok());
  ASSERT_EQ(timeline.places_size(), 1) << "the other thread's function is not seen";
  EXPECT_EQ(timeline.places(0).function(), "g");
  EXPECT_THAT(timeline.rows(0).stretches().place(), ElementsAre(1U));

  // A stretch that is only summarised has its place all the same.
  asked = request(2, "fifo", 1);
  asked.add_rows(1);
  ASSERT_TRUE(ask(asked).ok());
  ASSERT_EQ(timeline.places_size(), 1);
  EXPECT_EQ(timeline.places(0).function(), "g");
  EXPECT_THAT(timeline.rows(0).summaries().place(), ElementsAre(1U));
}

// Rows are written by hand: numbers of one byte to three, lists with and without entries, a thread that has none.
TEST_F(TimelineTest, RowsAreTheBytesThatProtocolBuffersWrite) {
  std::string text = "thread A\n  run f 1\nthread B\n";
  for (int i = 0; i < 6000; ++i)
    text += fmt::format("  run f{} {}us\n  lock M{}\n  run g 1us\n  unlock M{}\n{}", i % 200,
                        i % 7 + 1, i % 150, i % 150, i % 5 == 0 ? "  sleep 1us\n" : "");
  v1::GetTimelineRequest asked = request(2, "fifo", 3000);
  asked.set_handle(client.open(directory.write("long.prog", text)).handle());
  grpc::GenericStub stub(client.channel());
  const auto expect_bytes = [&](std::size_t summaries, std::size_t stretches) {
    const std::string words = asked.SerializeAsString();
    const grpc::Slice slice(words);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer answer;
    grpc::ClientContext context;
    std::promise<grpc::Status> ended;
    stub.UnaryCall(&context, "/longpole.v1.Longpole/GetTimeline", {}, &request, &answer,
                   [&](const grpc::Status& status) { ended.set_value(status); });
    ASSERT_TRUE(ended.get_future().get().ok());
    std::vector<grpc::Slice> slices;
    ASSERT_TRUE(answer.Dump(&slices).ok());
    std::string bytes;
    for (const grpc::Slice& each : slices)
      bytes.append(reinterpret_cast<const char*>(each.begin()), each.size());
    ASSERT_TRUE(timeline.ParseFromString(bytes));
    ASSERT_EQ(timeline.rows_size(), 2);
    EXPECT_GE(static_cast<std::size_t>(timeline.rows(1).summaries().pixel_size()), summaries);
    EXPECT_GE(static_cast<std::size_t>(timeline.rows(1).stretches().event_size()), stretches);
    std::string rows;
    for (const v1::TimelineRow& row : timeline.rows()) {
      v1::GetTimelineResponse of_row;
      *of_row.add_rows() = row;
      rows += of_row.SerializeAsString();
    }
    EXPECT_TRUE(bytes.ends_with(rows));
  };
  asked.add_rows(0);
  asked.add_rows(1);
  for (const auto colour :
       {v1::TIMELINE_COLOUR_UNSPECIFIED, v1::TIMELINE_COLOUR_STATE, v1::TIMELINE_COLOUR_WEIGHT,
        v1::TIMELINE_COLOUR_PLACE, v1::TIMELINE_COLOUR_OBJECT}) {
    asked.set_colour(colour);
    asked.mutable_view()->set_from_ns(0);
    asked.mutable_view()->set_to_ns(0);
    ASSERT_NO_FATAL_FAILURE(expect_bytes(1000, 0)) << colour;
    // Its last calls, behind the end of the other.
    asked.mutable_view()->set_from_ns(timeline.total_ns() - 0.1 * ms);
    asked.mutable_view()->set_to_ns(timeline.total_ns() + 0.1 * ms);
    ASSERT_NO_FATAL_FAILURE(expect_bytes(0, 30)) << colour;
    EXPECT_GT(timeline.rows(1).stretches().event(29), 1U << 14U);
  }
}

TEST_F(TimelineTest, WhoHasWhichCpu) {
  v1::GetTimelineRequest asked = request(2, "fifo", 9);
  asked.set_without_rows(true);
  asked.add_cpu_rows(1);
  asked.add_cpu_rows(0);
  ASSERT_TRUE(ask(asked).ok());
  ASSERT_EQ(timeline.cpu_rows_size(), 2);
  EXPECT_EQ(timeline.cpu_rows(0).cpu(), 1U);
  const v1::TimelineTurns& turns = timeline.cpu_rows(0).turns();
  EXPECT_THAT(turns.start_ns(), ElementsAre(0, 5 * ms));
  EXPECT_THAT(turns.end_ns(), ElementsAre(2 * ms, 6 * ms));
  EXPECT_THAT(turns.thread(), ElementsAre(1U, 1U));
  EXPECT_EQ(turns.migrated(), std::string("\0\0", 2));
  EXPECT_EQ(timeline.cpu_rows(0).busy_ns(), 3 * ms);
  EXPECT_EQ(timeline.cpu_rows(0).turns_begun(), 2U);
  EXPECT_THAT(timeline.cpu_rows(1).turns().end_ns(), ElementsAre(6 * ms));
  asked.mutable_view()->set_pixels(1);
  ASSERT_TRUE(ask(asked).ok());
  const v1::TimelineCpuSummaries& pixels = timeline.cpu_rows(0).summaries();
  EXPECT_THAT(pixels.pixel(), ElementsAre(0U));
  EXPECT_EQ(static_cast<unsigned char>(pixels.busy()[0]), 85);  // 3 of 9 ms
  EXPECT_THAT(pixels.thread(), ElementsAre(1U));
  EXPECT_THAT(pixels.threads(), ElementsAre(1U));
  EXPECT_THAT(pixels.migrations(), ElementsAre(0U));

  asked.mutable_simulation()->set_scheduler("shared");
  ASSERT_TRUE(ask(asked).ok());
  ASSERT_EQ(timeline.cpu_rows_size(), 2);
  EXPECT_EQ(timeline.cpu_rows(0).turns().thread_size(), 0);
  asked.add_cpu_rows(2);
  EXPECT_EQ(ask(asked).error_code(), StatusCode::NOT_FOUND);
  asked.mutable_cpu_rows()->Resize(513, 0);
  EXPECT_EQ(ask(asked).error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(TimelineTest, ThreadsOfTheView) {
  v1::GetTimelineRequest asked = request(1, "shared", 10);
  asked.set_list_threads(true);
  asked.set_without_rows(true);
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(timeline.rows_size(), 0);
  ASSERT_EQ(timeline.threads_size(), 2);
  double critical = 0;
  for (const v1::TimelineThread& thread : timeline.threads()) {
    EXPECT_TRUE(thread.active());
    EXPECT_NEAR(thread.critical_ns(), thread.critical_in_view_ns(), 1);
    critical += thread.critical_ns();
  }
  EXPECT_NEAR(critical, timeline.total_ns(), 1);
  EXPECT_EQ(timeline.threads(0).name(), "A");

  // A is long gone when B is asleep.
  asked.mutable_view()->set_from_ns(timeline.total_ns() - 0.5 * ms);
  asked.mutable_view()->set_to_ns(timeline.total_ns());
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_FALSE(timeline.threads(0).active());
}

TEST_F(TimelineTest, WhatIsAtAPlaceAndWhoEndedItsWait) {
  v1::GetTimelineItemRequest asked;
  asked.set_handle(open());
  asked.mutable_simulation()->set_cpus(2);
  asked.mutable_simulation()->set_scheduler("fifo");
  asked.set_thread(1);
  asked.set_time_ns(3 * ms);
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(item.state(), v1::TIMELINE_STATE_BLOCKED);
  EXPECT_EQ(item.kind(), "lock");
  EXPECT_EQ(item.object().name(), "M");
  EXPECT_EQ(item.thread().name(), "B");
  EXPECT_EQ(item.thread().times().running_ns(), 3 * ms);
  EXPECT_EQ(item.thread().times().blocked_ns(), 3 * ms);
  EXPECT_EQ(item.start_ns(), 2 * ms);
  EXPECT_EQ(item.end_ns(), 5 * ms);
  EXPECT_EQ(item.call_ns(), 2 * ms);
  EXPECT_EQ(item.return_ns(), 5 * ms);
  ASSERT_TRUE(item.has_woken_by());
  EXPECT_EQ(item.woken_by().name(), "A");
  EXPECT_EQ(item.woken_by().kind(), "unlock");
  EXPECT_EQ(item.woken_by().time_ns(), 5 * ms);

  // The same call in another simulation, and the one like it before.
  const std::uint32_t lock = item.event();
  asked.set_event(lock);
  asked.mutable_simulation()->set_cpus(1);
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(item.kind(), "lock");
  EXPECT_NE(item.call_ns(), 2 * ms);
  asked.mutable_simulation()->set_cpus(2);
  asked.set_step(v1::GetTimelineItemRequest::STEP_PREVIOUS_SIMILAR);
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(item.thread().name(), "A");
  EXPECT_EQ(item.kind(), "lock");
  EXPECT_EQ(item.call_ns(), 1 * ms);
  EXPECT_FALSE(item.has_woken_by());
  asked.set_step(v1::GetTimelineItemRequest::STEP_NEXT);
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(item.kind(), "unlock");
  EXPECT_EQ(item.thread().name(), "B");
  asked.set_event(item.event());
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(item.kind(), "sleep");
  EXPECT_EQ(item.state(), v1::TIMELINE_STATE_SLEEPING);
  asked.set_step(v1::GetTimelineItemRequest::STEP_NEXT_SIMILAR);
  EXPECT_EQ(ask(asked).error_code(), StatusCode::NOT_FOUND);  // the last of its kind
}

TEST_F(TimelineTest, TheCallsThatFollowAreToldUpToATimeAndANumber) {
  v1::GetTimelineItemRequest asked;
  asked.set_handle(open());
  asked.mutable_simulation()->set_cpus(2);
  asked.mutable_simulation()->set_scheduler("fifo");
  asked.set_thread(1);
  asked.set_time_ns(3 * ms);
  asked.set_following(100);
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(item.following_size(), 0);  // none is worked towards before 0
  asked.set_until_ns(1000 * ms);
  ASSERT_TRUE(ask(asked).ok());
  ASSERT_GE(item.following_size(), 2);
  const v1::GetTimelineItemResponse all = item;
  EXPECT_EQ(all.following(0).kind(), "unlock");
  EXPECT_EQ(all.following(0).object().name(), "M");
  EXPECT_EQ(all.following(1).kind(), "sleep");
  EXPECT_FALSE(all.following(0).has_thread());
  // Each is what it is when it is asked for by itself.
  for (const v1::GetTimelineItemResponse& call : all.following()) {
    v1::GetTimelineItemRequest alone = asked;
    alone.set_following(0);
    alone.set_event(call.event());
    ASSERT_TRUE(ask(alone).ok());
    item.clear_thread();
    item.clear_created_at();
    EXPECT_EQ(item.SerializeAsString(), call.SerializeAsString());
  }
  // What begins at the time, or later, is left out, and so are those beyond the number.
  const auto begin = [](const v1::GetTimelineItemResponse& call) {
    return call.call_ns() - call.total_ns();
  };
  const auto& calls = all.following();
  const double last = begin(calls.at(calls.size() - 1));
  ASSERT_LT(begin(calls.at(0)), last);
  asked.set_until_ns(last);
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(item.following_size(), std::count_if(calls.begin(), calls.end(), [&](const auto& call) {
              return begin(call) < last;
            }));
  asked.set_until_ns(1000 * ms);
  asked.set_following(1);
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(item.following_size(), 1);
  asked.set_following(1001);
  const grpc::Status refused = ask(asked);
  EXPECT_EQ(refused.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("max_following"));
}

TEST_F(TimelineTest, WhereAFunctionRuns) {
  v1::FindInTimelineRequest asked;
  asked.set_handle(open());
  asked.mutable_simulation()->set_cpus(2);
  asked.mutable_simulation()->set_scheduler("fifo");
  asked.mutable_view()->set_pixels(9);
  asked.set_function("g");
  ASSERT_TRUE(ask(asked).ok());
  ASSERT_EQ(found.rows_size(), 1);
  EXPECT_EQ(found.rows(0).thread(), 1U);
  EXPECT_THAT(found.rows(0).pixel(), ElementsAre(0U, 1U, 5U));
  EXPECT_EQ(found.rows(0).share(), "\xff\xff\xff");
  EXPECT_EQ(found.time_ns(), 3 * ms);
  asked.mutable_view()->set_from_ns(3 * ms);
  asked.mutable_view()->set_to_ns(4 * ms);
  ASSERT_TRUE(ask(asked).ok());
  EXPECT_EQ(found.rows_size(), 0);
  EXPECT_EQ(found.next_ns(), 5 * ms);
  EXPECT_EQ(found.previous_ns(), 0);
  asked.set_function("h");
  EXPECT_EQ(ask(asked).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(TimelineTest, WhatCannotBeDrawn) {
  v1::GetTimelineRequest asked = request(2, "fifo", 0);
  EXPECT_EQ(ask(asked).error_code(), StatusCode::INVALID_ARGUMENT);
  asked.mutable_view()->set_pixels(16385);
  grpc::Status refused = ask(asked);
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.error_message(), HasSubstr("max_pixels"));
  asked.mutable_view()->set_pixels(10);
  asked.mutable_view()->set_from_ns(5);
  asked.mutable_view()->set_to_ns(5);
  EXPECT_EQ(ask(asked).error_code(), StatusCode::INVALID_ARGUMENT);
  asked.mutable_view()->set_to_ns(std::nan(""));
  EXPECT_EQ(ask(asked).error_code(), StatusCode::INVALID_ARGUMENT);
  asked.mutable_view()->set_to_ns(50);
  asked.add_rows(2);
  EXPECT_EQ(ask(asked).error_code(), StatusCode::NOT_FOUND);
  for (int i = 0; i < 512; ++i)
    asked.add_rows(0);
  refused = ask(asked);
  EXPECT_EQ(refused.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("max_timeline_rows"));
  asked.mutable_rows()->Resize(512, 0);
  asked.mutable_view()->set_pixels(16384);
  refused = ask(asked);
  EXPECT_EQ(refused.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("max_timeline_cells"));
  asked.mutable_simulation()->set_scheduler("magic");
  EXPECT_EQ(ask(asked).error_code(), StatusCode::INVALID_ARGUMENT);
  asked.set_handle(4711);
  EXPECT_EQ(ask(asked).error_code(), StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace longpole::testing
