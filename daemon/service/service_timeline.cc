// The service's calls for the timeline.
#include "service/answer.h"
#include "service/service.h"
#include "service/timeline_messages.h"

namespace longpole::service {

grpc::ServerUnaryReactor* Service::GetTimeline(grpc::CallbackServerContext* context,
                                               const v1::GetTimelineRequest* request,
                                               v1::GetTimelineResponse* response) {
  return answer_about(
      recordings_, *request, requests_, context, [=](auto& opened) -> Expected<void> {
        const auto drawn = read_timeline(opened, request->simulation());
        if (!drawn)
          return tl::unexpected(drawn.error());
        const auto view = read_view(request->view(), *drawn->timeline);
        if (!view)
          return tl::unexpected(view.error());
        const auto rows = read_rows(*request, *drawn->timeline, *view);
        if (!rows)
          return tl::unexpected(rows.error());
        const auto cpus = read_cpu_rows(*request, *drawn->timeline, *view, rows->threads.size());
        if (!cpus)
          return tl::unexpected(cpus.error());
        write_timeline(opened, *drawn, *view, *rows, *cpus, *request, *response);
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
