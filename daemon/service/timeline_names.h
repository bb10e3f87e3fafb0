// What timelines name, as messages: states, places, and what calls are about.
//
// Pure functions. Names are cut at max_label_bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/span_index.h"
#include "longpole/v1/analyses.pb.h"
#include "longpole/v1/timeline.pb.h"
#include "trace/recording.h"

namespace longpole::service {

[[nodiscard]] inline double to_double(Nanoseconds time) {
  return static_cast<double>(time.count());
}
[[nodiscard]] std::string label(std::string_view name);
[[nodiscard]] v1::TimelineState state_of(analysis::SpanState state);
void write_place(const Recording& recording, StackId frame, v1::Place& message);
void write_object(const Object& object, std::uint32_t id, v1::TimelineObject& message);
// That a thread ends, which others wait for.
void write_thread_end(const Thread& thread, std::uint32_t id, v1::TimelineObject& message);
// What a call is about: an object, or a thread. False: neither.
[[nodiscard]] bool write_subject(const Recording& recording, const Event& event,
                                 v1::TimelineObject& message);

}  // namespace longpole::service
