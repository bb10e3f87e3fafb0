// The programs that the daemon is recording: starts them, stops them, writes their recordings.
//
//   start() ─▶ Session ─▶ written to its file ─▶ Study built ─▶ listener.finished()
//                 ▲ stop(): asked for by a client, whose listener still gets the result
//                 ▲ abandon(): its client is gone; the file is written all the same
//
// start(), stop(), abandon() and hold_changed() may be called from any thread and return at once. The
// sessions, and what is kept about each run, live on the thread of `context`; writing and analysing
// take place on `workers`. Listeners are called from both, one call of one run at a time.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string_view>

#include "recording/session.h"
#include "service/recordings.h"
#include "trace/error.h"

namespace longpole::service {

using RunId = std::uint64_t;  // never 0, never used again

struct RunRequest {
  recording::Options options;
  std::filesystem::path output;  // relative to options.directory; empty: a new file there
};

struct RunResult {
  Recordings::Opened opened;
  std::filesystem::path path;  // empty: it could not be written, and a notice says why
};

class RunListener {
 public:
  virtual ~RunListener() = default;
  virtual void started(pid_t pid) = 0;
  virtual void output(recording::Stream from, std::string_view bytes) = 0;
  virtual bool holds_output() = 0;  // asked after hold_changed()
  virtual void progress(const recording::Progress& progress) = 0;
  virtual void analysing(std::uint64_t events) = 0;
  virtual void finished(Expected<RunResult> result) = 0;  // exactly once, last
};

class Runs {
 public:
  // All outlive the runs.
  Runs(boost::asio::io_context& context, boost::asio::thread_pool& workers, Recordings& recordings);
  ~Runs();
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  // The caller closes the handle of a result that it cannot pass on.
  [[nodiscard]] RunId new_id() { return next_++; }
  void start(RunId id, RunRequest request, std::shared_ptr<RunListener> listener);
  void stop(RunId run, std::function<void(Expected<void>)> answer);
  void abandon(RunId run);
  void hold_changed(RunId run);

  // On the thread of `context`, once: no more starts, all that run are stopped and kept. Calls
  // `idle` there when the last has finished.
  void shut_down(std::function<void()> idle);

 private:
  struct Run;
  void start_now(RunId id, const RunRequest& request, std::shared_ptr<RunListener> listener);
  void session_finished(const std::shared_ptr<Run>& run, Expected<Recording> recording);
  void forget(RunId id);

  boost::asio::io_context& context_;
  boost::asio::thread_pool& workers_;
  Recordings& recordings_;
  std::atomic<RunId> next_ = 1;
  std::map<RunId, std::shared_ptr<Run>> running_;
  bool shutting_down_ = false;
  std::function<void()> idle_;
};

}  // namespace longpole::service
