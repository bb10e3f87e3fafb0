// Session: one run of a program under the recorder, from the first check to the Recording.
//
//   start ──▶ starting ──▶ running ──▶ merging ──▶ symbolizing ──▶ finished
//                             │ stop(): what was recorded is kept
//                             └──────────▲
//
// Lives on one io_context: start(), stop() and every callback happen on the thread that runs it.
// The merge, which may take seconds, runs on `workers`. The program is started by a process of its
// own (launcher.h), whose exit is seen through a pidfd. The session keeps itself alive until
// `finished` was called, which happens exactly once if start() succeeded.
//
//   auto session = Session::start(context, workers, options, Output::piped, observer);
//   if (!session) return tl::unexpected(session.error());    // refused: nothing was started
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "recording/options.h"
#include "trace/recording.h"

namespace longpole::recording {

enum class Phase : std::uint8_t { starting, running, merging, symbolizing };
[[nodiscard]] const char* phase_name(Phase phase);

struct Progress {
  Phase phase = Phase::starting;
  std::uint64_t events = 0;  // records written so far: more than the events that they become
};

enum class Stream : bool { standard_output, standard_error };

// inherited: the program has our standard input, output and error, as if it had been run without
// us. piped: its input is /dev/null, both its outputs come through Observer::output. errors_piped: its
// standard error alone does, and its standard output is thrown away, as run_measured does: of two that
// are compared, one must not wait for a reader.
enum class Output : std::uint8_t { inherited, piped, errors_piped };

// Of a process other than the first, where children are followed.
struct ChildRecording {
  pid_t pid = 0;
  pid_t parent = 0;
  std::string program;  // the file that it ran
  Expected<Recording> recording;
};

// Any of them may be left empty.
struct Observer {
  std::function<void(pid_t)> started;
  std::function<void(Stream, std::string_view)> output;
  std::function<void(const Progress&)> progress;  // a few times a second, and at each new phase
  std::function<void(ChildRecording)> child;  // in the order in which they began, before `finished`
  std::function<void(Expected<Recording>)> finished;
};

class Session {
 public:
  [[nodiscard]] static Expected<std::shared_ptr<Session>> start(boost::asio::io_context& context,
                                                                boost::asio::thread_pool& workers,
                                                                const Options& options,
                                                                Output output, Observer observer);
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Sends SIGINT to the program, unless the launcher has got one itself: a terminal sends it to all. Harmless at any
  // time.
  virtual void interrupt() = 0;

  // Ends the program: SIGTERM, and SIGKILL when it is still there five seconds later. The recording
  // of what was done until then comes as usual, marked incomplete. Harmless at any time.
  virtual void stop() = 0;

  // While held, piped output is not read: the program waits when its pipe is full, as it would for
  // a slow terminal, and our memory stays bounded however much it prints. Once the program has
  // ended, what is left in the pipe is delivered before `finished`, held or not.
  virtual void hold_output(bool hold) = 0;

 protected:
  Session() = default;
};

}  // namespace longpole::recording
