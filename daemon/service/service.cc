#include "service/service.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/confidence.h"
#include "service/answer.h"
#include "service/computer_messages.h"
#include "service/machine_tables.h"
#include "service/marshalling.h"
#include "service/thread_choice.h"
#include "version/version.h"

namespace longpole::service {
namespace {

// Says of the predictions for these computers whether threads that share the CPUs evenly make another
// speed-up.
Expected<void> compare_with_shared(const OpenRecording& opened,
                                   std::vector<analysis::Computer> computers,
                                   const analysis::ModelChoice& models,
                                   v1::PredictResponse& response) {
  for (analysis::Computer& computer : computers) {
    analysis::Computer sharing;
    sharing.kind = analysis::Computer::Kind::shared;
    sharing.machine.cpus = computer.machine.cpus;
    computer = std::move(sharing);
  }
  const auto shared = opened.forecasts(computers, models);
  if (!shared)
    return tl::unexpected(shared.error());
  for (int i = 0; i < response.predictions_size(); ++i) {
    v1::Prediction& prediction = *response.mutable_predictions(i);
    const analysis::Forecast& beside = shared->asked[static_cast<std::size_t>(i)];
    const bool ends = !prediction.has_deadlock() && prediction.speedup() > 0 && !beside.deadlock &&
                      !shared->on_one_cpu.deadlock && beside.total_ns > 0;
    prediction.set_unlike_shared(
        ends &&
        !analysis::are_alike(prediction.speedup(), shared->on_one_cpu.total_ns / beside.total_ns));
  }
  return {};
}

// Says of the predictions for these computers between which speed-ups the real ones are to be expected.
Expected<void> add_intervals(const OpenRecording& opened,
                             const std::vector<analysis::Computer>& computers,
                             const analysis::ModelChoice& models, double on_one_cpu_ns,
                             v1::PredictResponse& response) {
  const auto confidence = analysis::Confidence::of(opened.lent());
  if (!confidence)
    return {};
  for (std::size_t i = 0; i < computers.size(); ++i) {
    v1::Prediction& prediction = *response.mutable_predictions(static_cast<int>(i));
    if (prediction.cpus() == 1 || prediction.has_deadlock())
      continue;
    const auto interval =
        confidence->of_speedup(computers[i], models, on_one_cpu_ns, prediction.total_ns());
    if (!interval)
      return tl::unexpected(interval.error());
    prediction.set_least_speedup(interval->low);
    prediction.set_most_speedup(interval->high);
  }
  return {};
}

}  // namespace

Service::Service(Recordings& recordings, Runs& runs, boost::asio::thread_pool& requests)
    : recordings_(recordings), runs_(runs), requests_(requests) {}

grpc::ServerUnaryReactor* Service::GetServerInfo(grpc::CallbackServerContext* context,
                                                 const v1::GetServerInfoRequest* /*request*/,
                                                 v1::GetServerInfoResponse* response) {
  response->set_protocol(protocol);
  response->set_version(std::string(version()));
  response->set_commit(std::string(commit()));
  response->set_machine_cpus(
      static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))));
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerWriteReactor<v1::RecordResponse>* Service::Record(
    grpc::CallbackServerContext* /*context*/, const v1::RecordRequest* request) {
  return RecordCall::begin(runs_, recordings_, record_calls_, *request);
}

grpc::ServerUnaryReactor* Service::StopRecording(grpc::CallbackServerContext* context,
                                                 const v1::StopRecordingRequest* request,
                                                 v1::StopRecordingResponse* /*response*/) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  runs_.stop(request->run(), [reactor](const Expected<void>& stopped) {
    reactor->Finish(stopped ? grpc::Status::OK : to_status(stopped.error()));
  });
  return reactor;
}

grpc::ServerUnaryReactor* Service::OpenRecording(grpc::CallbackServerContext* context,
                                                 const v1::OpenRecordingRequest* request,
                                                 v1::OpenRecordingResponse* response) {
  return answer(requests_, context, [=, this]() -> Expected<void> {
    const auto opened = recordings_.open(request->path());
    if (!opened)
      return tl::unexpected(opened.error());
    write_recording(opened->handle, *opened->recording, *response->mutable_recording());
    return {};
  });
}

grpc::ServerUnaryReactor* Service::CloseRecording(grpc::CallbackServerContext* context,
                                                  const v1::CloseRecordingRequest* request,
                                                  v1::CloseRecordingResponse* /*response*/) {
  return answer(requests_, context, [=, this] { return recordings_.close(request->handle()); });
}

grpc::ServerUnaryReactor* Service::Predict(grpc::CallbackServerContext* context,
                                           const v1::PredictRequest* request,
                                           v1::PredictResponse* response) {
  return answer_about(
      recordings_, *request, requests_, context, [=](auto& opened) -> Expected<void> {
        const Recording& recording = opened.recording();
        const auto computers = read_computers(*request, recording);
        if (!computers)
          return tl::unexpected(computers.error());
        const auto models = read_models(*request, recording);
        if (!models)
          return tl::unexpected(models.error());
        const auto forecasts = opened.forecasts(*computers, *models);
        if (!forecasts)
          return tl::unexpected(forecasts.error());
        for (std::size_t i = 0; i < computers->size(); ++i)
          write_prediction((*computers)[i].machine.cpus, forecasts->asked[i],
                           forecasts->on_one_cpu.total_ns, recording, *response->add_predictions());
        if (request->with_interval()) {
          const auto added =
              add_intervals(opened, *computers, *models, forecasts->on_one_cpu.total_ns, *response);
          if (!added)
            return tl::unexpected(added.error());
        }
        return request->beside_shared()
                   ? compare_with_shared(opened, *computers, *models, *response)
                   : Expected<void>{};
      });
}

grpc::ServerUnaryReactor* Service::GetLines(grpc::CallbackServerContext* context,
                                            const v1::GetLinesRequest* request,
                                            v1::GetLinesResponse* response) {
  return answer_about(recordings_, *request, requests_, context,
                      [=](auto& opened) -> Expected<void> {
                        const auto cpus = read_cpu_counts(request->cpus());
                        if (!cpus)
                          return tl::unexpected(cpus.error());
                        const auto choice = read_file(opened, request->file());
                        if (!choice)
                          return tl::unexpected(choice.error());
                        const auto threads = read_thread_choice(opened, *request);
                        if (!threads)
                          return tl::unexpected(threads.error());
                        const auto tables = lines_on(opened, *request, *cpus, *threads->sums);
                        if (!tables)
                          return tl::unexpected(tables.error());
                        write_thread_choice(*threads, *response);
                        write_lines(*tables, *choice, opened.recording(), *response);
                        return {};
                      });
}

grpc::ServerUnaryReactor* Service::GetFunctions(grpc::CallbackServerContext* context,
                                                const v1::GetFunctionsRequest* request,
                                                v1::GetFunctionsResponse* response) {
  return answer_about(recordings_, *request, requests_, context,
                      [=](auto& opened) -> Expected<void> {
                        const auto cpus = read_cpu_counts(request->cpus());
                        if (!cpus)
                          return tl::unexpected(cpus.error());
                        const auto threads = read_thread_choice(opened, *request);
                        if (!threads)
                          return tl::unexpected(threads.error());
                        const auto tables = functions_on(opened, *request, *cpus, *threads->sums);
                        if (!tables)
                          return tl::unexpected(tables.error());
                        write_thread_choice(*threads, *response);
                        write_functions(*tables, opened.recording(), *response);
                        return {};
                      });
}

grpc::ServerUnaryReactor* Service::GetConcurrency(grpc::CallbackServerContext* context,
                                                  const v1::GetConcurrencyRequest* request,
                                                  v1::GetConcurrencyResponse* response) {
  return answer_about(
      recordings_, *request, requests_, context, [=](auto& opened) -> Expected<void> {
        const auto cpus = read_cpu_count(request->cpus());
        if (!cpus)
          return tl::unexpected(cpus.error());
        const auto scheduler = read_scheduler(request->scheduler());
        if (!scheduler)
          return tl::unexpected(scheduler.error());
        const analysis::Study& study = opened.study();
        write_concurrency(
            analysis::classify_concurrency(study.recording(), study.ideal(), *cpus, *scheduler),
            study.recording(), *response);
        return {};
      });
}

}  // namespace longpole::service
