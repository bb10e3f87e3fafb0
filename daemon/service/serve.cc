#include "service/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "service/limits.h"
#include "service/recordings.h"
#include "service/runs.h"
#include "service/service.h"
#include "service/socket_place.h"
#include "version/version.h"

namespace longpole::service {
namespace {

namespace asio = boost::asio;

// How long clients have to take the last results before the daemon ends.
constexpr std::chrono::seconds farewell(2);

void log(const std::string& text) {
  fmt::print(stderr, "longpole serve: {}\n", text);
}

int fail(const Error& error) {
  fmt::print(stderr, "longpole: {}\n", error.text());
  return error.kind == ErrorKind::failure ? 1 : 2;
}

// Calls `ended` once when standard input does. Reads from a duplicate: closing it leaves 0 alone.
class ParentWatch {
 public:
  ParentWatch(asio::io_context& context, std::function<void()> ended)
      : input_(context, ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)), ended_(std::move(ended)) {
    read();
  }
  void cancel() { input_.close(); }

 private:
  void read() {
    input_.async_read_some(asio::buffer(ignored_),
                           [this](const boost::system::error_code& error, std::size_t) {
                             if (!error)
                               read();
                             else if (error != asio::error::operation_aborted)
                               ended_();
                           });
  }

  asio::posix::stream_descriptor input_;
  std::function<void()> ended_;
  std::array<char, 256> ignored_{};
};

std::unique_ptr<grpc::Server> listen(const SocketPlace& place, Service& service) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(max_request_bytes);
  builder.SetMaxSendMessageSize(-1);
  builder.AddListeningPort(place.grpc_address(), grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  return builder.BuildAndStart();
}

void print_ready(const std::string& socket) {
  const nlohmann::ordered_json ready = {{"protocol", protocol},
                                        {"version", version()},
                                        {"commit", commit()},
                                        {"socket", socket},
                                        {"pid", ::getpid()}};
  fmt::print("READY {}\n",
             ready.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  std::fflush(stdout);
}

}  // namespace

int serve(const ServeOptions& options) {
  // Whoever reads our messages may go first; that must not keep the recordings from being written.
  std::signal(SIGPIPE, SIG_IGN);
  // Standard input may be held open by other children of the parent, so its end is not enough. A
  // parent that died before this line has closed standard input already.
  if (options.parent_stdin)
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);

  asio::io_context context(1);
  asio::signal_set signals(context, SIGTERM, SIGINT, SIGHUP);

  auto place = SocketPlace::claim(options.socket);
  if (!place)
    return fail(place.error());

  // Never given back: the end of the last reference waits for a thread of gRPC that may sleep in
  // epoll_wait for ten seconds after a client was slow to read. The process ends with it instead.
  grpc_init();
  const std::size_t cpus = std::max(2U, std::thread::hardware_concurrency());
  asio::thread_pool workers(cpus);   // of recordings in the making: may be busy for seconds
  asio::thread_pool requests(cpus);  // of clients that wait for an answer
  Recordings recordings;
  Runs runs(context, workers, recordings);
  Service service(recordings, runs, requests);
  const std::unique_ptr<grpc::Server> server = listen(*place, service);
  if (server == nullptr)
    return fail({ErrorKind::failure, "cannot listen on " + place->path(),
                 "gRPC could not open the socket", "the lines above say why"});
  if (auto bound = place->bound(); !bound)
    return fail(bound.error());

  auto keep_running = std::make_optional(asio::make_work_guard(context));
  std::optional<ParentWatch> parent;
  bool ending = false;
  const auto end = [&](const std::string& why) {
    if (std::exchange(ending, true))
      return;
    log(why);
    signals.cancel();
    if (parent)
      parent->cancel();
    runs.shut_down([&] { keep_running.reset(); });
  };
  signals.async_wait([&](const boost::system::error_code& error, int signal) {
    if (!error)
      end(fmt::format("ends on signal {}", signal));
  });
  if (options.parent_stdin)
    parent.emplace(context, [&] { end("ends with its parent: standard input is closed"); });

  print_ready(place->path());
  context.run();

  // Results of the last runs may still be on their way. With a deadline here, gRPC would wait for
  // clients that are merely connected as well.
  service.say_farewell(farewell);
  server->Shutdown(std::chrono::system_clock::now());
  server->Wait();
  requests.join();
  workers.join();
  return 0;
}

}  // namespace longpole::service
