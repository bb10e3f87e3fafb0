// One Record call: turns what happens to a run into messages, and a client that goes away into the
// end of the run. gRPC writes one message at a time, so messages wait in a queue; output that the
// client does not take is held back at the program (limits.h).
//
// Lives until gRPC is done with the call and the run with its listener.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "longpole/v1/recording.pb.h"
#include "service/runs.h"

namespace longpole::service {

// Counts the calls that gRPC or a run still works on.
class LiveCalls {
 public:
  void begin();
  void end();
  // Waits until there is none, at most so long.
  void wait(std::chrono::milliseconds patience);

 private:
  std::mutex mutex_;
  std::condition_variable none_left_;
  std::size_t count_ = 0;
};

class RecordCall final : public grpc::ServerWriteReactor<v1::RecordResponse>, public RunListener {
 public:
  [[nodiscard]] static grpc::ServerWriteReactor<v1::RecordResponse>* begin(
      Runs& runs, Recordings& recordings, LiveCalls& calls, const v1::RecordRequest& request);

  ~RecordCall() override;

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  void started(pid_t pid) override;
  void output(recording::Stream from, std::string_view bytes) override;
  bool holds_output() override;
  void progress(const recording::Progress& progress) override;
  void analysing(std::uint64_t events) override;
  void finished(Expected<RunResult> result) override;

 private:
  RecordCall(Runs& runs, Recordings& recordings, LiveCalls& calls);
  void enqueue(v1::RecordResponse message);
  void enqueue_phase(v1::RecordProgress::Phase phase, std::uint64_t events);
  void end(const grpc::Status& status);
  void pump();

  Runs& runs_;
  Recordings& recordings_;
  LiveCalls& calls_;
  const RunId run_;
  std::shared_ptr<RecordCall> self_;  // until OnDone

  std::mutex mutex_;  // guards what follows; not held while gRPC or runs_ is called
  std::deque<v1::RecordResponse> waiting_;
  std::size_t waiting_output_bytes_ = 0;
  bool output_held_ = false;
  v1::RecordResponse writing_;  // gRPC reads it until OnWriteDone
  bool write_in_flight_ = false;
  std::optional<grpc::Status> status_;  // how the call ends once everything is written
  bool ended_ = false;
  std::uint64_t handle_ = 0;  // of the result, which nobody would close if the client missed it
  bool delivered_ = false;
};

}  // namespace longpole::service
