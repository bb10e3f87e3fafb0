// Recording a program through the daemon: what is streamed, how it is stopped, what is kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "client.h"
#include "daemon.h"

namespace longpole::testing {
namespace {

namespace fs = std::filesystem;
using grpc::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using v1::ProgramOutput;
using v1::RecordProgress;
using v1::RecordResponse;

class RecordTest : public ::testing::Test {
 protected:
  [[nodiscard]] v1::RecordRequest request(const std::vector<std::string>& arguments) const {
    v1::RecordRequest request;
    request.set_program(SPECIMEN);
    request.mutable_arguments()->Add(arguments.begin(), arguments.end());
    request.set_directory(directory.path().string());
    return request;
  }

  // The program's process is gone.
  static void expect_gone(std::int64_t pid) {
    EXPECT_TRUE(eventually([&] { return ::kill(static_cast<pid_t>(pid), 0) != 0; })) << pid;
  }

  // The stream's last message is its only result; the file of that name opens and says the same.
  v1::RecordResult expect_one_result(RecordConversation& conversation) {
    const grpc::Status status = conversation.sync();
    EXPECT_TRUE(status.ok()) << status.error_message();
    const auto results = conversation.results();
    if (results.size() != 1 || !conversation.messages().back().has_result()) {
      ADD_FAILURE() << results.size() << " results";
      return {};
    }
    EXPECT_GT(results[0].recording().events(), 0U);
    const v1::Recording opened = client.open(results[0].path());
    EXPECT_EQ(opened.events(), results[0].recording().events());
    EXPECT_NE(opened.handle(), results[0].recording().handle());
    return results[0];
  }

  TemporaryDirectory directory;
  Daemon daemon;
  Client client{daemon};
};

TEST_F(RecordTest, StreamsOutputPhasesAndOneResult) {
  RecordConversation conversation(client, request({"work"}));
  const v1::RecordResult result = expect_one_result(conversation);

  std::string bytes;
  for (int i = 0; i < 256 * 100; ++i)
    bytes += static_cast<char>(i);
  EXPECT_EQ(conversation.output(ProgramOutput::STREAM_STDOUT), bytes);
  EXPECT_EQ(conversation.output(ProgramOutput::STREAM_STDERR),
            std::string(bytes.rbegin(), bytes.rend()));
  EXPECT_THAT(conversation.phases(),
              ElementsAre(RecordProgress::PHASE_STARTING, RecordProgress::PHASE_RUNNING,
                          RecordProgress::PHASE_MERGING, RecordProgress::PHASE_SYMBOLIZING,
                          RecordProgress::PHASE_ANALYSING));
  EXPECT_GT(conversation.take(RecordResponse::kStarted).started().pid(), 0);

  EXPECT_EQ(result.path(), (directory.path() / "service_specimen.lptrace").string());
  const v1::Recording& recording = result.recording();
  EXPECT_THAT(recording.command(), ElementsAre(SPECIMEN, "work"));
  EXPECT_EQ(recording.directory(), directory.path().string());
  EXPECT_EQ(recording.threads(), 3U);
  EXPECT_TRUE(recording.complete());
  EXPECT_EQ(recording.exit_status(), 7);
  EXPECT_GT(recording.cpu_time_ns(), 0);
  EXPECT_EQ(recording.machine_cpus(), client.info().machine_cpus());
}

TEST_F(RecordTest, TheResultAnswersForLinesAndFunctions) {
  v1::RecordRequest asked = request({"work"});
  asked.set_rate_hz(1000);  // by itself, where samples are dear, it has one or none in these 20 ms
  RecordConversation conversation(client, asked);
  const v1::Recording recording = expect_one_result(conversation).recording();
  const auto source = std::find_if(recording.files().begin(), recording.files().end(), [](auto& f) {
    return fs::path(f.path()).filename() == "specimen.cc";
  });
  ASSERT_NE(source, recording.files().end());
  EXPECT_EQ(source->sha256().size(), 64U);
  const v1::GetLinesResponse lines = client.lines(recording.handle(), {1, 8}, source->path());
  ASSERT_GT(lines.lines_size(), 0);
  double in_compute = 0;
  for (const v1::Line& line : lines.lines()) {
    if (line.function().find("compute") != std::string::npos)
      in_compute += line.critical_ns(1);
  }
  EXPECT_GT(in_compute, 0.5 * lines.total_ns(1)) << "it holds the lock all the time";
}

TEST_F(RecordTest, TheProgramRunsAsAsked) {
  v1::RecordRequest wanted = request({"look-around"});
  (*wanted.mutable_environment())["SPECIMEN_VARIABLE"] = "from the editor";
  wanted.set_output_path("chosen.lptrace");
  RecordConversation conversation(client, wanted);
  const v1::RecordResult result = expect_one_result(conversation);
  EXPECT_EQ(conversation.output(ProgramOutput::STREAM_STDOUT),
            "directory " + fs::canonical(directory.path()).string() +
                "\nvariable from the editor\ninput empty\nbroken pipes kill\n"
                "SigBlk:\t0000000000000000\n");
  EXPECT_EQ(result.path(), (directory.path() / "chosen.lptrace").string());
}

TEST_F(RecordTest, ANewFileEachTime) {
  for (const char* name : {"service_specimen.lptrace", "service_specimen-2.lptrace"}) {
    RecordConversation conversation(client, request({"work"}));
    EXPECT_EQ(expect_one_result(conversation).path(), (directory.path() / name).string());
  }
}

TEST_F(RecordTest, StopKeepsWhatWasRecorded) {
  RecordConversation conversation(client, request({"wait"}));
  const v1::RecordStarted started = conversation.take(RecordResponse::kStarted).started();
  conversation.await_output("waiting\n");
  EXPECT_TRUE(client.stop(started.run()).ok());
  const v1::RecordResult result = expect_one_result(conversation);
  EXPECT_FALSE(result.recording().complete());
  EXPECT_EQ(result.recording().threads(), 3U);
  expect_gone(started.pid());
  EXPECT_EQ(client.stop(started.run()).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(RecordTest, AProgramThatIgnoresTheRequestIsKilled) {
  RecordConversation conversation(client, request({"stubborn"}));
  const v1::RecordStarted started = conversation.take(RecordResponse::kStarted).started();
  conversation.await_output("waiting\n");
  EXPECT_TRUE(client.stop(started.run()).ok());
  EXPECT_FALSE(expect_one_result(conversation).recording().complete());
  expect_gone(started.pid());
}

TEST_F(RecordTest, AClientThatCancelsFindsTheFile) {
  const fs::path path = directory.path() / "cancelled.lptrace";
  v1::RecordRequest wanted = request({"wait"});
  wanted.set_output_path(path.string());
  std::int64_t pid = 0;
  {
    RecordConversation conversation(client, wanted);
    pid = conversation.take(RecordResponse::kStarted).started().pid();
    conversation.await_output("waiting\n");
    conversation.cancel();
    EXPECT_EQ(conversation.sync().error_code(), StatusCode::CANCELLED);
  }
  expect_gone(pid);
  ASSERT_TRUE(eventually([&] { return fs::exists(path); }));
  const v1::Recording recording = client.open(path);
  EXPECT_FALSE(recording.complete());
  EXPECT_EQ(recording.threads(), 3U);
}

TEST_F(RecordTest, AClientThatDiesFindsTheFile) {
  const fs::path path = directory.path() / "orphan.lptrace";
  std::string program = CLIENT_THAT_DIES;
  std::string socket = daemon.socket();
  std::string output = path.string();
  char* const arguments[] = {program.data(), socket.data(), output.data(), nullptr};
  pid_t pid = -1;
  ASSERT_EQ(::posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environ), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  ASSERT_TRUE(eventually([&] { return fs::exists(path); }));
  EXPECT_EQ(client.open(path).threads(), 3U);
}

TEST_F(RecordTest, WhatCannotBeRecordedIsRefused) {
  const auto refused = [&](const v1::RecordRequest& wanted) {
    RecordConversation conversation(client, wanted);
    grpc::Status status = conversation.sync();
    EXPECT_TRUE(conversation.results().empty());
    EXPECT_FALSE(status.ok());
    return status;
  };
  v1::RecordRequest wanted = request({});
  wanted.set_program("/nowhere/to-be-found");
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(refused(wanted).error_message(), HasSubstr("/nowhere/to-be-found"));

  wanted.set_program("");
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::INVALID_ARGUMENT);
  wanted.set_program(directory.path().string());
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::INVALID_ARGUMENT);
  wanted.set_program(directory.write("text.txt", "hello").string());
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::INVALID_ARGUMENT);

  wanted = request({"work"});
  wanted.set_directory("/nowhere");
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::NOT_FOUND);
  wanted = request({"work"});
  wanted.set_output_path("/nowhere/x.lptrace");
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::NOT_FOUND);
  wanted = request({"work"});
  wanted.set_output_path(directory.path().string());
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::INVALID_ARGUMENT);
  wanted = request({std::string("wo\0rk", 5)});
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::INVALID_ARGUMENT);
  wanted = request({"work"});
  (*wanted.mutable_environment())["A=B"] = "c";
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::INVALID_ARGUMENT);
  wanted = request({"work"});
  wanted.set_rate_hz(0xffffffffU);
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::INVALID_ARGUMENT);
  wanted = request({"work"});
  wanted.set_as_cpus(0xffffffffU);
  EXPECT_EQ(refused(wanted).error_code(), StatusCode::INVALID_ARGUMENT);

  for (const auto& entry : fs::directory_iterator(directory.path()))
    EXPECT_EQ(entry.path().filename(), "text.txt") << "nothing is left behind";
}

TEST_F(RecordTest, TwoAtOnce) {
  RecordConversation waiting(client, request({"wait"}));
  const v1::RecordStarted started = waiting.take(RecordResponse::kStarted).started();
  waiting.await_output("waiting\n");
  RecordConversation working(client, request({"work"}));
  const v1::RecordResult first = expect_one_result(working);
  EXPECT_TRUE(client.stop(started.run()).ok());
  const v1::RecordResult second = expect_one_result(waiting);
  EXPECT_NE(first.recording().handle(), second.recording().handle());
  EXPECT_NE(first.path(), second.path());
  EXPECT_EQ(first.recording().exit_status(), 7);
}

TEST_F(RecordTest, ThereIsALimitToRunningPrograms) {
  std::vector<std::unique_ptr<RecordConversation>> conversations;
  for (int i = 0; i < 16; ++i) {
    conversations.push_back(std::make_unique<RecordConversation>(client, request({"wait"})));
    static_cast<void>(conversations.back()->take(RecordResponse::kStarted));
  }
  RecordConversation refused(client, request({"work"}));
  const grpc::Status status = refused.sync();
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("max_running_programs"));
}

// Bytes that a process has written to files and pipes; more than any when it is gone.
std::size_t bytes_written(std::int64_t pid) {
  std::ifstream counts("/proc/" + std::to_string(pid) + "/io");
  for (std::string line; std::getline(counts, line);) {
    if (line.starts_with("wchar:"))
      return std::stoul(line.substr(6));
  }
  return std::numeric_limits<std::size_t>::max();
}

TEST_F(RecordTest, AProgramWaitsForAClientThatDoesNotRead) {
  constexpr std::size_t megabytes = 300;
  grpc::ClientContext context;
  const auto reader = client.stub().Record(&context, request({"flood", std::to_string(megabytes)}));
  RecordResponse message;
  std::int64_t pid = 0;
  while (!message.has_output()) {
    ASSERT_TRUE(reader->Read(&message));
    if (message.has_started())
      pid = message.started().pid();
  }
  std::size_t written = std::numeric_limits<std::size_t>::max();
  ASSERT_TRUE(eventually([&] {  // it stands still
    const std::size_t before = std::exchange(written, bytes_written(pid));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return written == before;
  }));
  EXPECT_LT(written, (megabytes << 20U) / 4);

  std::size_t bytes = message.output().data().size();
  while (reader->Read(&message))
    bytes += message.output().data().size();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(bytes, megabytes << 20U);
}

TEST_F(RecordTest, ADaemonThatEndsKeepsWhatWasRecorded) {
  RecordConversation conversation(client, request({"wait"}));
  const std::int64_t pid = conversation.take(RecordResponse::kStarted).started().pid();
  conversation.await_output("waiting\n");
  daemon.close_stdin();
  EXPECT_TRUE(conversation.sync().ok());
  ASSERT_EQ(conversation.results().size(), 1U);
  EXPECT_EQ(daemon.exit_status(), 0);
  expect_gone(pid);
  Daemon next;
  EXPECT_EQ(Client(next).open(conversation.results()[0].path()).threads(), 3U);
}

}  // namespace
}  // namespace longpole::testing
