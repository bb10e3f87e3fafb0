#include "service/record_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "service/limits.h"
#include "service/marshalling.h"

namespace longpole::service {
namespace {

using v1::RecordProgress;
using v1::RecordResponse;

RecordProgress::Phase phase_of(recording::Phase phase) {
  switch (phase) {
    case recording::Phase::starting:
      return RecordProgress::PHASE_STARTING;
    case recording::Phase::running:
      return RecordProgress::PHASE_RUNNING;
    case recording::Phase::merging:
      return RecordProgress::PHASE_MERGING;
    case recording::Phase::symbolizing:
      return RecordProgress::PHASE_SYMBOLIZING;
  }
  return RecordProgress::PHASE_UNSPECIFIED;
}

}  // namespace

void LiveCalls::begin() {
  const std::lock_guard lock(mutex_);
  ++count_;
}

void LiveCalls::end() {
  const std::lock_guard lock(mutex_);
  --count_;
  none_left_.notify_all();
}

void LiveCalls::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  none_left_.wait_for(lock, patience, [this] { return count_ == 0; });
}

RecordCall::RecordCall(Runs& runs, Recordings& recordings, LiveCalls& calls)
    : runs_(runs), recordings_(recordings), calls_(calls), run_(runs.new_id()) {
  calls_.begin();
}

grpc::ServerWriteReactor<RecordResponse>* RecordCall::begin(Runs& runs, Recordings& recordings,
                                                            LiveCalls& calls,
                                                            const v1::RecordRequest& request) {
  const std::shared_ptr<RecordCall> call(new RecordCall(runs, recordings, calls));
  call->self_ = call;
  auto read = read_record_request(request);
  if (read)
    runs.start(call->run_, *std::move(read), call);
  else
    call->end(to_status(read.error()));
  return call.get();
}

void RecordCall::started(pid_t pid) {
  RecordResponse message;
  message.mutable_started()->set_run(run_);
  message.mutable_started()->set_pid(pid);
  enqueue(std::move(message));
}

void RecordCall::output(recording::Stream from, std::string_view bytes) {
  const auto stream = from == recording::Stream::standard_output ? v1::ProgramOutput::STREAM_STDOUT
                                                                 : v1::ProgramOutput::STREAM_STDERR;
  bool hold = false;
  {
    const std::lock_guard lock(mutex_);
    if (status_)
      return;
    waiting_output_bytes_ += bytes.size();
    while (!bytes.empty()) {
      const bool continues = !waiting_.empty() && waiting_.back().has_output() &&
                             waiting_.back().output().stream() == stream &&
                             waiting_.back().output().data().size() < max_output_message_bytes;
      v1::ProgramOutput& output =
          *(continues ? waiting_.back() : waiting_.emplace_back()).mutable_output();
      output.set_stream(stream);
      const std::size_t taken =
          std::min(bytes.size(), max_output_message_bytes - output.data().size());
      output.mutable_data()->append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
    }
    hold = !output_held_ && waiting_output_bytes_ > hold_output_above_bytes;
    output_held_ = output_held_ || hold;
  }
  if (hold)
    runs_.hold_changed(run_);
  pump();
}

void RecordCall::progress(const recording::Progress& progress) {
  enqueue_phase(phase_of(progress.phase), progress.events);
}

void RecordCall::analysing(std::uint64_t events) {
  enqueue_phase(RecordProgress::PHASE_ANALYSING, events);
}

void RecordCall::enqueue_phase(RecordProgress::Phase phase, std::uint64_t events) {
  RecordResponse message;
  message.mutable_progress()->set_phase(phase);
  message.mutable_progress()->set_events(events);
  enqueue(std::move(message));
}

void RecordCall::finished(Expected<RunResult> result) {
  if (!result) {
    end(to_status(result.error()));
    return;
  }
  RecordResponse message;
  write_recording(result->opened.handle, *result->opened.recording,
                  *message.mutable_result()->mutable_recording());
  message.mutable_result()->set_path(to_utf8(result->path.string()));
  {
    const std::lock_guard lock(mutex_);
    handle_ = result->opened.handle;
    if (!status_) {
      waiting_.push_back(std::move(message));
      status_ = grpc::Status::OK;
    }
  }
  pump();
}

void RecordCall::enqueue(RecordResponse message) {
  {
    const std::lock_guard lock(mutex_);
    if (status_)
      return;
    // A client that reads slowly wants the last count of a phase, not all of them.
    if (message.has_progress() && !waiting_.empty() && waiting_.back().has_progress() &&
        waiting_.back().progress().phase() == message.progress().phase())
      waiting_.back() = std::move(message);
    else
      waiting_.push_back(std::move(message));
  }
  pump();
}

void RecordCall::end(const grpc::Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (!status_)
      status_ = status;
  }
  pump();
}

bool RecordCall::holds_output() {
  const std::lock_guard lock(mutex_);
  return output_held_;
}

// Hands gRPC the next message, or the status when all are written.
void RecordCall::pump() {
  bool finish = false;
  bool release = false;
  grpc::Status status;
  {
    const std::lock_guard lock(mutex_);
    if (write_in_flight_ || ended_ || (waiting_.empty() && !status_))
      return;
    if (waiting_.empty()) {
      finish = ended_ = true;
      status = *status_;
    } else {
      writing_ = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_output_bytes_ -= writing_.output().data().size();
      release = output_held_ && waiting_output_bytes_ < release_output_below_bytes;
      output_held_ = output_held_ && !release;
      write_in_flight_ = true;
    }
  }
  if (release)
    runs_.hold_changed(run_);
  if (finish)
    Finish(status);
  else
    StartWrite(&writing_);
}

void RecordCall::OnWriteDone(bool ok) {
  {
    const std::lock_guard lock(mutex_);
    write_in_flight_ = false;
    delivered_ = ok && writing_.has_result();
    if (!ok) {  // nobody reads any more; OnCancel follows
      waiting_.clear();
      waiting_output_bytes_ = 0;
    }
  }
  pump();
}

void RecordCall::OnCancel() {
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    waiting_output_bytes_ = 0;
    output_held_ = false;
    if (!status_)
      status_ = grpc::Status(grpc::StatusCode::CANCELLED, "the client ended the call");
  }
  runs_.abandon(run_);
  pump();
}

void RecordCall::OnDone() {
  self_.reset();
}

// By now neither gRPC nor the run has more to say.
RecordCall::~RecordCall() {
  if (handle_ != 0 && !delivered_)
    static_cast<void>(recordings_.close(handle_));
  calls_.end();
}

}  // namespace longpole::service
