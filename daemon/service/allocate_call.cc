#include "service/allocate_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <thread>
#include <utility>

#include "service/allocation_messages.h"
#include "service/answer.h"
#include "service/limits.h"

namespace longpole::service {
namespace {

constexpr auto between_messages = std::chrono::milliseconds(100);

}  // namespace

Searches::Searches() : threads_(max_searches) {}

bool Searches::begin() {
  if (++under_way_ <= max_searches)
    return true;
  --under_way_;
  return false;
}

grpc::ServerWriteReactor<v1::AllocateResponse>* AllocateCall::begin(
    Searches& searches, Expected<std::shared_ptr<OpenRecording>> opened,
    const v1::AllocateRequest& request) {
  const std::shared_ptr<AllocateCall> call(new AllocateCall);
  call->self_ = call;
  if (!opened) {
    call->end(to_status(opened.error()));
  } else if (!searches.begin()) {
    call->end(
        to_status({ErrorKind::limit, "cannot search for a binding",
                   fmt::format("{} searches are under way, as many as the daemon makes at one time "
                               "(max_searches)",
                               max_searches),
                   "wait for one to end, or cancel one"}));
  } else {
    // gRPC keeps the request for as long as the call lives; the search may be there longer.
    boost::asio::post(searches.threads(), [&searches, call, opened = *std::move(opened), request] {
      const grpc::Status status =
          without_exceptions([&] { return call->search(*opened, request); });
      searches.end();
      call->end(status);
    });
  }
  return call.get();
}

Expected<void> AllocateCall::search(const OpenRecording& opened,
                                    const v1::AllocateRequest& request) {
  const Recording& recording = opened.recording();
  auto read = read_search(request, recording);
  if (!read)
    return tl::unexpected(read.error());
  read->inquiry.search.stop = stop_.get_token();
  read->inquiry.progress = [&](const allocation::Standing& standing) {
    progress(standing, recording);
  };
  allocation::TestBench bench(recording, read->machine,
                              std::max(1U, std::thread::hardware_concurrency()));
  const auto answer = allocation::recommend(bench, opened.study().ideal(), read->inquiry);
  if (!answer)
    return tl::unexpected(answer.error());
  if (answer->found.result.trial.deadlocks)
    return bad_input("cannot bind the threads",
                     "the program stands still however its threads are bound");
  v1::AllocateResponse message;
  write_recommendation(*answer, recording, *message.mutable_result());
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(message);
    status_ = grpc::Status::OK;
  }
  pump();
  return {};
}

void AllocateCall::progress(const allocation::Standing& standing, const Recording& recording) {
  const auto now = std::chrono::steady_clock::now();
  if (sent_ == std::chrono::steady_clock::time_point{})
    sent_ = now;  // what is over at once needs no progress
  if (now - sent_ < between_messages)
    return;
  sent_ = now;
  {
    const std::lock_guard lock(mutex_);
    // One that was not written yet may have had the assignment.
    const bool is_new = standing.best.binding != sent_binding_ ||
                        (waiting_ && waiting_->progress().assignment_size() > 0);
    sent_binding_ = standing.best.binding;
    v1::AllocateResponse message;
    write_search_progress(standing, is_new, recording, *message.mutable_progress());
    waiting_ = std::move(message);
  }
  pump();
}

void AllocateCall::end(const grpc::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (!status_)
      status_ = status;
  }
  pump();
}

// Hands gRPC the next message, or the status when all are written.
void AllocateCall::pump() {
  bool finish = false;
  grpc::Status status;
  {
    const std::lock_guard lock(mutex_);
    if (write_in_flight_ || ended_ || (!waiting_ && !status_))
      return;
    if (waiting_) {
      writing_ = *std::move(waiting_);
      waiting_.reset();
      write_in_flight_ = true;
    } else {
      finish = ended_ = true;
      status = *status_;
    }
  }
  if (finish)
    Finish(status);
  else
    StartWrite(&writing_);
}

void AllocateCall::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    write_in_flight_ = false;
    if (!ok)  // nobody reads any more
      waiting_.reset();
  }
  if (!ok)
    stop_.request_stop();
  pump();
}

}  // namespace longpole::service
