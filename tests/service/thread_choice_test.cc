// What an editor is told of some threads alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "client.h"
#include "daemon.h"
#include "golden_programs.h"

namespace longpole::testing {
namespace {

using grpc::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Threads A and B compute 100 units in slow and 80 in fast before each of three barriers.

class ThreadChoiceTest : public ::testing::Test {
 protected:
  [[nodiscard]] v1::GetFunctionsRequest asking(const std::vector<std::string>& names) const {
    v1::GetFunctionsRequest request;
    request.set_handle(handle);
    request.add_cpus(2);
    request.add_cpus(1);
    for (const std::string& name : names)
      request.mutable_threads()->add_names(name);
    return request;
  }

  grpc::Status ask(const v1::GetFunctionsRequest& request) {
    grpc::ClientContext context;
    functions.Clear();
    return client.stub().GetFunctions(&context, request, &functions);
  }

  // Critical time on two CPUs and on one, by function.
  [[nodiscard]] std::map<std::string, std::vector<double>> critical() const {
    std::map<std::string, std::vector<double>> found;
    for (const v1::Function& function : functions.functions()) {
      for (const v1::FunctionAt& at : function.at())
        found[function.name()].push_back(at.critical_self_ns() / ms);
    }
    return found;
  }

  Daemon daemon;
  Client client{daemon};
  std::uint64_t handle = client.open(two_at_a_barrier).handle();
  v1::GetFunctionsResponse functions;
};

TEST_F(ThreadChoiceTest, OneThreadWeighsWhatItDoesInTheWholeProgram) {
  ASSERT_TRUE(ask(asking({})).ok());
  EXPECT_THAT(functions.threads(), IsEmpty());
  const auto all = critical();
  const std::vector<double> totals(functions.total_ns().begin(), functions.total_ns().end());

  ASSERT_TRUE(ask(asking({"A"})).ok());
  EXPECT_THAT(functions.threads(), ElementsAre(0));
  EXPECT_THAT(functions.total_ns(), ::testing::ElementsAreArray(totals));
  const auto of_a = critical();
  ASSERT_TRUE(ask(asking({"B"})).ok());
  EXPECT_THAT(functions.threads(), ElementsAre(1));
  const auto of_b = critical();
  EXPECT_EQ(of_a.size(), 1U) << "A computes in one function alone";
  EXPECT_EQ(of_b.size(), 1U);
  EXPECT_NE(of_a.begin()->first, of_b.begin()->first);
  for (const auto& part : {of_a, of_b})
    EXPECT_EQ(part.begin()->second, all.at(part.begin()->first));

  for (const v1::Function& function : functions.functions())
    EXPECT_FALSE(function.has_calls()) << "entries are not counted by thread";
}

TEST_F(ThreadChoiceTest, NamesThatNoThreadHasChooseNothing) {
  ASSERT_TRUE(ask(asking({"B", "nobody", "A"})).ok());
  EXPECT_THAT(functions.threads(), ElementsAre(0, 1));
  const grpc::Status refused = ask(asking({"nobody"}));
  EXPECT_EQ(refused.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(refused.error_message(), HasSubstr("no thread of the recording is called so"));
  // A choice that chooses nothing is not the one that chooses all.
  v1::GetFunctionsRequest nothing = asking({});
  nothing.mutable_threads();
  EXPECT_EQ(ask(nothing).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(ThreadChoiceTest, LinesAndMachinesKnowItToo) {
  v1::GetLinesRequest request;
  request.set_handle(handle);
  request.set_scheduler("fifo");
  request.add_cpus(1);
  const auto critical_of = [&](const std::string& thread) {
    request.mutable_threads()->clear_names();
    request.mutable_threads()->add_names(thread);
    v1::GetLinesResponse lines;
    grpc::ClientContext context;
    EXPECT_TRUE(client.stub().GetLines(&context, request, &lines).ok());
    EXPECT_EQ(lines.threads_size(), 1);
    double sum = 0;
    for (const v1::Line& line : lines.lines())
      sum += line.critical_ns(0);
    return sum / ms;
  };
  // On one CPU all that is computed weighs in full: as in MachineTest.
  EXPECT_DOUBLE_EQ(critical_of("A"), 300);
  EXPECT_DOUBLE_EQ(critical_of("B"), 240);
}

TEST_F(ThreadChoiceTest, ByTheFunctionThatThreadsWereCreatedWith) {
  const TemporaryDirectory directory;
  v1::RecordRequest record;
  record.set_program(SPECIMEN);
  record.add_arguments("work");
  record.set_directory(directory.path().string());
  RecordConversation conversation(client, record);
  ASSERT_TRUE(conversation.sync().ok());
  ASSERT_EQ(conversation.results().size(), 1U);
  const v1::Recording recorded = conversation.results()[0].recording();
  v1::GetThreadsRequest request;
  request.set_handle(recorded.handle());
  request.set_cpus(2);
  v1::GetThreadsResponse threads;
  {
    grpc::ClientContext context;
    ASSERT_TRUE(client.stub().GetThreads(&context, request, &threads).ok());
  }
  std::map<std::string, std::vector<std::uint32_t>> created;
  for (const v1::ThreadRow& row : threads.threads()) {
    if (!row.function().empty())
      created[row.function()].push_back(row.thread());
  }
  EXPECT_EQ(created.size(), 1U) << "two threads, both with work()";
  for (auto& [function, expected] : created) {
    v1::GetFunctionsRequest alone;
    alone.set_handle(recorded.handle());
    alone.add_cpus(2);
    alone.mutable_threads()->add_functions(function);
    ASSERT_TRUE(ask(alone).ok());
    std::sort(expected.begin(), expected.end());
    EXPECT_THAT(functions.threads(), ::testing::ElementsAreArray(expected)) << function;
  }
}

}  // namespace
}  // namespace longpole::testing
