// What an editor is told of a timeline: the picture, what is at a place of it, and where a line runs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "daemon.h"

namespace longpole::testing {
namespace {

using ::testing::ElementsAre;

constexpr double ms = 1e6;

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

}  // namespace
}  // namespace longpole::testing
