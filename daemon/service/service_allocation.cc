// The service's calls for bindings of threads to CPUs.
#include "service/allocation_messages.h"
#include "service/answer.h"
#include "service/service.h"

namespace longpole::service {

grpc::ServerWriteReactor<v1::AllocateResponse>* Service::Allocate(
    grpc::CallbackServerContext* /*context*/, const v1::AllocateRequest* request) {
  return AllocateCall::begin(searches_, recordings_.find(request->handle()), *request);
}

grpc::ServerUnaryReactor* Service::Bound(grpc::CallbackServerContext* context,
                                         const v1::BoundRequest* request,
                                         v1::BoundResponse* response) {
  return answer_about(
      recordings_, *request, requests_, context, [=](auto& opened) -> Expected<void> {
        const auto cpus = read_cpu_counts(request->cpus());
        if (!cpus)
          return tl::unexpected(cpus.error());
        const auto latencies = read_latencies(*request);
        if (!latencies)
          return tl::unexpected(latencies.error());
        const simulation::Schedule& ideal = opened.study().ideal();
        if (ideal.deadlock)
          return bad_input("cannot bound the completion time", "the program stands still",
                           "Predict says where");
        const auto program = allocation::bound_parameters(opened.recording(), ideal);
        if (!program)
          return tl::unexpected(program.error());
        const auto finder = allocation::BoundFinder::of(program->parameters);
        if (!finder)
          return tl::unexpected(finder.error());
        write_bounds(*program, *finder, *cpus, *latencies, *response);
        return {};
      });
}

}  // namespace longpole::service
