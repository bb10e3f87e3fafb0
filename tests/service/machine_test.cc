// What lines and functions weigh on a machine of the client's choice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "client.h"
#include "daemon.h"
#include "golden_programs.h"

namespace longpole::testing {
namespace {

using ::testing::HasSubstr;

class MachineTest : public ::testing::Test {
 protected:
  [[nodiscard]] grpc::Status ask(const v1::GetFunctionsRequest& request) {
    grpc::ClientContext context;
    functions.Clear();
    return client.stub().GetFunctions(&context, request, &functions);
  }
  [[nodiscard]] double critical(const std::string& name, int count) const {
    for (const v1::Function& function : functions.functions()) {
      if (function.name() == name)
        return function.at(count).critical_self_ns();
    }
    return 0;
  }

  Daemon daemon;
  Client client{daemon};
  v1::GetFunctionsResponse functions;
};

TEST_F(MachineTest, FunctionsWeighWhatTheyDoUnderItsScheduler) {
  v1::GetFunctionsRequest request;
  request.set_handle(client.open(two_at_a_barrier).handle());
  request.set_scheduler("fifo");
  request.add_cpus(2);
  request.add_cpus(1);
  ASSERT_TRUE(ask(request).ok());
  EXPECT_DOUBLE_EQ(functions.total_ns(0), 300 * ms);
  EXPECT_DOUBLE_EQ(critical("slow", 0), 300 * ms);
  EXPECT_DOUBLE_EQ(critical("fast", 0), 0);
  EXPECT_DOUBLE_EQ(functions.total_ns(1), 540 * ms);
  EXPECT_DOUBLE_EQ(critical("slow", 1), 300 * ms);
  EXPECT_DOUBLE_EQ(critical("fast", 1), 240 * ms);
}

TEST_F(MachineTest, OnASlowCpuAnotherFunctionHoldsTheProgramBack) {
  v1::GetFunctionsRequest request;
  request.set_handle(client.open(two_at_a_barrier).handle());
  request.set_scheduler("fifo");
  request.add_cpus(2);
  request.mutable_machine()->add_speeds(1);
  request.mutable_machine()->add_speeds(0.5);
  v1::ThreadSettings& bound = *request.mutable_machine()->add_threads();
  bound.set_thread("B");
  bound.set_cpu(1);
  ASSERT_TRUE(ask(request).ok());
  EXPECT_DOUBLE_EQ(functions.total_ns(0), 480 * ms);
  EXPECT_DOUBLE_EQ(critical("slow", 0), 0);
  EXPECT_DOUBLE_EQ(critical("fast", 0), 480 * ms);

  v1::GetLinesRequest same;
  same.set_handle(request.handle());
  same.set_scheduler("fifo");
  same.add_cpus(2);
  *same.mutable_machine() = request.machine();
  v1::GetLinesResponse lines;
  grpc::ClientContext context;
  ASSERT_TRUE(client.stub().GetLines(&context, same, &lines).ok());
  double sum = 0;
  for (const v1::Line& line : lines.lines())
    sum += line.critical_ns(0);
  EXPECT_DOUBLE_EQ(sum, lines.total_ns(0));
}

TEST_F(MachineTest, WhatNoMachineHasIsRefused) {
  v1::GetFunctionsRequest request;
  request.set_handle(client.open(two_at_a_barrier).handle());
  request.add_cpus(2);
  request.set_scheduler("no such scheduler");
  EXPECT_THAT(ask(request).error_message(), HasSubstr("there is no such scheduler"));
  request.set_scheduler("shared");
  request.mutable_machine()->set_latency_ns(5);
  EXPECT_THAT(ask(request).error_message(), HasSubstr("all CPUs and threads are alike"));
  request.set_scheduler("fifo");
  request.mutable_machine()->add_threads()->set_thread("nobody");
  EXPECT_THAT(ask(request).error_message(), HasSubstr("nobody"));
}

}  // namespace
}  // namespace longpole::testing
