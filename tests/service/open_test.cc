// What a client is told of recordings that it opens: the papers' numbers, and clear refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "client.h"
#include "daemon.h"
#include "storage/load.h"

namespace longpole::testing {
namespace {

using grpc::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Paper VI, Figure 4.
const std::filesystem::path figure_4 = LONGPOLE_GOLDEN "/ecp-figure4.prog";

class OpenTest : public ::testing::Test {
 protected:
  TemporaryDirectory directory;
  Daemon daemon;
  Client client{daemon};
};

std::map<std::string, double> critical_self_ms(const v1::GetFunctionsResponse& response,
                                               int count) {
  std::map<std::string, double> result;
  for (const v1::Function& function : response.functions())
    result[function.name()] = function.at(count).critical_self_ns() / ms;
  return result;
}

// A recorded run of one thread: three stretches of a millisecond on lines 10, 20 and 10 of the
// user's file, one in the system's.
Recording recording_with_lines() {
  Recording recording;
  recording.run.source = Source::kernel;
  recording.run.command = {"./program", "caf\xe9"};
  recording.run.samples = 8;
  recording.run.sample_hz = 305;
  recording.run.exit_status = 3;
  recording.run.cpu_time = std::chrono::milliseconds(4);
  recording.notices = {{"samples-lost", "2 samples were lost", 2}};
  recording.modules = {{"/home/user/program", "abcd", true}, {"/home/user/library.so", "", true}};
  recording.files = {{"/home/user/z.cc", std::string(64, 'a'), false},
                     {"/usr/include/vector", "", true},
                     {"/home/user/unused.h", "", false},
                     {"/home/user/a.cc", "", false}};
  recording.functions = {{"work", FileId{0}, 5, 30, ModuleId{0}},
                         {"std::sort", FileId{1}, 7, 9, ModuleId{0}},
                         {"main", FileId{3}, 1, 4, ModuleId{0}},
                         {"call", FileId{0}, 40, 44, ModuleId{1}}};
  recording.stacks = {{StackId::none(), FunctionId{0}, FileId{0}, 10, false},
                      {StackId::none(), FunctionId{0}, FileId{0}, 20, false},
                      {StackId::none(), FunctionId{1}, FileId{1}, 8, false},
                      {StackId::none(), FunctionId{2}, FileId{3}, 2, false},
                      {StackId::none(), FunctionId{3}, FileId{0}, 41, false}};
  Thread thread;
  thread.name = "main";
  std::int64_t time = 0;
  for (const std::uint32_t stack : {0U, 1U, 0U, 2U, 3U}) {
    recording.profiles.push_back({false, {{StackId{stack}, 2}}});
    Event event;
    event.cpu = std::chrono::milliseconds(1);
    time += event.cpu.count();
    event.time = Nanoseconds(time);
    event.profile = ProfileId{static_cast<std::uint32_t>(recording.profiles.size() - 1)};
    event.kind = EventKind::yield;
    thread.events.push_back(event);
  }
  Event end;
  end.time = Nanoseconds(time);
  end.kind = EventKind::thread_end;
  thread.events.push_back(end);
  recording.threads = {thread};
  return recording;
}

TEST_F(OpenTest, TheHandshakeSaysWhoIsThere) {
  const v1::GetServerInfoResponse info = client.info();
  EXPECT_EQ(info.protocol(), daemon.ready().at("protocol"));
  EXPECT_EQ(info.version(), daemon.ready().at("version").get<std::string>());
  EXPECT_EQ(info.commit(), daemon.ready().at("commit").get<std::string>());
  EXPECT_EQ(info.protocol(), 1U);
  EXPECT_GE(info.machine_cpus(), 1U);
}

TEST_F(OpenTest, AProgramFileHasThePapersNumbers) {
  const v1::Recording recording = client.open(figure_4);
  EXPECT_EQ(recording.source(), "program");
  EXPECT_EQ(recording.threads(), 3U);
  EXPECT_EQ(recording.files_size(), 0);

  const v1::PredictResponse shared = client.predict(recording.handle(), {1, 2, 3, 2});
  ASSERT_EQ(shared.predictions_size(), 4);
  const double total_ms[] = {20, 12, 11, 12};
  for (int i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(shared.predictions(i).total_ns(), total_ms[i] * ms);
    EXPECT_DOUBLE_EQ(shared.predictions(i).speedup(), 20 / total_ms[i]);
    EXPECT_FALSE(shared.predictions(i).has_deadlock());
  }
  EXPECT_EQ(shared.predictions(1).cpus(), 2U);
  EXPECT_DOUBLE_EQ(client.predict(recording.handle(), {2}, "ideal").predictions(0).total_ns(),
                   11 * ms);

  const v1::GetFunctionsResponse functions = client.functions(recording.handle(), {2, 1});
  EXPECT_THAT(functions.total_ns(), ::testing::ElementsAre(12 * ms, 20 * ms));
  const std::map<std::string, double> two = {{"a", 1.5}, {"b", 4},   {"c", 0},
                                             {"d", 0},   {"e", 0.5}, {"f", 3},
                                             {"g", 1.5}, {"h", 1},   {"i", 0.5}};
  const std::map<std::string, double> one = {{"a", 2}, {"b", 4}, {"c", 2}, {"d", 4}, {"e", 1},
                                             {"f", 3}, {"g", 2}, {"h", 1}, {"i", 1}};
  EXPECT_EQ(critical_self_ms(functions, 0), two);
  EXPECT_EQ(critical_self_ms(functions, 1), one);
  EXPECT_EQ(functions.functions(0).name(), "b") << "heaviest at the first count first";
  EXPECT_DOUBLE_EQ(functions.functions(0).self_ns(), 4 * ms);
}

TEST_F(OpenTest, ARecordingFileGivesTheSameAnswersAsItsProgram) {
  const auto program = storage::load_recording(figure_4);
  ASSERT_TRUE(program) << program.error().text();
  const auto binary = directory.path() / "figure-4.lptrace";
  ASSERT_TRUE(storage::save_recording(*program, binary));
  const auto from_program = client.open(figure_4);
  const auto from_binary = client.open(binary);
  for (const std::uint32_t cpus : {1U, 2U, 3U, 64U}) {
    EXPECT_EQ(client.functions(from_program.handle(), {cpus}).SerializeAsString(),
              client.functions(from_binary.handle(), {cpus}).SerializeAsString());
  }
}

TEST_F(OpenTest, ATextRecordingIsSimulated) {
  const auto recording = client.open(directory.write("two.rec",
                                                     "0  P1 create P2\n"
                                                     "5  P1 join P2\n"
                                                     "9  P2 end\n"
                                                     "12 P1 end\n"));
  EXPECT_EQ(recording.source(), "text");
  EXPECT_EQ(recording.events(), 4U);
  const auto prediction = client.predict(recording.handle(), {1, 2});
  EXPECT_DOUBLE_EQ(prediction.predictions(0).total_ns(), 12 * ms);
  EXPECT_DOUBLE_EQ(prediction.predictions(1).total_ns(), 8 * ms);
}

TEST_F(OpenTest, TellsWhetherTheMachineThatRecordedPacksThreads) {
  EXPECT_EQ(client.open(directory.write("quiet.rec", "3 A end\n")).packed_use_ns(), 0);
  EXPECT_EQ(client.open(directory.write("packed.rec", "cost packed-use 700ms\n3 A end\n"))
                .packed_use_ns(),
            700'000'000);
}

TEST_F(OpenTest, AProgramThatStandsStillSaysWhoIsBlocked) {
  const auto recording =
      client.open(directory.write("deadlock.prog", "thread P\n  run f 5\n  wait S\n"));
  const auto prediction = client.predict(recording.handle(), {2}).predictions(0);
  ASSERT_TRUE(prediction.has_deadlock());
  EXPECT_EQ(prediction.deadlock().at_ns(), 5'000'000);
  EXPECT_THAT(prediction.deadlock().threads(), ::testing::ElementsAre("P"));
}

TEST_F(OpenTest, LinesComeByFileAndLine) {
  const auto path = directory.path() / "lines.lptrace";
  ASSERT_TRUE(storage::save_recording(recording_with_lines(), path));
  const v1::Recording recording = client.open(path);
  EXPECT_THAT(recording.command(), ::testing::ElementsAre("./program", "caf\uFFFD"));
  EXPECT_EQ(recording.exit_status(), 3);
  EXPECT_FALSE(recording.has_exit_signal());
  EXPECT_EQ(recording.source(), "kernel");
  EXPECT_EQ(recording.samples(), 8U);
  EXPECT_EQ(recording.sample_hz(), 305U);
  EXPECT_EQ(recording.notices(0).code(), "samples-lost");
  EXPECT_EQ(recording.notices(0).count(), 2U);
  ASSERT_EQ(recording.notices_size(), 2) << "and what speaks against numbers from so few samples";
  EXPECT_EQ(recording.notices(1).code(), "few-samples");
  EXPECT_THAT(recording.notices(1).text(), HasSubstr("from 8 samples alone, at 305 to a second"));

  ASSERT_EQ(recording.files_size(), 2) << "those of the user with lines to show";
  EXPECT_EQ(recording.files(0).path(), "/home/user/a.cc");
  EXPECT_EQ(recording.files(1).path(), "/home/user/z.cc");
  EXPECT_EQ(recording.files(1).sha256(), std::string(64, 'a'));
  EXPECT_THAT(recording.files(0).modules(), ::testing::ElementsAre("/home/user/program"));
  EXPECT_THAT(recording.files(1).modules(),
              ::testing::ElementsAre("/home/user/program", "/home/user/library.so"));

  const v1::GetLinesResponse lines = client.lines(recording.handle(), {1, 4}, "/home/user/z.cc");
  EXPECT_THAT(lines.total_ns(), ::testing::ElementsAre(5 * ms, 5 * ms));
  ASSERT_EQ(lines.lines_size(), 2);
  EXPECT_EQ(lines.lines(0).line(), 10U);
  EXPECT_EQ(lines.lines(0).function(), "work");
  EXPECT_DOUBLE_EQ(lines.lines(0).self_ns(), 2 * ms);
  EXPECT_THAT(lines.lines(0).critical_ns(), ::testing::ElementsAre(2 * ms, 2 * ms));
  EXPECT_EQ(lines.lines(1).line(), 20U);
  EXPECT_DOUBLE_EQ(lines.lines(1).self_ns(), 1 * ms);
  ASSERT_EQ(lines.lines(0).margin_ns_size(), 2) << "how far two samples a stretch may be off";
  EXPECT_GT(lines.lines(0).margin_ns(0), 0);
  EXPECT_GT(client.functions(recording.handle(), {1}).functions(0).at(0).margin_ns(), 0);

  const v1::GetLinesResponse all = client.lines(recording.handle(), {1});
  double sum = 0;
  for (const v1::Line& line : all.lines())
    sum += line.critical_ns(0);
  EXPECT_DOUBLE_EQ(sum, 5 * ms) << "shares add up to the whole";
  EXPECT_TRUE(
      std::is_sorted(all.lines().begin(), all.lines().end(), [](const auto& a, const auto& b) {
        return std::pair(a.file(), a.line()) < std::pair(b.file(), b.line());
      }));

  const v1::GetFunctionsResponse functions = client.functions(recording.handle(), {1});
  ASSERT_GE(functions.functions_size(), 2);
  EXPECT_EQ(functions.functions(0).name(), "work");
  EXPECT_EQ(functions.functions(0).file(), "/home/user/z.cc");
  EXPECT_EQ(functions.functions(0).line(), 5U);
  EXPECT_EQ(functions.functions(0).last_line(), 30U);
  EXPECT_EQ(functions.functions(0).module(), "/home/user/program");

  const grpc::Status other = client.try_lines(recording.handle(), {1}, "/home/user/unused.h");
  EXPECT_EQ(other.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(other.error_message(), HasSubstr("/home/user/unused.h"));
}

TEST_F(OpenTest, ARecordingOpenedTwiceHasTwoHandles) {
  const auto& path = figure_4;
  const auto first = client.open(path);
  const auto second = client.open(path);
  EXPECT_NE(first.handle(), second.handle());
  client.close(first.handle());
  EXPECT_EQ(client.try_predict(first.handle(), {1}).error_code(), StatusCode::NOT_FOUND);
  EXPECT_DOUBLE_EQ(client.predict(second.handle(), {2}).predictions(0).total_ns(), 12 * ms);
  const auto third = client.open(path);
  EXPECT_NE(third.handle(), first.handle()) << "a handle is never used again";
  EXPECT_EQ(client.try_close(first.handle()).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(OpenTest, AFileThatChangedIsReadAnew) {
  const auto path = directory.write("changing.prog", "thread T\n  run f 5\n");
  const auto before = client.open(path);
  directory.write("changing.prog", "thread T\n  run f 71\n");
  const auto after = client.open(path);
  EXPECT_DOUBLE_EQ(client.predict(before.handle(), {1}).predictions(0).total_ns(), 5 * ms);
  EXPECT_DOUBLE_EQ(client.predict(after.handle(), {1}).predictions(0).total_ns(), 71 * ms);
}

TEST_F(OpenTest, WhatCannotBeOpenedIsRefusedWithAReason) {
  const auto missing = directory.path() / "missing.lptrace";
  grpc::Status status = client.try_open(missing);
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("missing.lptrace"));

  status = client.try_open(directory.path());
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);

  status = client.try_open(directory.write("wrong.prog", "thread T\n  rum f 5\n"));
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), AllOf(HasSubstr("line 2"), HasSubstr("column 3")));

  const auto whole = directory.path() / "whole.lptrace";
  ASSERT_TRUE(storage::save_recording(recording_with_lines(), whole));
  std::ifstream file(whole, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  status = client.try_open(directory.write("damaged.lptrace", bytes.substr(0, bytes.size() / 2)));
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("damaged.lptrace"));

  EXPECT_EQ(client.try_open("").error_code(), StatusCode::NOT_FOUND);
}

TEST_F(OpenTest, CpuListsHaveNamedLimits) {
  const std::uint64_t handle = client.open(figure_4).handle();
  const auto all = [&](const std::vector<std::uint32_t>& cpus) {
    return std::vector<grpc::Status>{client.try_predict(handle, cpus),
                                     client.try_functions(handle, cpus),
                                     client.try_lines(handle, cpus)};
  };
  for (const grpc::Status& status : all({1, 0}))
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  for (const grpc::Status& status : all({}))
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  for (const grpc::Status& status : all({0xffffffffU})) {
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr("max_cpus"));
  }
  for (const grpc::Status& status : all(std::vector<std::uint32_t>(65, 2))) {
    EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_THAT(status.error_message(), HasSubstr("max_cpu_counts"));
  }
  for (const grpc::Status& status : all(std::vector<std::uint32_t>(64, 65536)))
    EXPECT_TRUE(status.ok()) << status.error_message();
  const grpc::Status scheduler = client.try_predict(handle, {1}, "quickest");
  EXPECT_EQ(scheduler.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(scheduler.error_message(), HasSubstr("quickest"));
}

// The thesis, Paper VIII, Table 1.
TEST_F(OpenTest, APredictionIsOfTheMachineAndModelAskedFor) {
  v1::PredictRequest request;
  request.set_handle(client.open(LONGPOLE_GOLDEN "/model-p.rec").handle());
  request.add_cpus(2);
  request.set_scheduler("fifo");
  for (const auto& [thread, cpu] :
       {std::pair("P1", 0U), std::pair("P2", 0U), std::pair("P3", 1U), std::pair("P4", 1U)}) {
    v1::ThreadSettings& settings = *request.mutable_machine()->add_threads();
    settings.set_thread(thread);
    settings.set_cpu(cpu);
  }
  const auto total_ms = [&](const std::string& model) {
    request.set_model(model);
    v1::PredictResponse response;
    EXPECT_TRUE(client.try_predict(request, response).ok()) << model;
    EXPECT_EQ(response.predictions(0).model(), model.empty() ? "direct" : model);
    return response.predictions(0).total_ns() / ms;
  };
  EXPECT_DOUBLE_EQ(total_ms(""), 10);
  EXPECT_DOUBLE_EQ(total_ms("client-server"), 11);
  EXPECT_DOUBLE_EQ(total_ms("strict"), 12);
  request.mutable_machine()->add_speeds(1);
  request.mutable_machine()->add_speeds(2);
  EXPECT_DOUBLE_EQ(total_ms("strict"), 10);  // P3 and P4 take half as long
}

TEST_F(OpenTest, AMachineSaysWhereItIsUnlikeThreadsThatShareTheCpusEvenly) {
  const auto unlike = [&](const std::string& wake_up, const std::string& scheduler, bool asked) {
    const auto file = directory.path() / ("ping-" + wake_up + ".rec");
    std::ofstream(file) << "cost wake-up " << wake_up
                        << "\n1 A post S\n1 A wait T\n2 B wait S\n3 B post T\n3 B end\n5 A end\n";
    v1::PredictRequest request;
    request.set_handle(client.open(file).handle());
    for (const std::uint32_t cpus : {1U, 3U})
      request.add_cpus(cpus);
    request.set_scheduler(scheduler);
    request.set_beside_shared(asked);
    v1::PredictResponse response;
    EXPECT_TRUE(client.try_predict(request, response).ok());
    return std::pair(response.predictions(0).unlike_shared(),
                     response.predictions(1).unlike_shared());
  };
  // 5 ms on one CPU; on three 4 ms where wake-ups take nothing, here 6.
  EXPECT_EQ(unlike("2ms", "linux", true), std::pair(false, true)) << "one CPU is one CPU";
  EXPECT_EQ(unlike("2ms", "linux", false), std::pair(false, false)) << "nobody asked";
  EXPECT_EQ(unlike("2ms", "shared", true), std::pair(false, false));
  EXPECT_EQ(unlike("10us", "linux", true), std::pair(false, false)) << "nearly the same";
}

TEST_F(OpenTest, APredictionSaysBetweenWhichSpeedUpsTheRealOneIsToBeExpected) {
  // Half of the CPU time went into recording, and a third of that may be left in.
  Recording recorded = *storage::load_recording(figure_4);
  recorded.run.source = Source::kernel;
  recorded.run.cpu_time = std::chrono::milliseconds(20);
  recorded.run.cost_per_event =
      Nanoseconds{10'000'000 / static_cast<std::int64_t>(recorded.event_count())};
  const auto path = directory.path() / "costly.lptrace";
  ASSERT_TRUE(storage::save_recording(recorded, path));
  v1::PredictRequest request;
  request.set_handle(client.open(path).handle());
  request.add_cpus(1);
  request.add_cpus(2);
  v1::PredictResponse response;
  ASSERT_TRUE(client.try_predict(request, response).ok());
  EXPECT_FALSE(response.predictions(1).has_least_speedup()) << "nobody asked";
  request.set_with_interval(true);
  ASSERT_TRUE(client.try_predict(request, response).ok());
  EXPECT_FALSE(response.predictions(0).has_least_speedup()) << "one CPU is one CPU";
  const v1::Prediction& two = response.predictions(1);
  EXPECT_NEAR(two.least_speedup(), two.speedup() * 5 / 6, 0.01);
  EXPECT_NEAR(two.most_speedup(), two.speedup() * 7 / 6, 0.01);

  request.set_handle(client.open(figure_4).handle());
  ASSERT_TRUE(client.try_predict(request, response).ok());
  EXPECT_FALSE(response.predictions(1).has_least_speedup()) << "nothing was measured";
}

TEST_F(OpenTest, AMachineOrModelThatThereIsNotIsRefused) {
  v1::PredictRequest good;
  good.set_handle(client.open(LONGPOLE_GOLDEN "/model-p.rec").handle());
  good.add_cpus(2);
  good.set_scheduler("linux");
  const auto refusal = [&](const auto& spoil) {
    v1::PredictRequest request = good;
    spoil(request);
    v1::PredictResponse response;
    return client.try_predict(request, response);
  };
  const std::pair<grpc::Status, StatusCode> refusals[] = {
      {refusal([](auto& r) { r.set_model("best"); }), StatusCode::INVALID_ARGUMENT},
      {refusal([](auto& r) { r.add_object_models()->set_model("auto"); }),
       StatusCode::INVALID_ARGUMENT},
      {refusal([](auto& r) { r.add_object_models()->set_model("strict"); }), StatusCode::NOT_FOUND},
      {refusal([](auto& r) { r.mutable_machine()->add_speeds(1); }), StatusCode::INVALID_ARGUMENT},
      {refusal([](auto& r) {
         r.mutable_machine()->add_speeds(1);
         r.mutable_machine()->add_speeds(std::nan(""));
       }),
       StatusCode::INVALID_ARGUMENT},
      {refusal([](auto& r) { r.mutable_machine()->set_latency_ns(-1); }),
       StatusCode::INVALID_ARGUMENT},
      {refusal([](auto& r) { r.mutable_machine()->add_threads()->set_thread("P9"); }),
       StatusCode::NOT_FOUND},
      {refusal([](auto& r) {
         r.mutable_machine()->add_threads()->set_thread("P1");
         r.mutable_machine()->mutable_threads(0)->set_cpu(2);
       }),
       StatusCode::INVALID_ARGUMENT},
      {refusal([](auto& r) {
         r.set_scheduler("shared");
         r.mutable_machine()->set_latency_ns(1);
       }),
       StatusCode::INVALID_ARGUMENT},
      {refusal([](auto& r) { r.set_cpus(0, 5000); }), StatusCode::INVALID_ARGUMENT},
  };
  for (const auto& [status, code] : refusals)
    EXPECT_EQ(status.error_code(), code) << status.error_message();
}

TEST_F(OpenTest, ThereIsALimitToOpenRecordings) {
  const auto& path = figure_4;
  std::uint64_t last = 0;
  for (int i = 0; i < 256; ++i)
    last = client.open(path).handle();
  const grpc::Status status = client.try_open(path);
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("max_open_recordings"));
  client.close(last);
  EXPECT_TRUE(client.try_open(path).ok());
}

}  // namespace
}  // namespace longpole::testing
