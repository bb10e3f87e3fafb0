#include "cli/recorded_run.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <csignal>
#include <functional>
#include <optional>
#include <utility>

namespace longpole::cli {

Expected<Recording> run_recorded(const recording::Options& options, recording::Output output,
                                 recording::Observer observer) {
  boost::asio::io_context context;
  boost::asio::thread_pool workers(1);
  boost::asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
  std::optional<Expected<Recording>> result;
  observer.finished = [&](Expected<Recording> recording) {
    result = std::move(recording);
    signals.cancel();
  };
  const auto session =
      recording::Session::start(context, workers, options, output, std::move(observer));
  if (!session)
    return tl::unexpected(session.error());
  std::function<void()> wait_for_signal = [&] {
    signals.async_wait([&](const boost::system::error_code& error, int) {
      if (error)
        return;
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
