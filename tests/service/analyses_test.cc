// What an editor is told of locks, threads, leads and what-ifs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "client.h"
#include "daemon.h"
#include "golden_programs.h"

namespace longpole::testing {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

// Intel Thread Profiler's example: a lock that two threads want.
const std::filesystem::path locks = LONGPOLE_GOLDEN "/thread-profiler.prog";

class AnalysesTest : public ::testing::Test {
 protected:
  [[nodiscard]] grpc::Status ask(const v1::WhatIfRequest& request, v1::WhatIfResponse& response) {
    grpc::ClientContext context;
    response.Clear();
    return client.stub().WhatIf(&context, request, &response);
  }

  Daemon daemon;
  Client client{daemon};
};

TEST_F(AnalysesTest, ACurveOfWhatAFasterFunctionBrings) {
  v1::WhatIfRequest request;
  request.set_handle(client.open(two_at_a_barrier).handle());
  request.add_cpus(2);
  request.add_speeds()->set_part("slow");
  request.mutable_speeds(0)->set_curve(true);
  v1::WhatIfResponse response;
  ASSERT_TRUE(ask(request, response).ok());
  ASSERT_EQ(response.runs_size(), 11);
  const auto saved = [&](int run) {
    return 1 - response.runs(run).total_ns() / response.runs(run).before_ns();
  };
  EXPECT_NEAR(saved(0), 0, 1e-9);
  EXPECT_NEAR(saved(1), 0.10, 0.01);
  EXPECT_NEAR(saved(2), 0.20, 0.01);
  EXPECT_NEAR(saved(3), 0.20, 0.01);
  EXPECT_EQ(response.runs(3).percent(), 30);
  EXPECT_FALSE(response.has_changed());
}

TEST_F(AnalysesTest, TheChangedProgramCanBeLookedAt) {
  v1::WhatIfRequest request;
  request.set_handle(client.open(two_at_a_barrier).handle());
  request.add_cpus(2);
  request.add_speeds()->set_part("slow");
  request.mutable_speeds(0)->set_percent(20);
  request.set_keep(true);
  v1::WhatIfResponse response;
  ASSERT_TRUE(ask(request, response).ok());
  ASSERT_TRUE(response.has_changed());
  const std::uint64_t changed = response.changed().handle();
  EXPECT_NE(changed, request.handle());
  EXPECT_DOUBLE_EQ(client.predict(changed, {2}).predictions(0).total_ns(),
                   response.runs(0).total_ns());
  client.close(changed);
}

TEST_F(AnalysesTest, WhatCannotBeChanged) {
  v1::WhatIfRequest request;
  v1::WhatIfResponse response;
  request.set_handle(client.open(two_at_a_barrier).handle());
  request.add_cpus(2);
  EXPECT_EQ(ask(request, response).error_code(), StatusCode::INVALID_ARGUMENT);
  v1::Speed& speed = *request.add_speeds();
  speed.set_part("no such thing");
  EXPECT_EQ(ask(request, response).error_code(), StatusCode::NOT_FOUND);
  speed.set_part("slow");
  speed.set_percent(std::nan(""));
  EXPECT_EQ(ask(request, response).error_code(), StatusCode::INVALID_ARGUMENT);
  speed.set_percent(101);
  EXPECT_EQ(ask(request, response).error_code(), StatusCode::INVALID_ARGUMENT);
  speed.set_percent(10);
  speed.set_curve(true);
  request.set_keep(true);
  EXPECT_EQ(ask(request, response).error_code(), StatusCode::INVALID_ARGUMENT);
  for (int i = 0; i < 256; ++i)
    request.add_freed(std::string("M"));
  const grpc::Status refused = ask(request, response);
  EXPECT_EQ(refused.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("max_changes"));
}

TEST_F(AnalysesTest, LocksByWhatItWouldBringToFreeThem) {
  v1::GetObjectsRequest request;
  request.set_handle(client.open(locks).handle());
  request.set_cpus(3);
  grpc::ClientContext context;
  v1::GetObjectsResponse response;
  ASSERT_TRUE(client.stub().GetObjects(&context, request, &response).ok());
  ASSERT_GT(response.objects_size(), 0);
  const v1::ObjectRow& lock = response.objects(0);
  EXPECT_EQ(lock.kind(), "mutex");
  EXPECT_EQ(lock.name(), "L");
  EXPECT_EQ(lock.acquisitions(), 2U);
  EXPECT_EQ(lock.contended(), 1U);
  EXPECT_EQ(lock.wait_ns(), 2 * ms);
  EXPECT_TRUE(lock.has_hold_ns());
  EXPECT_LE(lock.freed_total_ns(), response.total_ns());
  ASSERT_EQ(lock.collisions_size(), 1);
  EXPECT_EQ(lock.collisions(0).wait_ns(), 2 * ms);
}

TEST_F(AnalysesTest, ThreadsByCriticalTime) {
  v1::GetThreadsRequest request;
  request.set_handle(client.open(locks).handle());
  request.set_cpus(2);
  v1::GetThreadsResponse response;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(client.stub().GetThreads(&context, request, &response).ok());
  }
  double critical = 0;
  for (const v1::ThreadRow& row : response.threads())
    critical += row.critical_ns() + row.critical_waiting_ns();
  EXPECT_NEAR(critical, response.total_ns(), 1);
  const auto all = static_cast<std::uint64_t>(response.threads_size());
  request.set_rows(1);
  grpc::ClientContext context;
  ASSERT_TRUE(client.stub().GetThreads(&context, request, &response).ok());
  EXPECT_EQ(response.threads_size(), 1);
  EXPECT_EQ(response.rows_left(), all - 1);
}

TEST_F(AnalysesTest, WhoLeadsAndForHowLong) {
  v1::GetLeadsRequest request;
  request.set_handle(client.open(two_at_a_barrier).handle());
  request.set_up_to_cpus(64);
  request.add_headroom_at(2);
  v1::GetLeadsResponse response;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(client.stub().GetLeads(&context, request, &response).ok());
  }
  ASSERT_GT(response.leads_size(), 0);
  EXPECT_EQ(response.leads(0).from_cpus(), 1U);
  EXPECT_EQ(response.leads(response.leads_size() - 1).to_cpus(), 64U);
  EXPECT_EQ(response.leads(response.leads_size() - 1).function(), "slow");
  ASSERT_EQ(response.headrooms_size(), 1);
  EXPECT_EQ(response.headrooms(0).function(), "slow");
  EXPECT_NEAR(response.headrooms(0).reduction(), 0.2, 0.01);
  EXPECT_EQ(response.headrooms(0).next(), "fast");

  request.set_up_to_cpus(1025);
  grpc::ClientContext context;
  const grpc::Status refused = client.stub().GetLeads(&context, request, &response);
  EXPECT_EQ(refused.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(refused.error_message(), HasSubstr("max_lead_cpus"));
}

}  // namespace
}  // namespace longpole::testing
