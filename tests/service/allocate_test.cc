// What an editor is told when it asks for a binding of threads to CPUs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "client.h"
#include "daemon.h"

namespace longpole::testing {
namespace {

using grpc::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Paper IV section 3.
const std::filesystem::path four_threads = LONGPOLE_GOLDEN "/allocation-four.prog";

// Threads that compute for long, one lock each two; enough to search in for as long as one likes.
std::string large_program() {
  std::string text;
  for (int thread = 0; thread < 40; ++thread) {
    text += fmt::format("thread T{}\n", thread);
    for (int turn = 0; turn < 200; ++turn)
      text += fmt::format("  lock M{0}\n  run f {1}us\n  unlock M{0}\n  run g {2}us\n", thread / 2,
                          10 + thread * turn % 7, 20 + (thread + turn) % 11);
  }
  return text;
}

class AllocateTest : public ::testing::Test {
 protected:
  // The messages of a call.
  [[nodiscard]] grpc::Status ask(const v1::AllocateRequest& request) {
    grpc::ClientContext context;
    const auto reader = client.stub().Allocate(&context, request);
    messages.clear();
    for (v1::AllocateResponse message; reader->Read(&message);)
      messages.push_back(message);
    return reader->Finish();
  }
  [[nodiscard]] grpc::Status ask(const v1::BoundRequest& request) {
    grpc::ClientContext context;
    return client.stub().Bound(&context, request, &bounds);
  }

  TemporaryDirectory directory;
  Daemon daemon;
  Client client{daemon};
  std::vector<v1::AllocateResponse> messages;
  v1::BoundResponse bounds;
};

TEST_F(AllocateTest, PaperFoursExample) {
  v1::AllocateRequest request;
  request.set_handle(client.open(four_threads).handle());
  request.set_cpus(2);
  ASSERT_TRUE(ask(request).ok());
  ASSERT_FALSE(messages.empty());
  const v1::AllocateResult guided = messages.back().result();
  EXPECT_EQ(guided.total_ns(), 2005 * ms);
  EXPECT_EQ(guided.model(), "direct");
  EXPECT_EQ(guided.unbound_ns(), 2005 * ms);
  EXPECT_NEAR(guided.bound_ns(), 2672 * ms, 1);
  EXPECT_FALSE(guided.better_exists());
  EXPECT_THAT(guided.code(), HasSubstr("taskset -cp"));
  EXPECT_EQ(guided.others_size(), 0);

  request.set_algorithm("binpack");
  ASSERT_TRUE(ask(request).ok());
  const v1::AllocateResult packed = messages.back().result();
  EXPECT_EQ(packed.total_ns(), 4006 * ms);
  EXPECT_TRUE(packed.better_exists());
  EXPECT_EQ(packed.tests(), 1U);

  request.set_compare(true);
  request.clear_algorithm();
  ASSERT_TRUE(ask(request).ok());
  std::vector<std::pair<std::string, double>> others;
  for (const v1::AlgorithmTotal& other : messages.back().result().others())
    others.emplace_back(other.algorithm(), other.total_ns() / ms);
  EXPECT_THAT(others, ElementsAre(Pair("block", 4006), Pair("round-robin", 2010),
                                  Pair("binpack", 4006), Pair("c-sga", 2005)));

  // All of them, and the fastest is the answer.
  request.set_algorithm("block");
  request.set_all(true);
  request.set_tests(1);
  ASSERT_TRUE(ask(request).ok());
  const v1::AllocateResult best = messages.back().result();
  EXPECT_EQ(best.algorithm(), "sga");
  EXPECT_EQ(best.total_ns(), 2005 * ms);
  EXPECT_EQ(best.disturbed().least_ns(), 2005 * ms);
  EXPECT_EQ(best.disturbed().most_ns(), 2005 * ms);
  EXPECT_EQ(best.others_size(), 7);
  EXPECT_GE(best.others(0).disturbed().most_ns(), 4006 * ms);

  // The editor simulates the program as bound: the same time.
  v1::PredictRequest predict;
  predict.set_handle(request.handle());
  predict.add_cpus(2);
  predict.set_scheduler("linux");
  for (const v1::ThreadOnCpu& thread : packed.assignment()) {
    v1::ThreadSettings& settings = *predict.mutable_machine()->add_threads();
    settings.set_thread(thread.thread());
    settings.set_cpu(thread.cpu());
  }
  v1::PredictResponse prediction;
  ASSERT_TRUE(client.try_predict(predict, prediction).ok());
  EXPECT_EQ(prediction.predictions(0).total_ns(), packed.total_ns());
}

TEST_F(AllocateTest, NodesAreAParameter) {
  v1::AllocateRequest request;
  request.set_handle(
      client
          .open(directory.write("two.prog",
                                "thread A\n  run f 5\n  post S\nthread B\n  wait S\n  run g 2\n"))
          .handle());
  request.set_cpus(2);
  request.set_algorithm("block");
  request.mutable_machine()->add_nodes(0);
  request.mutable_machine()->add_nodes(1);
  request.mutable_machine()->set_node_latency_ns(3'000'000);
  ASSERT_TRUE(ask(request).ok());
  EXPECT_EQ(messages.back().result().total_ns(), 10 * ms);
  request.set_algorithm("");
  ASSERT_TRUE(ask(request).ok());
  EXPECT_EQ(messages.back().result().total_ns(), 7 * ms);
}

TEST_F(AllocateTest, ProgressHasTheBestSoFarAndCancellingEndsTheSearch) {
  v1::AllocateRequest request;
  request.set_handle(client.open(directory.write("large.prog", large_program())).handle());
  request.set_cpus(8);
  request.set_tests(1'000'000);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::AllocateResponse>>> readers;
  for (int search = 0; search < 4; ++search) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(client.stub().Allocate(contexts.back().get(), request));
    v1::AllocateResponse message;
    do
      ASSERT_TRUE(readers.back()->Read(&message));
    while (message.progress().assignment_size() == 0);
    EXPECT_GT(message.progress().tests(), 0U);
    EXPECT_GT(message.progress().total_ns(), 0);
    EXPECT_EQ(message.progress().algorithm(), "guided");
    EXPECT_GT(message.progress().share(), 0);
    EXPECT_LT(message.progress().share(), 1);
    EXPECT_EQ(message.progress().assignment_size(), 40);
  }
  const grpc::Status refused = ask(request);
  EXPECT_EQ(refused.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr("max_searches"));

  for (std::size_t search = 0; search < readers.size(); ++search) {
    contexts[search]->TryCancel();
    v1::AllocateResponse message;
    while (readers[search]->Read(&message)) {
    }
    EXPECT_EQ(readers[search]->Finish().error_code(), StatusCode::CANCELLED);
  }
  // They end soon: there is room for another.
  request.set_tests(1);
  EXPECT_TRUE(eventually([&] { return ask(request).ok(); }));
}

TEST_F(AllocateTest, TheDaemonEndsWhileItSearches) {
  v1::AllocateRequest request;
  request.set_handle(client.open(directory.write("large.prog", large_program())).handle());
  request.set_cpus(8);
  request.set_tests(1'000'000);
  grpc::ClientContext context;
  const auto reader = client.stub().Allocate(&context, request);
  v1::AllocateResponse message;
  ASSERT_TRUE(reader->Read(&message));
  daemon.signal(SIGTERM);
  while (reader->Read(&message)) {
  }
  EXPECT_FALSE(reader->Finish().ok());
  EXPECT_EQ(daemon.exit_status(), 0);
}

TEST_F(AllocateTest, Bounds) {
  v1::BoundRequest request;
  request.set_handle(client.open(four_threads).handle());
  request.add_cpus(2);
  request.add_cpus(4);
  request.add_latencies_ns(0);
  request.add_latencies_ns(1'000'000);
  ASSERT_TRUE(ask(request).ok());
  EXPECT_EQ(bounds.threads(), 4U);
  EXPECT_EQ(bounds.signals(), 4U);
  EXPECT_EQ(bounds.work_ns(), 4006 * ms);
  ASSERT_EQ(bounds.rows_size(), 4);
  EXPECT_NEAR(bounds.rows(0).total_ns(), 2672 * ms, 1);
  EXPECT_THAT(bounds.rows(0).allocation(), ElementsAre(2, 2));
  EXPECT_EQ(bounds.rows(1).latency_ns(), 1'000'000);
  EXPECT_GT(bounds.rows(1).bound(), bounds.rows(0).bound());
  EXPECT_EQ(bounds.rows(2).cpus(), 4U);
  EXPECT_EQ(bounds.rows(2).bound(), 1);
}

TEST_F(AllocateTest, WhatCannotBeAnswered) {
  v1::AllocateRequest request;
  request.set_cpus(2);
  EXPECT_EQ(ask(request).error_code(), StatusCode::NOT_FOUND);
  request.set_handle(client.open(four_threads).handle());
  request.set_algorithm("magic");
  EXPECT_EQ(ask(request).error_code(), StatusCode::INVALID_ARGUMENT);
  request.set_algorithm("");
  request.set_scheduler("shared");
  EXPECT_EQ(ask(request).error_code(), StatusCode::INVALID_ARGUMENT);
  request.set_scheduler("");
  request.set_tests(1'000'001);
  EXPECT_EQ(ask(request).error_code(), StatusCode::RESOURCE_EXHAUSTED);
  request.set_tests(0);
  request.set_cpus(1025);
  EXPECT_EQ(ask(request).error_code(), StatusCode::INVALID_ARGUMENT);

  v1::BoundRequest bound;
  bound.set_handle(request.handle());
  EXPECT_EQ(ask(bound).error_code(), StatusCode::INVALID_ARGUMENT);
  bound.add_cpus(2);
  bound.add_latencies_ns(-1);
  EXPECT_EQ(ask(bound).error_code(), StatusCode::INVALID_ARGUMENT);
  bound.mutable_latencies_ns()->Resize(65, 0);
  EXPECT_EQ(ask(bound).error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace longpole::testing
