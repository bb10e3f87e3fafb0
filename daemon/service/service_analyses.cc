// The service's calls for what to change, and what it would bring.
#include <utility>

#include "service/analysis_messages.h"
#include "service/answer.h"
#include "service/marshalling.h"
#include "service/service.h"

namespace longpole::service {

namespace {

// Answers with a list: `write` takes the OpenRecording& and what is asked for, as a Ranking.
template <typename Request, typename Write>
grpc::ServerUnaryReactor* answer_ranking(const Recordings& recordings, const Request& request,
                                         boost::asio::thread_pool& pool,
                                         grpc::CallbackServerContext* context, Write write) {
  return answer_about(recordings, request, pool, context,
                      [&request, write = std::move(write)](auto& opened) -> Expected<void> {
                        const auto asked = read_ranking(request);
                        if (!asked)
                          return tl::unexpected(asked.error());
                        write(opened, *asked);
                        return {};
                      });
}

}  // namespace

grpc::ServerUnaryReactor* Service::GetObjects(grpc::CallbackServerContext* context,
                                              const v1::GetObjectsRequest* request,
                                              v1::GetObjectsResponse* response) {
  return answer_ranking(recordings_, *request, requests_, context,
                        [=](auto& opened, const Ranking& asked) {
                          write_objects(opened.study().objects(asked.cpus, asked.scheduler),
                                        asked.rows, opened, *response);
                        });
}

grpc::ServerUnaryReactor* Service::GetThreads(grpc::CallbackServerContext* context,
                                              const v1::GetThreadsRequest* request,
                                              v1::GetThreadsResponse* response) {
  return answer_ranking(recordings_, *request, requests_, context,
                        [=](auto& opened, const Ranking& asked) {
                          write_threads(opened.study().threads(asked.cpus, asked.scheduler),
                                        asked.rows, opened.recording(), *response);
                        });
}

grpc::ServerUnaryReactor* Service::GetQuartz(grpc::CallbackServerContext* context,
                                             const v1::GetQuartzRequest* request,
                                             v1::GetQuartzResponse* response) {
  return answer_ranking(recordings_, *request, requests_, context,
                        [=](auto& opened, const Ranking& asked) {
                          write_quartz(opened.quartz().report(asked.cpus, asked.scheduler),
                                       asked.rows, opened.recording(), *response);
                        });
}

grpc::ServerUnaryReactor* Service::GetLeads(grpc::CallbackServerContext* context,
                                            const v1::GetLeadsRequest* request,
                                            v1::GetLeadsResponse* response) {
  return answer_about(
      recordings_, *request, requests_, context, [=](auto& opened) -> Expected<void> {
        const auto up_to = read_lead_cpus(request->up_to_cpus());
        if (!up_to)
          return tl::unexpected(up_to.error());
        std::vector<std::uint32_t> headroom_at;
        if (!request->headroom_at().empty()) {
          const auto cpus = read_cpu_counts(request->headroom_at());
          if (!cpus)
            return tl::unexpected(cpus.error());
          headroom_at = *cpus;
        }
        const analysis::Study& study = opened.study();
        write_leads(study.leads(*up_to), study.recording(), *response);
        for (const std::uint32_t cpus : headroom_at)
          write_headroom(
              study.functions(cpus, analysis::Scheduler::shared, analysis::WithHeadroom::yes),
              study.recording(), *response->add_headrooms());
        return {};
      });
}

grpc::ServerUnaryReactor* Service::WhatIf(grpc::CallbackServerContext* context,
                                          const v1::WhatIfRequest* request,
                                          v1::WhatIfResponse* response) {
  return answer_about(
      recordings_, *request, requests_, context, [=, this](auto& opened) -> Expected<void> {
        const auto cpus = read_cpu_counts(request->cpus());
        if (!cpus)
          return tl::unexpected(cpus.error());
        const auto scheduler = read_scheduler(request->scheduler());
        if (!scheduler)
          return tl::unexpected(scheduler.error());
        const analysis::Study& study = opened.study();
        auto changes = read_changes(*request, study.recording());
        if (!changes)
          return tl::unexpected(changes.error());
        if (auto done = answer_what_if(study, *changes, *cpus, *scheduler, *response); !done)
          return done;
        if (!request->keep())
          return {};
        auto changed = analysis::changed(study.recording(), changes->changes);
        if (!changed)
          return tl::unexpected(changed.error());
        const auto handle = recordings_.reserve("keep the changed program");
        if (!handle)
          return tl::unexpected(handle.error());
        try {
          const auto kept = recordings_.fill(*handle, *std::move(changed), {});  // of no file
          write_recording(*handle, *kept, *response->mutable_changed());
        } catch (...) {
          static_cast<void>(recordings_.close(*handle));
          throw;
        }
        return {};
      });
}

}  // namespace longpole::service
