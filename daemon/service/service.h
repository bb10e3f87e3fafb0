// The RPCs of proto/longpole/v1/longpole.proto over recordings and runs.
//
// A thread of gRPC only takes the request and puts the work on `requests`; Record and Allocate run on
// their own (record_call.h, allocate_call.h). Thread-safe as gRPC wants it. Exceptions end here, as a status.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>

#include "longpole/v1/longpole.grpc.pb.h"
#include "service/allocate_call.h"
#include "service/record_call.h"
#include "service/recordings.h"
#include "service/runs.h"

namespace longpole::service {

// Raised by every change that an older peer would misunderstand: proto/README.md.
inline constexpr std::uint32_t protocol = 1;

// GetTimeline's answer comes as the bytes that all CPUs made of it.
using RawService = v1::Longpole::WithRawCallbackMethod_GetTimeline<v1::Longpole::CallbackService>;

class Service final : public RawService {
 public:
  // All outlive the server that this is registered with.
  Service(Recordings& recordings, Runs& runs, boost::asio::thread_pool& requests);

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;
  grpc::ServerWriteReactor<v1::RecordResponse>* Record(grpc::CallbackServerContext* context,
                                                       const v1::RecordRequest* request) override;
  grpc::ServerUnaryReactor* StopRecording(grpc::CallbackServerContext* context,
                                          const v1::StopRecordingRequest* request,
                                          v1::StopRecordingResponse* response) override;
  grpc::ServerUnaryReactor* OpenRecording(grpc::CallbackServerContext* context,
                                          const v1::OpenRecordingRequest* request,
                                          v1::OpenRecordingResponse* response) override;
  grpc::ServerUnaryReactor* CloseRecording(grpc::CallbackServerContext* context,
                                           const v1::CloseRecordingRequest* request,
                                           v1::CloseRecordingResponse* response) override;
  grpc::ServerUnaryReactor* Predict(grpc::CallbackServerContext* context,
                                    const v1::PredictRequest* request,
                                    v1::PredictResponse* response) override;
  grpc::ServerUnaryReactor* GetLines(grpc::CallbackServerContext* context,
                                     const v1::GetLinesRequest* request,
                                     v1::GetLinesResponse* response) override;
  grpc::ServerUnaryReactor* GetFunctions(grpc::CallbackServerContext* context,
                                         const v1::GetFunctionsRequest* request,
                                         v1::GetFunctionsResponse* response) override;
  grpc::ServerUnaryReactor* GetConcurrency(grpc::CallbackServerContext* context,
                                           const v1::GetConcurrencyRequest* request,
                                           v1::GetConcurrencyResponse* response) override;
  grpc::ServerUnaryReactor* GetQuartz(grpc::CallbackServerContext* context,
                                      const v1::GetQuartzRequest* request,
                                      v1::GetQuartzResponse* response) override;
  grpc::ServerUnaryReactor* GetObjects(grpc::CallbackServerContext* context,
                                       const v1::GetObjectsRequest* request,
                                       v1::GetObjectsResponse* response) override;
  grpc::ServerUnaryReactor* GetThreads(grpc::CallbackServerContext* context,
                                       const v1::GetThreadsRequest* request,
                                       v1::GetThreadsResponse* response) override;
  grpc::ServerUnaryReactor* GetLeads(grpc::CallbackServerContext* context,
                                     const v1::GetLeadsRequest* request,
                                     v1::GetLeadsResponse* response) override;
  grpc::ServerUnaryReactor* WhatIf(grpc::CallbackServerContext* context,
                                   const v1::WhatIfRequest* request,
                                   v1::WhatIfResponse* response) override;
  using RawService::GetTimeline;
  grpc::ServerUnaryReactor* GetTimeline(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetTimelineItem(grpc::CallbackServerContext* context,
                                            const v1::GetTimelineItemRequest* request,
                                            v1::GetTimelineItemResponse* response) override;
  grpc::ServerUnaryReactor* FindInTimeline(grpc::CallbackServerContext* context,
                                           const v1::FindInTimelineRequest* request,
                                           v1::FindInTimelineResponse* response) override;
  grpc::ServerWriteReactor<v1::AllocateResponse>* Allocate(
      grpc::CallbackServerContext* context, const v1::AllocateRequest* request) override;
  grpc::ServerUnaryReactor* Bound(grpc::CallbackServerContext* context,
                                  const v1::BoundRequest* request,
                                  v1::BoundResponse* response) override;

  // Once the runs have ended: waits until their clients have the results, at most so long.
  void say_farewell(std::chrono::milliseconds patience) { record_calls_.wait(patience); }

 private:
  Recordings& recordings_;
  Runs& runs_;
  boost::asio::thread_pool& requests_;
  LiveCalls record_calls_;
  Searches searches_;
};

}  // namespace longpole::service
