// How the service answers a call of one request and one response.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <exception>
#include <new>
#include <utility>

#include "service/marshalling.h"
#include "service/recordings.h"

namespace longpole::service {

template <typename Work>
grpc::Status without_exceptions(const Work& work) {
  try {
    const Expected<void> done = work();
    return done ? grpc::Status::OK : to_status(done.error());
  } catch (const std::bad_alloc&) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "the daemon has no memory left for this"};
  } catch (const std::exception& error) {
    return {grpc::StatusCode::INTERNAL, to_utf8(error.what())};
  }
}

// Does `work`, which returns Expected<void>, on the pool and answers with what came of it.
template <typename Work>
grpc::ServerUnaryReactor* answer(boost::asio::thread_pool& pool,
                                 grpc::CallbackServerContext* context, Work work) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  boost::asio::post(pool, [context, reactor, work = std::move(work)] {
    if (context->IsCancelled())
      reactor->Finish({grpc::StatusCode::CANCELLED, "the client ended the call"});
    else
      reactor->Finish(without_exceptions(work));
  });
  return reactor;
}

// The same for a request about an opened recording, which `work` takes as an OpenRecording&.
// Whether it is open is asked first; it stays so until `work` is done.
template <typename Request, typename Work>
grpc::ServerUnaryReactor* answer_about(const Recordings& recordings, const Request& request,
                                       boost::asio::thread_pool& pool,
                                       grpc::CallbackServerContext* context, Work work) {
  return answer(pool, context, [&recordings, &request, work = std::move(work)]() -> Expected<void> {
    const auto opened = recordings.find(request.handle());
    if (!opened)
      return tl::unexpected(opened.error());
    return work(**opened);
  });
}

}  // namespace longpole::service
