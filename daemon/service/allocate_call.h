// One Allocate call: an inquiry on a thread of its own, whose progress and result become messages. gRPC
// writes one message at a time; progress that comes meanwhile replaces what was not written yet. A
// client that goes away, or the end of the daemon, ends the search.
//
// Lives until gRPC is done with the call and the search is over.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "allocation/recommendation.h"
#include "longpole/v1/allocation.pb.h"
#include "service/open_recording.h"

namespace longpole::service {

// The threads that search, at most max_searches (limits.h). Its end waits for them, once the calls are
// cancelled.
class Searches {
 public:
  Searches();
  // False: as many are under way as there may be.
  [[nodiscard]] bool begin();
  void end() { --under_way_; }
  [[nodiscard]] boost::asio::thread_pool& threads() { return threads_; }

 private:
  std::atomic<std::size_t> under_way_ = 0;
  boost::asio::thread_pool threads_;
};

class AllocateCall final : public grpc::ServerWriteReactor<v1::AllocateResponse> {
 public:
  [[nodiscard]] static grpc::ServerWriteReactor<v1::AllocateResponse>* begin(
      Searches& searches, Expected<std::shared_ptr<OpenRecording>> opened,
      const v1::AllocateRequest& request);

  void OnWriteDone(bool ok) override;
  void OnCancel() override { stop_.request_stop(); }
  void OnDone() override { self_.reset(); }

 private:
  AllocateCall() = default;
  [[nodiscard]] Expected<void> search(const OpenRecording& opened,
                                      const v1::AllocateRequest& request);
  void progress(const allocation::Standing& standing, const Recording& recording);
  void end(const grpc::Status& status);
  void pump();

  std::shared_ptr<AllocateCall> self_;  // until OnDone
  std::stop_source stop_;

  // Of the thread that searches.
  std::chrono::steady_clock::time_point sent_;
  allocation::Binding sent_binding_;

  std::mutex mutex_;  // guards what follows; not held while gRPC is called
  std::optional<v1::AllocateResponse> waiting_;
  v1::AllocateResponse writing_;  // gRPC reads it until OnWriteDone
  bool write_in_flight_ = false;
  std::optional<grpc::Status> status_;  // how the call ends once everything is written
  bool ended_ = false;
};

}  // namespace longpole::service
