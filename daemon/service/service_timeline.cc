// The service's calls for the timeline.
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/answer.h"
#include "service/service.h"
#include "service/timeline_messages.h"

namespace longpole::service {

namespace {

grpc::Slice slice_of(std::string bytes) {
  auto kept = std::make_unique<std::string>(std::move(bytes));
  const auto drop = [](void* of) {
    const std::unique_ptr<std::string> dropped(static_cast<std::string*>(of));
  };
  std::string& of = *kept.release();
  return {of.data(), of.size(), drop, &of};
}

grpc::ByteBuffer joined(std::vector<std::string> pieces) {
  std::vector<grpc::Slice> slices;
  slices.reserve(pieces.size());
  for (std::string& piece : pieces)
    slices.push_back(slice_of(std::move(piece)));
  return {slices.data(), slices.size()};
}

}  // namespace

grpc::ServerUnaryReactor* Service::GetTimeline(grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* response) {
  const auto asked = std::make_shared<v1::GetTimelineRequest>();
  grpc::ByteBuffer bytes = *request;
  if (!grpc::SerializationTraits<v1::GetTimelineRequest>::Deserialize(&bytes, asked.get()).ok()) {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT,
                     "cannot read the request: its bytes are no GetTimelineRequest of "
                     "longpole/v1/timeline.proto"});
    return reactor;
  }
  return answer_about(recordings_, *asked, requests_, context, [=](auto& opened) -> Expected<void> {
    const auto drawn = read_timeline(opened, asked->simulation());
    if (!drawn)
      return tl::unexpected(drawn.error());
    const auto view = read_view(asked->view(), *drawn->timeline);
    if (!view)
      return tl::unexpected(view.error());
    const auto rows = read_rows(*asked, *drawn->timeline, *view);
    if (!rows)
      return tl::unexpected(rows.error());
    const auto cpus = read_cpu_rows(*asked, *drawn->timeline, *view, rows->threads.size());
    if (!cpus)
      return tl::unexpected(cpus.error());
    *response = joined(write_timeline(opened, *drawn, *view, *rows, *cpus, *asked));
    return {};
  });
}

grpc::ServerUnaryReactor* Service::GetTimelineItem(grpc::CallbackServerContext* context,
                                                   const v1::GetTimelineItemRequest* request,
                                                   v1::GetTimelineItemResponse* response) {
  return answer_about(recordings_, *request, requests_, context,
                      [=](auto& opened) -> Expected<void> {
                        const auto drawn = read_timeline(opened, request->simulation());
                        if (!drawn)
                          return tl::unexpected(drawn.error());
                        const auto item = read_item(*request, drawn->timeline->execution());
                        if (!item)
                          return tl::unexpected(item.error());
                        write_item(opened, *drawn->timeline, *item, *request, *response);
                        return {};
                      });
}

grpc::ServerUnaryReactor* Service::FindInTimeline(grpc::CallbackServerContext* context,
                                                  const v1::FindInTimelineRequest* request,
                                                  v1::FindInTimelineResponse* response) {
  return answer_about(recordings_, *request, requests_, context,
                      [=](auto& opened) -> Expected<void> {
                        const auto sought = read_sought(*request, opened);
                        if (!sought)
                          return tl::unexpected(sought.error());
                        const auto drawn = read_timeline(opened, request->simulation());
                        if (!drawn)
                          return tl::unexpected(drawn.error());
                        const auto view = read_view(request->view(), *drawn->timeline);
                        if (!view)
                          return tl::unexpected(view.error());
                        write_found(drawn->timeline->execution(), *sought, *view, *response);
                        return {};
                      });
}

}  // namespace longpole::service
