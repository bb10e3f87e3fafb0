// The threads that a request for lines or functions asks for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/sums_by_cpus.h"
#include "longpole/v1/lines.pb.h"
#include "service/open_recording.h"
#include "trace/error.h"

namespace longpole::service {

struct ThreadChoice {
  std::vector<ThreadId> threads;  // none: all
  std::shared_ptr<const analysis::SumsByCpus> sums;
};

// Names match as they were sent, UTF-8. Not found: none of them is a thread's.
[[nodiscard]] Expected<ThreadChoice> choose_threads(const OpenRecording& opened,
                                                    const v1::ThreadChoice& message);

template <typename Request>
[[nodiscard]] Expected<ThreadChoice> read_thread_choice(const OpenRecording& opened,
                                                        const Request& request) {
  if (!request.has_threads())
    return ThreadChoice{{}, opened.sums_of({})};
  return choose_threads(opened, request.threads());
}

template <typename Response>
void write_thread_choice(const ThreadChoice& choice, Response& response) {
  for (const ThreadId thread : choice.threads)
    response.add_threads(thread.value);
}

}  // namespace longpole::service
