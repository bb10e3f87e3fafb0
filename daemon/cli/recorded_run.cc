#include "cli/recorded_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <utility>

#include "recording/system.h"
#include "storage/load.h"

namespace longpole::cli {
namespace {

constexpr std::chrono::seconds time_to_end{2};  // after Ctrl-C, before we say how else

}  // namespace

Expected<void> check_output(const std::filesystem::path& path) {
  if (auto sound = storage::check_replaceable(path); !sound) {
    sound.error().remedy += " with -o";
    return sound;
  }
  const std::string what = fmt::format("cannot write {}", path.string());
  std::error_code ignored;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored))
    return not_found(what, fmt::format("there is no directory {}", folder.string()),
                     "make it first, or name another file with -o");
  if (::access(folder.c_str(), W_OK) != 0)
    return bad_input(what, fmt::format("nothing can be written in {}", folder.string()),
                     "name another file with -o");
  return {};
}

Expected<Recording> run_recorded(const recording::Options& options, recording::Output output,
                                 recording::Observer observer) {
  boost::asio::io_context context;
  boost::asio::thread_pool workers(1);
  boost::asio::signal_set signals(context);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (!recording::is_ignored(signal))
      signals.add(signal);
  boost::asio::steady_timer goes_on(context);
  std::optional<Expected<Recording>> result;
  observer.finished = [&](Expected<Recording> recording) {
    result = std::move(recording);
    signals.cancel();
    goes_on.cancel();
  };
  const auto session =
      recording::Session::start(context, workers, options, output, std::move(observer));
  if (!session)
    return tl::unexpected(session.error());
  const auto interrupt = [&] {
    (*session)->interrupt();
    goes_on.expires_after(time_to_end);
    goes_on.async_wait([&](const boost::system::error_code& error) {
      if (!error && !result)
        fmt::print(
            stderr,
            "longpole: {} goes on after Ctrl-C; Ctrl-\\ ends it, and what was recorded is kept\n",
            std::filesystem::path(options.program).filename().string());
    });
  };
  std::function<void()> wait_for_signal = [&] {
    signals.async_wait([&](const boost::system::error_code& error, int signal) {
      if (error)
        return;
      if (signal == SIGINT && output == recording::Output::inherited)
        interrupt();
      else
        (*session)->stop();
      wait_for_signal();
    });
  };
  wait_for_signal();
  context.run();
  workers.join();
  if (!result)
    return failure("cannot record", "the recording ended without a result", "please report this");
  return std::move(*result);
}

}  // namespace longpole::cli
