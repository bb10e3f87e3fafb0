#include "client.h"

#include <gtest/gtest.h>

#include <chrono>

namespace longpole::testing {
namespace {

using v1::RecordResponse;

// One unary call with a deadline.
template <typename Request, typename Response, typename Method>
grpc::Status call(v1::Longpole::Stub& stub, Method method, const Request& request,
                  Response& response) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + patience);
  return (stub.*method)(&context, request, &response);
}

void expect_ok(const grpc::Status& status) {
  EXPECT_TRUE(status.ok()) << status.error_code() << ": " << status.error_message();
}

template <typename Request>
Request with_cpus(std::uint64_t handle, const std::vector<std::uint32_t>& cpus) {
  Request request;
  request.set_handle(handle);
  request.mutable_cpus()->Add(cpus.begin(), cpus.end());
  return request;
}

}  // namespace

Client::Client(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  // Tests must not share connections.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  std::string address = "unix:";
  for (const char c : socket)
    address += c == '%' ? "%25" : c == ' ' ? "%20" : std::string(1, c);
  channel_ = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  stub_ = v1::Longpole::NewStub(channel_);
}

v1::GetServerInfoResponse Client::info() const {
  v1::GetServerInfoResponse response;
  expect_ok(call(*stub_, &v1::Longpole::Stub::GetServerInfo, v1::GetServerInfoRequest(), response));
  return response;
}

v1::Recording Client::open(const std::filesystem::path& path) const {
  v1::OpenRecordingRequest request;
  request.set_path(path.string());
  v1::OpenRecordingResponse response;
  expect_ok(call(*stub_, &v1::Longpole::Stub::OpenRecording, request, response));
  return response.recording();
}

v1::PredictResponse Client::predict(std::uint64_t handle, const std::vector<std::uint32_t>& cpus,
                                    const std::string& scheduler) const {
  auto request = with_cpus<v1::PredictRequest>(handle, cpus);
  request.set_scheduler(scheduler);
  v1::PredictResponse response;
  expect_ok(call(*stub_, &v1::Longpole::Stub::Predict, request, response));
  return response;
}

v1::GetFunctionsResponse Client::functions(std::uint64_t handle,
                                           const std::vector<std::uint32_t>& cpus) const {
  v1::GetFunctionsResponse response;
  expect_ok(call(*stub_, &v1::Longpole::Stub::GetFunctions,
                 with_cpus<v1::GetFunctionsRequest>(handle, cpus), response));
  return response;
}

v1::GetLinesResponse Client::lines(std::uint64_t handle, const std::vector<std::uint32_t>& cpus,
                                   const std::string& file) const {
  auto request = with_cpus<v1::GetLinesRequest>(handle, cpus);
  request.set_file(file);
  v1::GetLinesResponse response;
  expect_ok(call(*stub_, &v1::Longpole::Stub::GetLines, request, response));
  return response;
}

void Client::close(std::uint64_t handle) const {
  expect_ok(try_close(handle));
}

grpc::Status Client::try_open(const std::filesystem::path& path) const {
  v1::OpenRecordingRequest request;
  request.set_path(path.string());
  v1::OpenRecordingResponse response;
  return call(*stub_, &v1::Longpole::Stub::OpenRecording, request, response);
}

grpc::Status Client::try_close(std::uint64_t handle) const {
  v1::CloseRecordingRequest request;
  request.set_handle(handle);
  v1::CloseRecordingResponse response;
  return call(*stub_, &v1::Longpole::Stub::CloseRecording, request, response);
}

grpc::Status Client::try_predict(const v1::PredictRequest& request,
                                 v1::PredictResponse& response) const {
  return call(*stub_, &v1::Longpole::Stub::Predict, request, response);
}

grpc::Status Client::try_predict(std::uint64_t handle, const std::vector<std::uint32_t>& cpus,
                                 const std::string& scheduler) const {
  auto request = with_cpus<v1::PredictRequest>(handle, cpus);
  request.set_scheduler(scheduler);
  v1::PredictResponse response;
  return call(*stub_, &v1::Longpole::Stub::Predict, request, response);
}

grpc::Status Client::try_functions(std::uint64_t handle,
                                   const std::vector<std::uint32_t>& cpus) const {
  v1::GetFunctionsResponse response;
  return call(*stub_, &v1::Longpole::Stub::GetFunctions,
              with_cpus<v1::GetFunctionsRequest>(handle, cpus), response);
}

grpc::Status Client::try_lines(std::uint64_t handle, const std::vector<std::uint32_t>& cpus,
                               const std::string& file) const {
  auto request = with_cpus<v1::GetLinesRequest>(handle, cpus);
  request.set_file(file);
  v1::GetLinesResponse response;
  return call(*stub_, &v1::Longpole::Stub::GetLines, request, response);
}

grpc::Status Client::stop(std::uint64_t run) const {
  v1::StopRecordingRequest request;
  request.set_run(run);
  v1::StopRecordingResponse response;
  return call(*stub_, &v1::Longpole::Stub::StopRecording, request, response);
}

RecordConversation::RecordConversation(const Client& client, const v1::RecordRequest& request)
    : reader_(client.stub().Record(&context_, request)), thread_([this] { read(); }) {}

RecordConversation::~RecordConversation() {
  cancel();
  thread_.join();
}

void RecordConversation::read() {
  RecordResponse message;
  while (reader_->Read(&message)) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
    changed_.notify_all();
  }
  const grpc::Status status = reader_->Finish();
  const std::lock_guard lock(mutex_);
  status_ = status;
  ended_ = true;
  changed_.notify_all();
}

RecordResponse RecordConversation::take(RecordResponse::EventCase kind) {
  std::unique_lock lock(mutex_);
  std::size_t& next = taken_[kind];
  const auto find = [&] {
    while (next < messages_.size() && messages_[next].event_case() != kind)
      ++next;
    return next < messages_.size();
  };
  if (!changed_.wait_for(lock, patience, [&] { return find() || ended_; }) || !find()) {
    ADD_FAILURE() << "no message of kind " << kind << "; status: " << status_.error_message();
    return {};
  }
  return messages_[next++];
}

void RecordConversation::await_output(const std::string& text) {
  std::unique_lock lock(mutex_);
  const auto there = [&] {
    std::string output;
    for (const RecordResponse& message : messages_) {
      if (message.output().stream() == v1::ProgramOutput::STREAM_STDOUT)
        output += message.output().data();
    }
    return output.find(text) != std::string::npos;
  };
  changed_.wait_for(lock, patience, [&] { return there() || ended_; });
  EXPECT_TRUE(there()) << "the program has not printed " << text << "; " << status_.error_message();
}

grpc::Status RecordConversation::sync() {
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, patience, [&] { return ended_; })) << "no end of the stream";
  return status_;
}

std::vector<RecordResponse> RecordConversation::messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

std::string RecordConversation::output(v1::ProgramOutput::Stream stream) const {
  std::string output;
  for (const RecordResponse& message : messages()) {
    if (message.has_output() && message.output().stream() == stream)
      output += message.output().data();
  }
  return output;
}

std::vector<v1::RecordProgress::Phase> RecordConversation::phases() const {
  std::vector<v1::RecordProgress::Phase> phases;
  for (const RecordResponse& message : messages()) {
    if (message.has_progress() && (phases.empty() || phases.back() != message.progress().phase()))
      phases.push_back(message.progress().phase());
  }
  return phases;
}

std::vector<v1::RecordResult> RecordConversation::results() const {
  std::vector<v1::RecordResult> results;
  for (const RecordResponse& message : messages()) {
    if (message.has_result())
      results.push_back(message.result());
  }
  return results;
}

}  // namespace longpole::testing
