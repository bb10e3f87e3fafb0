#include "record_program.h"

#include <algorithm>

namespace longpole::recording {

std::string specimen(const std::string& name) {
  return std::string(LONGPOLE_BUILD_DIRECTORY) + "/tests/recording/specimens/" + name;
}

std::string recorder_specimen(const std::string& name) {
  return std::string(LONGPOLE_BUILD_DIRECTORY) + "/bin/specimens/" + name;
}

Options options_for(const std::string& program, std::vector<std::string> arguments) {
  Options options;
  options.program = program;
  options.arguments = std::move(arguments);
  options.recorder = std::string(LONGPOLE_BUILD_DIRECTORY) + "/lib/liblongpole-recorder.so";
  return options;
}

Recorded record(const Options& options,
                const std::function<void(Session&, const std::string& output)>& on_output,
                const std::function<void(pid_t)>& on_start) {
  Recorded recorded;
  boost::asio::io_context context;
  boost::asio::thread_pool workers(1);
  std::shared_ptr<Session> session;
  Observer observer;
  observer.started = [&](pid_t pid) {
    recorded.pid = pid;
    if (on_start)
      on_start(pid);
  };
  observer.output = [&](Stream stream, std::string_view text) {
    (stream == Stream::standard_output ? recorded.output : recorded.error_output) += text;
    if (on_output && session != nullptr)
      on_output(*session, recorded.output);
  };
  observer.progress = [&](const Progress& progress) {
    if (recorded.phases.empty() || recorded.phases.back() != progress.phase)
      recorded.phases.push_back(progress.phase);
  };
  observer.child = [&](ChildRecording child) { recorded.children.push_back(std::move(child)); };
  observer.finished = [&](Expected<Recording> recording) {
    recorded.recording = std::move(recording);
  };
  auto started = Session::start(context, workers, options, Output::piped, observer);
  if (!started) {
    recorded.recording = tl::unexpected(started.error());
    return recorded;
  }
  session = *started;
  context.run();
  workers.join();
  return recorded;
}

std::vector<std::string> notice_codes(const Recording& recording) {
  std::vector<std::string> codes;
  for (const Notice& notice : recording.notices)
    codes.push_back(notice.code);
  return codes;
}

Nanoseconds cpu_of(const Thread& thread) {
  Nanoseconds sum{};
  for (const Event& event : thread.events)
    sum += event.cpu;
  return sum;
}

std::ptrdiff_t calls_of(const Thread& thread) {
  return std::count_if(thread.events.begin(), thread.events.end(),
                       [](const Event& event) { return event.kind != EventKind::external_wait; });
}

double cpu_of(const Recording& recording) {
  Nanoseconds sum{};
  for (const Thread& thread : recording.threads)
    sum += cpu_of(thread);
  return static_cast<double>(sum.count());
}

}  // namespace longpole::recording
