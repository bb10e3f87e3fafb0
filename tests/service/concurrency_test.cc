// What an editor is told of concurrency and of normalized time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client.h"
#include "daemon.h"

namespace longpole::testing {
namespace {

using grpc::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Intel Thread Profiler's example, without overhead.
const std::filesystem::path two_want_a_lock = LONGPOLE_GOLDEN "/thread-profiler.prog";

class ConcurrencyTest : public ::testing::Test {
 protected:
  [[nodiscard]] grpc::Status ask(const v1::GetConcurrencyRequest& request) {
    grpc::ClientContext context;
    return client.stub().GetConcurrency(&context, request, &concurrency);
  }
  [[nodiscard]] grpc::Status ask(const v1::GetQuartzRequest& request) {
    grpc::ClientContext context;
    return client.stub().GetQuartz(&context, request, &quartz);
  }

  Daemon daemon;
  Client client{daemon};
  v1::GetConcurrencyResponse concurrency;
  v1::GetQuartzResponse quartz;
};

TEST_F(ConcurrencyTest, LevelsAndClassesOfIntelsExample) {
  v1::GetConcurrencyRequest request;
  request.set_handle(client.open(two_want_a_lock).handle());
  request.set_cpus(2);
  ASSERT_TRUE(ask(request).ok());
  EXPECT_EQ(concurrency.total_ns(), 17 * ms);
  ASSERT_EQ(concurrency.levels_size(), 3);
  EXPECT_EQ(concurrency.levels(2).running(), 2U);
  EXPECT_EQ(concurrency.levels(2).runnable(), 1U);
  EXPECT_EQ(concurrency.levels(2).path().cruise_ns(), 3 * ms);
  EXPECT_EQ(concurrency.serial().cruise_ns(), 3 * ms);
  EXPECT_EQ(concurrency.serial().blocking_ns(), 1 * ms);
  EXPECT_EQ(concurrency.serial().impact_ns(), 5 * ms);
  EXPECT_EQ(concurrency.parallel().cruise_ns(), 5 * ms);
  EXPECT_EQ(concurrency.oversubscribed().cruise_ns(), 3 * ms);
  ASSERT_EQ(concurrency.objects_size(), 2);
  EXPECT_EQ(concurrency.objects(0).kind(), "thread-end");
  EXPECT_EQ(concurrency.objects(1).kind(), "mutex");
  EXPECT_EQ(concurrency.objects(1).name(), "L");
  EXPECT_EQ(concurrency.objects(1).impact_ns(), 2 * ms);
  EXPECT_FALSE(concurrency.objects(1).has_waited_at());
  ASSERT_EQ(concurrency.threads_size(), 2);
  EXPECT_EQ(concurrency.threads(0).thread(), "T3");
  EXPECT_EQ(concurrency.threads(0).delayed(), "T1");

  request.set_scheduler("ideal");
  ASSERT_TRUE(ask(request).ok());
  EXPECT_EQ(concurrency.total_ns(), 16 * ms);
  EXPECT_EQ(concurrency.levels(2).running(), 3U);
}

TEST_F(ConcurrencyTest, NormalizedTimeFromTheTopDown) {
  v1::GetQuartzRequest request;
  request.set_handle(client.open(two_want_a_lock).handle());
  request.set_cpus(2);
  ASSERT_TRUE(ask(request).ok());
  EXPECT_EQ(quartz.total_ns(), 17 * ms);
  EXPECT_EQ(quartz.most_busy(), 2U);
  EXPECT_FALSE(quartz.more_busy());
  EXPECT_EQ(quartz.rows_left(), 0U);
  const v1::QuartzRow& program = quartz.rows(0);
  EXPECT_EQ(program.kind(), "program");
  EXPECT_EQ(program.total().normalized_ns(), 17 * ms);
  EXPECT_THAT(program.total().terms_ns(), ElementsAre(9 * ms, 8 * ms));
  EXPECT_FALSE(program.self().has_busy());
  double below = 0;
  for (const v1::QuartzChild& child : program.children())
    below += child.normalized_ns();
  EXPECT_EQ(below, 17 * ms);
  const v1::QuartzRow& lock = quartz.rows(static_cast<int>(program.children(0).row()));
  EXPECT_EQ(lock.kind(), "mutex");
  EXPECT_EQ(lock.name(), "L");
  EXPECT_EQ(lock.calls(), 2U);
  EXPECT_EQ(lock.total().normalized_ns(), 4.5 * ms);
  EXPECT_EQ(lock.total().blocked().time_ns(), 2 * ms);
  EXPECT_THAT(lock.total().blocked().at_runnable_ns(), ElementsAre(0, 2 * ms));

  const auto all = static_cast<std::size_t>(quartz.rows_size());
  request.set_rows(2);
  ASSERT_TRUE(ask(request).ok());
  EXPECT_EQ(quartz.rows_size(), 3);
  EXPECT_EQ(quartz.rows_left(), all - 3);
  for (const v1::QuartzRow& row : quartz.rows()) {
    for (const v1::QuartzChild& child : row.children())
      EXPECT_LT(child.row(), 3U);
  }
}

TEST_F(ConcurrencyTest, WhatCannotBeAnswered) {
  v1::GetConcurrencyRequest request;
  request.set_cpus(2);
  EXPECT_EQ(ask(request).error_code(), StatusCode::NOT_FOUND);
  request.set_handle(client.open(two_want_a_lock).handle());
  request.set_cpus(0);
  EXPECT_EQ(ask(request).error_code(), StatusCode::INVALID_ARGUMENT);
  request.set_cpus(2);
  request.set_scheduler("magic");
  EXPECT_EQ(ask(request).error_code(), StatusCode::INVALID_ARGUMENT);

  v1::GetQuartzRequest rows;
  rows.set_handle(request.handle());
  EXPECT_EQ(ask(rows).error_code(), StatusCode::INVALID_ARGUMENT);
  rows.set_cpus(2);
  rows.set_rows(1001);
  const grpc::Status refused = ask(rows);
  EXPECT_EQ(refused.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("max_rows"));
}

}  // namespace
}  // namespace longpole::testing
