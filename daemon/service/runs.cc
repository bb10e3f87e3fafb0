#include "service/runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/post.hpp>
#include <cerrno>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "calibration/host_costs.h"
#include "service/limits.h"
#include "storage/load.h"

namespace longpole::service {
namespace {

namespace fs = std::filesystem;

// Where the recording will be written, checked before the program runs for minutes in vain.
Expected<fs::path> choose_output(const RunRequest& request) {
  std::error_code error;
  const fs::path& directory = request.options.directory;
  const fs::path base = fs::absolute(directory.empty() ? "." : directory, error);
  const fs::path output =
      (request.output.empty() ? base : base / request.output).lexically_normal();
  const std::string what = "cannot write the recording to " + output.string();
  if (error)
    return failure(what, error.message());
  if (!request.output.empty() && fs::is_directory(output, error))
    return bad_input(what, "that is a directory", "name a file in it");
  const fs::path folder = request.output.empty() ? output : output.parent_path();
  if (!fs::is_directory(folder, error))
    return not_found(what, "there is no directory " + folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return failure(what, folder.string() + ": " + std::generic_category().message(errno),
                   "name another output");
  return output;
}

// An empty file of a name that nobody had in `folder`: program.lptrace, program-2.lptrace, …
Expected<fs::path> make_new_file(const fs::path& folder, const std::string& program) {
  std::string stem = fs::path(program).filename().string();
  for (int number = 1;; ++number) {
    const fs::path path =
        folder / (number == 1 ? stem + ".lptrace" : fmt::format("{}-{}.lptrace", stem, number));
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
      ::close(fd);
      return path;
    }
    if (errno != EEXIST)
      return failure("cannot write the recording to " + path.string(),
                     std::generic_category().message(errno));
  }
}

Expected<fs::path> write(const Recording& recording, const fs::path& output, bool new_file,
                         const std::string& program) {
  if (!new_file) {
    auto saved = storage::save_recording(recording, output);
    return saved ? Expected<fs::path>(output) : tl::unexpected(saved.error());
  }
  auto path = make_new_file(output, program);
  if (!path)
    return path;
  if (auto saved = storage::save_recording(recording, *path); !saved) {
    ::unlink(path->c_str());
    return tl::unexpected(saved.error());
  }
  return path;
}

}  // namespace

struct Runs::Run {
  RunId id = 0;
  std::uint64_t handle = 0;
  std::string program;
  fs::path output;
  bool new_file = false;
  std::atomic<bool> abandoned = false;
  std::shared_ptr<RunListener> listener;
  std::shared_ptr<recording::Session> session;  // null once the program's recording has come
};

Runs::Runs(boost::asio::io_context& context, boost::asio::thread_pool& workers,
           Recordings& recordings)
    : context_(context), workers_(workers), recordings_(recordings) {}

Runs::~Runs() = default;

void Runs::start(RunId id, RunRequest request, std::shared_ptr<RunListener> listener) {
  boost::asio::post(context_,
                    [this, id, request = std::move(request), listener = std::move(listener)] {
                      start_now(id, request, listener);
                    });
}

void Runs::start_now(RunId id, const RunRequest& request, std::shared_ptr<RunListener> listener) {
  const std::string what = "cannot record " + request.options.program;
  if (shutting_down_) {
    listener->finished(failure(what, "the daemon is about to end", "start it again"));
    return;
  }
  if (running_.size() >= max_running_programs) {
    listener->finished(over_limit(
        what,
        fmt::format("{} programs are being recorded, as many as the daemon runs at one time "
                    "(max_running_programs)",
                    max_running_programs),
        "wait for one to end, or stop one"));
    return;
  }
  auto output = choose_output(request);
  if (!output) {
    listener->finished(tl::unexpected(output.error()));
    return;
  }
  auto handle = recordings_.reserve("record " + request.options.program);
  if (!handle) {
    listener->finished(tl::unexpected(handle.error()));
    return;
  }

  auto run = std::make_shared<Run>();
  run->id = id;
  run->handle = *handle;
  run->program = request.options.program;
  run->output = *std::move(output);
  run->new_file = request.output.empty();
  run->listener = std::move(listener);

  recording::Observer observer;
  observer.started = [run](pid_t pid) { run->listener->started(pid); };
  observer.output = [run](recording::Stream stream, std::string_view bytes) {
    run->listener->output(stream, bytes);
  };
  observer.progress = [run](const recording::Progress& progress) {
    run->listener->progress(progress);
  };
  observer.finished = [this, run](Expected<Recording> recording) {
    session_finished(run, std::move(recording));
  };
  running_[id] = run;
  auto session = recording::Session::start(context_, workers_, request.options,
                                           recording::Output::piped, std::move(observer));
  if (!session) {
    static_cast<void>(recordings_.close(run->handle));
    forget(id);
    run->listener->finished(tl::unexpected(session.error()));
    return;
  }
  run->session = *std::move(session);
}

void Runs::session_finished(const std::shared_ptr<Run>& run, Expected<Recording> recording) {
  run->session.reset();
  boost::asio::post(workers_, [this, run, recording = std::move(recording)]() mutable {
    const auto result = [&]() -> Expected<RunResult> {
      if (!recording)
        return tl::unexpected(recording.error());
      run->listener->analysing(recording->event_count());
      calibration::put_into(*recording, calibration::host_costs());
      RunResult made;
      auto path = write(*recording, run->output, run->new_file, run->program);
      if (path)
        made.path = *path;
      else
        recording->notices.push_back({"not-written", path.error().text(), 1});
      if (run->abandoned)
        return path ? failure("cannot answer", "the client is gone") : tl::unexpected(path.error());
      made.opened.handle = run->handle;
      made.opened.recording = recordings_.fill(run->handle, *std::move(recording), made.path);
      return made;
    };
    Expected<RunResult> made = failure("cannot record " + run->program, "");
    try {
      made = result();
    } catch (const std::exception& error) {
      made.error().why = error.what();
    }
    boost::asio::post(context_, [this, run, made = std::move(made)]() mutable {
      if (!made)
        static_cast<void>(recordings_.close(run->handle));
      run->listener->finished(std::move(made));
      forget(run->id);
    });
  });
}

void Runs::stop(RunId run, std::function<void(Expected<void>)> answer) {
  boost::asio::post(context_, [this, run, answer = std::move(answer)] {
    const auto found = running_.find(run);
    if (found == running_.end()) {
      answer(not_found(fmt::format("cannot stop run {}", run), "no such program is being recorded",
                       "it may have ended by itself"));
      return;
    }
    if (found->second->session != nullptr)
      found->second->session->stop();
    answer({});
  });
}

void Runs::abandon(RunId run) {
  boost::asio::post(context_, [this, run] {
    const auto found = running_.find(run);
    if (found == running_.end())
      return;
    found->second->abandoned = true;
    if (found->second->session != nullptr) {
      found->second->session->hold_output(false);
      found->second->session->stop();
    }
  });
}

// What counts is the answer at the time of asking: what the thread of `context` posts to itself may be
// overtaken by what others post after it.
void Runs::hold_changed(RunId run) {
  boost::asio::post(context_, [this, run] {
    const auto found = running_.find(run);
    if (found != running_.end() && found->second->session != nullptr)
      found->second->session->hold_output(found->second->listener->holds_output());
  });
}

void Runs::shut_down(std::function<void()> idle) {
  shutting_down_ = true;
  idle_ = std::move(idle);
  for (const auto& [id, run] : running_) {
    if (run->session != nullptr)
      run->session->stop();
  }
  if (running_.empty())
    idle_();
}

void Runs::forget(RunId id) {
  running_.erase(id);
  if (shutting_down_ && running_.empty())
    idle_();
}

}  // namespace longpole::service
