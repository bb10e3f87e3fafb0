// A small fake editor: calls the daemon over its socket.
//
//   Client client(daemon);
//   const v1::Recording recording = client.open(path);
//   RecordConversation conversation(client, request);
//   conversation.take(RecordResponse::kStarted);       // the next of that kind, others are kept
//   conversation.sync();                               // until the stream has ended
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon.h"
#include "longpole/v1/longpole.grpc.pb.h"

namespace longpole::testing {

inline constexpr double ms = 1e6;  // nanoseconds

class Client {
 public:
  explicit Client(const std::string& socket);
  explicit Client(const Daemon& daemon) : Client(daemon.socket()) {}

  [[nodiscard]] v1::Longpole::Stub& stub() const { return *stub_; }
  [[nodiscard]] const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // Answers; a status that is not OK fails the test.
  [[nodiscard]] v1::GetServerInfoResponse info() const;
  [[nodiscard]] v1::Recording open(const std::filesystem::path& path) const;
  [[nodiscard]] v1::PredictResponse predict(std::uint64_t handle,
                                            const std::vector<std::uint32_t>& cpus,
                                            const std::string& scheduler = "") const;
  [[nodiscard]] v1::GetFunctionsResponse functions(std::uint64_t handle,
                                                   const std::vector<std::uint32_t>& cpus) const;
  [[nodiscard]] v1::GetLinesResponse lines(std::uint64_t handle,
                                           const std::vector<std::uint32_t>& cpus,
                                           const std::string& file = "") const;
  void close(std::uint64_t handle) const;

  // Statuses, of calls that may fail.
  [[nodiscard]] grpc::Status try_open(const std::filesystem::path& path) const;
  [[nodiscard]] grpc::Status try_close(std::uint64_t handle) const;
  // For what the other has no parameters for.
  [[nodiscard]] grpc::Status try_predict(const v1::PredictRequest& request,
                                         v1::PredictResponse& response) const;
  [[nodiscard]] grpc::Status try_predict(std::uint64_t handle,
                                         const std::vector<std::uint32_t>& cpus,
                                         const std::string& scheduler = "") const;
  [[nodiscard]] grpc::Status try_functions(std::uint64_t handle,
                                           const std::vector<std::uint32_t>& cpus) const;
  [[nodiscard]] grpc::Status try_lines(std::uint64_t handle, const std::vector<std::uint32_t>& cpus,
                                       const std::string& file = "") const;
  [[nodiscard]] grpc::Status stop(std::uint64_t run) const;

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Longpole::Stub> stub_;
};

class RecordConversation {
 public:
  RecordConversation(const Client& client, const v1::RecordRequest& request);
  ~RecordConversation();
  RecordConversation(const RecordConversation&) = delete;
  RecordConversation& operator=(const RecordConversation&) = delete;

  // The next message of this kind that was not taken yet. Fails the test, with an empty message, when the stream ends or
  // patience does.
  [[nodiscard]] v1::RecordResponse take(v1::RecordResponse::EventCase kind);
  // Until the program has written `text` to standard output.
  void await_output(const std::string& text);
  // Until the stream has ended; its status.
  [[nodiscard]] grpc::Status sync();
  void cancel() { context_.TryCancel(); }

  // All that came, taken or not.
  [[nodiscard]] std::vector<v1::RecordResponse> messages() const;
  [[nodiscard]] std::string output(v1::ProgramOutput::Stream stream) const;
  [[nodiscard]] std::vector<v1::RecordProgress::Phase> phases() const;  // without repetitions
  [[nodiscard]] std::vector<v1::RecordResult> results() const;

 private:
  void read();

  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::RecordResponse>> reader_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<v1::RecordResponse> messages_;
  std::map<v1::RecordResponse::EventCase, std::size_t> taken_;
  bool ended_ = false;
  grpc::Status status_;
  std::thread thread_;
};

}  // namespace longpole::testing
