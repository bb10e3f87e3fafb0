#include "recording/session.h"

#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "longpole/raw_record.h"
#include "recording/check_program.h"
#include "recording/children.h"
#include "recording/launcher_process.h"
#include "recording/read_run.h"
#include "recording/record_counter.h"
#include "recording/recorder_library.h"
#include "recording/run_files.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::posix::stream_descriptor;

constexpr auto progress_interval = std::chrono::milliseconds(200);
constexpr std::uint32_t max_told_cpus = 8192;
constexpr std::uint64_t max_events_bytes = std::uint64_t{64} << 30;

// One of the program's output streams, read as fast as the observer takes it.
struct Pipe {
  Pipe(asio::io_context& context, Stream which) : stream(which), descriptor(context) {}

  Stream stream;
  stream_descriptor descriptor;
  std::array<char, 65536> buffer{};
  bool reading = false;
};

class RunningSession final : public Session, public std::enable_shared_from_this<RunningSession> {
 public:
  RunningSession(asio::io_context& context, asio::thread_pool& workers, RunDirectory directory,
                 RunDescription description, Observer observer)
      : context_(context),
        workers_(workers),
        work_(context.get_executor()),
        directory_(std::move(directory)),
        description_(std::move(description)),
        observer_(std::move(observer)),
        exited_(context),
        lifeline_(context),
        timer_(context),
        counter_(directory_.path()) {}

  Expected<void> launch(const fs::path& launcher, Output output);
  void interrupt() override;
  void stop() override;
  void hold_output(bool hold) override;

 private:
  void wait_for_start();
  void wait_for_exit();
  void tick();
  void read_output(Pipe& pipe);
  void deliver(const Pipe& pipe, std::size_t size) const;
  void read_what_is_left(Pipe& pipe);
  void collect();
  void collect_child(std::size_t index, Expected<Recording> first);
  void report(Phase phase);
  void finish(Expected<Recording> recording);

  asio::io_context& context_;
  asio::thread_pool& workers_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  RunDirectory directory_;
  RunDescription description_;
  Observer observer_;
  pid_t launcher_ = -1;
  stream_descriptor exited_;    // a pidfd: readable when the launcher has ended
  stream_descriptor lifeline_;  // see launcher.h
  std::array<char, 32> announcement_{};
  std::vector<std::unique_ptr<Pipe>> pipes_;
  asio::steady_timer timer_;
  Phase phase_ = Phase::starting;
  RecordCounter counter_;
  std::uint64_t events_ = 0;
  std::vector<ChildProcess> children_;
  bool held_ = false;
};

Expected<void> RunningSession::launch(const fs::path& launcher, Output output) {
  auto process = start_launcher(launcher, directory_.path(), output);
  if (!process)
    return tl::unexpected(process.error());
  launcher_ = process->pid;
  exited_.assign(process->exited.release());
  lifeline_.assign(process->lifeline.release());
  for (const auto& [stream, end] : {std::pair(Stream::standard_output, &process->standard_output),
                                    std::pair(Stream::standard_error, &process->standard_error)}) {
    if (*end) {
      pipes_.push_back(std::make_unique<Pipe>(context_, stream));
      pipes_.back()->descriptor.assign(end->release());
      pipes_.back()->descriptor.non_blocking(true);
    }
  }
  wait_for_start();
  wait_for_exit();
  // The first report comes when start() has returned and the caller has its pointer.
  asio::post(context_, [self = shared_from_this()] {
    if (self->phase_ == Phase::starting)
      self->report(Phase::starting);
  });
  return {};
}

void RunningSession::wait_for_start() {
  lifeline_.async_read_some(
      asio::buffer(announcement_),
      [self = shared_from_this()](const boost::system::error_code& error, std::size_t size) {
        if (!error && self->phase_ == Phase::starting) {
          const std::string text(self->announcement_.data(), size);
          if (self->observer_.started)
            self->observer_.started(static_cast<pid_t>(std::strtol(text.c_str(), nullptr, 10)));
          self->report(Phase::running);
          self->tick();
        }
        // Whoever hears of output knows whose it is.
        self->hold_output(self->held_);
      });
}

void RunningSession::wait_for_exit() {
  exited_.async_wait(stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (error)
                         return;
                       self->collect();
                     });
}

void RunningSession::tick() {
  timer_.expires_after(progress_interval);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error || self->phase_ != Phase::running)
      return;
    self->events_ = self->counter_.count();
    self->report(Phase::running);
    self->tick();
  });
}

void RunningSession::interrupt() {
  constexpr char word = 'i';  // any will do
  if (lifeline_.is_open())
    static_cast<void>(::send(lifeline_.native_handle(), &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void RunningSession::stop() {
  // The launcher sees the end of the stream and ends the program; it may have ended already.
  if (lifeline_.is_open())
    ::shutdown(lifeline_.native_handle(), SHUT_WR);
}

void RunningSession::hold_output(bool hold) {
  held_ = hold;
  if (!hold)
    for (const std::unique_ptr<Pipe>& pipe : pipes_)
      if (!pipe->reading && pipe->descriptor.is_open())
        read_output(*pipe);
}

void RunningSession::read_output(Pipe& pipe) {
  pipe.reading = true;
  pipe.descriptor.async_read_some(
      asio::buffer(pipe.buffer),
      [self = shared_from_this(), &pipe](const boost::system::error_code& error, std::size_t size) {
        pipe.reading = false;
        if (size > 0)
          self->deliver(pipe, size);
        if (!error && !self->held_ && pipe.descriptor.is_open())
          self->read_output(pipe);
      });
}

void RunningSession::deliver(const Pipe& pipe, std::size_t size) const {
  if (observer_.output)
    observer_.output(pipe.stream, std::string_view(pipe.buffer.data(), size));
}

// The program has ended. A child that it left behind may hold the pipe open and go on writing: what
// is in the pipe now is the program's, and a pipe holds no more than its size.
void RunningSession::read_what_is_left(Pipe& pipe) {
  for (std::size_t left = pipe_size; left > 0 && pipe.descriptor.is_open();) {
    boost::system::error_code error;
    const std::size_t size = pipe.descriptor.read_some(asio::buffer(pipe.buffer), error);
    if (error || size == 0)
      break;
    deliver(pipe, size);
    left -= std::min(size, left);
  }
}

void RunningSession::collect() {
  siginfo_t ignored{};
  while (::waitid(P_PID, static_cast<id_t>(launcher_), &ignored, WEXITED) != 0 && errno == EINTR) {
  }
  boost::system::error_code nothing_to_do;
  for (const std::unique_ptr<Pipe>& pipe : pipes_) {
    pipe->descriptor.cancel(nothing_to_do);
    read_what_is_left(*pipe);
    pipe->descriptor.close(nothing_to_do);
  }
  exited_.close(nothing_to_do);
  lifeline_.close(nothing_to_do);
  timer_.cancel(nothing_to_do);
  events_ = counter_.count();
  report(Phase::merging);
  asio::post(workers_, [self = shared_from_this()] {
    Family family = find_family(self->directory_.path());
    self->children_ = std::move(family.children);
    self->description_.unfollowed = std::move(family.unfollowed);
    auto recording = read_run(self->description_, [&] {
      asio::post(self->context_, [self] { self->report(Phase::symbolizing); });
    });
    asio::post(self->context_, [self, recording = std::move(recording)]() mutable {
      self->collect_child(0, std::move(recording));
    });
  });
}

// One after the other, so that no two lie in memory while the observer writes the first to a file.
void RunningSession::collect_child(std::size_t index, Expected<Recording> first) {
  if (!first || index == children_.size()) {
    finish(std::move(first));
    return;
  }
  asio::post(workers_, [self = shared_from_this(), index, first = std::move(first)]() mutable {
    const ChildProcess& child = self->children_[index];
    ChildRecording read{child.control.pid, child.control.parent, child.program.string(),
                        read_child(self->description_, child)};
    asio::post(self->context_,
               [self, index, first = std::move(first), read = std::move(read)]() mutable {
                 if (self->observer_.child)
                   self->observer_.child(std::move(read));
                 self->collect_child(index + 1, std::move(first));
               });
  });
}

void RunningSession::report(Phase phase) {
  phase_ = phase;
  if (observer_.progress)
    observer_.progress({phase, events_});
}

void RunningSession::finish(Expected<Recording> recording) {
  // Whatever the observer holds on to goes with it.
  const Observer observer = std::exchange(observer_, {});
  if (observer.finished)
    observer.finished(std::move(recording));
  work_.reset();
}

Expected<void> check_options(const Options& options) {
  if (options.rate_hz > max_rate_hz)
    return bad_input("cannot record",
                     fmt::format("the sampling rate {} is not one", options.rate_hz),
                     fmt::format("give 1 to {} Hz", max_rate_hz));
  if (options.function_depth > max_function_depth)
    return bad_input("cannot record",
                     fmt::format("{} functions inside each other are too many to be recorded",
                                 options.function_depth),
                     fmt::format("give at most {}", max_function_depth));
  if (options.lockstep > max_lockstep_cpus)
    return bad_input("cannot record",
                     fmt::format("{} CPUs are too many for lockstep", options.lockstep),
                     fmt::format("give at most {}", max_lockstep_cpus));
  if (options.lockstep != 0 && options.cpus == Cpus::all)
    return bad_input("cannot record", "in lockstep a program runs on one CPU",
                     "leave out --cpus all");
  if (options.lockstep != 0 && options.follow)
    return bad_input("cannot record",
                     "in lockstep only the threads of one process advance together",
                     "leave out --follow");
  if (options.as_cpus > max_told_cpus)
    return bad_input("cannot record", fmt::format("{} CPUs are too many", options.as_cpus),
                     fmt::format("give at most {}", max_told_cpus));
  std::error_code error;
  if (!options.directory.empty() && !fs::is_directory(options.directory, error))
    return bad_input("cannot record",
                     fmt::format("{} is not a directory", options.directory.string()),
                     "name the directory to run in");
  for (const auto& [name, value] : options.environment)
    if (name.empty() || name.find('=') != std::string::npos ||
        (name + value).find('\0') != std::string::npos)
      return bad_input("cannot record", fmt::format("\"{}\" is no name of a variable", name));
  return {};
}

std::string search_path(const Options& options) {
  if (const auto own = options.environment.find("PATH"); own != options.environment.end())
    return own->second;
  return own_search_path();
}

// LD_PRELOAD cannot hold a path with a colon or a space: a link in the run directory stands for it.
Expected<std::string> preload_path(const fs::path& library, const fs::path& run_directory) {
  if (library.string().find_first_of(": ") == std::string::npos)
    return library.string();
  const fs::path link = run_directory / library.filename();
  std::error_code error;
  fs::create_symlink(library, link, error);
  if (error || link.string().find_first_of(": ") != std::string::npos)
    return failure("cannot load the recorder",
                   fmt::format("its path {} has a space or a colon", library.string()),
                   "set TMPDIR to a directory without them");
  return link.string();
}

}  // namespace

const char* phase_name(Phase phase) {
  switch (phase) {
    case Phase::starting:
      return "starting";
    case Phase::running:
      return "running";
    case Phase::merging:
      return "merging";
    case Phase::symbolizing:
      return "symbolizing";
  }
  return "";
}

Expected<std::shared_ptr<Session>> Session::start(asio::io_context& context,
                                                  asio::thread_pool& workers,
                                                  const Options& options, Output output,
                                                  Observer observer) {
  if (auto sound = check_options(options); !sound)
    return tl::unexpected(sound.error());
  auto program = check_program(options.program, options.directory, search_path(options));
  if (!program)
    return tl::unexpected(program.error());
  auto recorder = find_recorder(options.recorder);
  if (!recorder)
    return tl::unexpected(recorder.error());
  auto directory = RunDirectory::create();
  if (!directory)
    return tl::unexpected(directory.error());
  auto preload = preload_path(*recorder, directory->path());
  if (!preload)
    return tl::unexpected(preload.error());

  std::error_code error;
  Request request;
  request.program = program->path;
  request.argv = options.arguments;
  request.argv.insert(request.argv.begin(), options.program);
  request.directory =
      options.directory.empty() ? fs::current_path(error) : fs::absolute(options.directory, error);
  for (const auto& [name, value] : options.environment) {
    std::string assignment = name;
    assignment += "=";
    assignment += value;
    request.environment.push_back(std::move(assignment));
  }
  if (!program->address_sanitizer.empty() &&
      !options.follow)  // see ASAN_OPTIONS in stopped_child.cc
    request.preload.push_back(program->address_sanitizer);
  request.preload.push_back(std::move(*preload));
  request.all_cpus = options.cpus == Cpus::all;
  request.as_cpus = options.as_cpus != 0 ? options.as_cpus : options.lockstep;
  request.rate_hz = options.rate_hz;
  request.function_depth = options.function_depth;
  request.lockstep = options.lockstep;
  request.follow = options.follow;
  request.portable = options.source == SourceChoice::portable || options.lockstep != 0;
  request.max_units = static_cast<std::uint32_t>(max_events_bytes / LONGPOLE_UNIT_BYTES);
  if (auto written = write_request(directory->path(), request); !written)
    return tl::unexpected(written.error());

  RunDescription description{directory->path(), fs::canonical(program->path, error),
                             request.argv,      request.directory.string(),
                             request.follow,    {}};
  auto session = std::make_shared<RunningSession>(context, workers, std::move(*directory),
                                                  std::move(description), std::move(observer));
  if (auto launched = session->launch(options.launcher, output); !launched)
    return tl::unexpected(launched.error());
  return session;
}

}  // namespace longpole::recording
