// A viewport of 10 million events of 200 threads as an editor gets it, over the daemon's
// socket: the time from the request to the last byte of the answer, the CPU time of the daemon meanwhile,
// and the size of the answer. The answer is not read here: an editor does that in a process of its own.
#include <fmt/format.h>
#include <grpcpp/generic/generic_stub.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "client.h"
#include "daemon.h"
#include "engine_recordings.h"
#include "longpole/v1/longpole.grpc.pb.h"
#include "storage/load.h"

namespace longpole {
namespace {

constexpr std::uint32_t threads = 200;
constexpr std::size_t events = 10'000'000;
constexpr std::uint32_t cpus = 16;
constexpr std::uint32_t pixels = 2000;
constexpr int runs = 15;
constexpr std::pair<v1::TimelineColour, const char*> colours[] = {
    {v1::TIMELINE_COLOUR_STATE, "state"},
    {v1::TIMELINE_COLOUR_WEIGHT, "weight"},
    {v1::TIMELINE_COLOUR_PLACE, "function"},
    {v1::TIMELINE_COLOUR_OBJECT, "lock"}};

using Milliseconds = std::chrono::duration<double, std::milli>;

Milliseconds cpu_time(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    throw std::runtime_error("cannot read the daemon's CPU time");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

template <typename T>
T middle(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Editor {
 public:
  explicit Editor(const testing::Daemon& daemon)
      : pid_(daemon.pid()), stub_(testing::Client(daemon).channel()) {}

  struct Cost {
    Milliseconds wall{};
    Milliseconds cpu{};
    std::size_t bytes = 0;
  };
  Cost ask(const v1::GetTimelineRequest& request) {
    grpc::ClientContext context;
    const std::string words = request.SerializeAsString();
    const grpc::Slice slice(words);
    const grpc::ByteBuffer asked(&slice, 1);
    grpc::ByteBuffer answer;
    std::promise<grpc::Status> ended;
    const Milliseconds cpu_before = cpu_time(pid_);
    const auto before = std::chrono::steady_clock::now();
    stub_.UnaryCall(&context, "/longpole.v1.Longpole/GetTimeline", {}, &asked, &answer,
                    [&](const grpc::Status& status) { ended.set_value(status); });
    const grpc::Status status = ended.get_future().get();
    const Milliseconds wall = std::chrono::steady_clock::now() - before;
    if (!status.ok())
      throw std::runtime_error(status.error_message());
    return {wall, cpu_time(pid_) - cpu_before, answer.Length()};
  }

 private:
  pid_t pid_;
  grpc::GenericStub stub_;
};

double total_ns(const testing::Daemon& daemon, v1::GetTimelineRequest request) {
  request.set_without_rows(true);
  request.clear_rows();
  v1::GetTimelineResponse whole;
  grpc::ClientContext context;
  const grpc::Status status = testing::Client(daemon).stub().GetTimeline(&context, request, &whole);
  if (!status.ok())
    throw std::runtime_error(status.error_message());
  return whole.total_ns();
}

void measure(const std::string& name, const Recording& recording) {
  const testing::TemporaryDirectory directory;
  const auto path = directory.path() / "run.lptrace";
  if (const auto saved = storage::save_recording(recording, path); !saved)
    throw std::runtime_error(saved.error().text());
  testing::Daemon daemon;
  const std::uint64_t handle = testing::Client(daemon).open(path).handle();
  Editor editor(daemon);
  for (const std::string scheduler : {"shared", "linux"}) {
    v1::GetTimelineRequest request;
    request.set_handle(handle);
    request.mutable_simulation()->set_cpus(cpus);
    request.mutable_simulation()->set_scheduler(scheduler);
    request.mutable_view()->set_pixels(pixels);
    for (std::uint32_t t = 0; t < threads; ++t)
      request.add_rows(t);
    const Editor::Cost first = editor.ask(request);
    fmt::print("{} {}: simulated, indexed and drawn in {:.0f} ms\n", name, scheduler,
               first.wall.count());
    const double total = total_ns(daemon, request);
    for (const auto& [colour, word] : colours) {
      request.set_colour(colour);
      for (double parts = 1; parts <= 4096; parts *= 8) {
        const double width = total / parts;
        std::vector<double> wall;
        std::vector<double> cpu;
        std::size_t bytes = 0;
        for (int run = 0; run < runs; ++run) {
          const double from = (total - width) * run / (runs - 1);
          request.mutable_view()->set_from_ns(from);
          request.mutable_view()->set_to_ns(from + width);
          const Editor::Cost cost = editor.ask(request);
          wall.push_back(cost.wall.count());
          cpu.push_back(cost.cpu.count());
          bytes = std::max(bytes, cost.bytes);
        }
        fmt::print("  1/{:<5}{:<9}  wall {:6.2f} ms, worst {:6.2f}   CPU {:6.2f} ms   {:8.1f} kB\n",
                   parts, word, middle(wall), *std::max_element(wall.begin(), wall.end()),
                   middle(cpu), static_cast<double>(bytes) / 1e3);
      }
    }
  }
}

}  // namespace
}  // namespace longpole

int main() try {
  using longpole::events;
  using longpole::threads;
  longpole::measure("threads side by side,", longpole::busy_recording(threads, events));
  longpole::measure("one lock for all,", longpole::contended_recording(threads, events));
  return 0;
} catch (const std::exception& error) {
  static_cast<void>(std::fputs(error.what(), stderr));
  return 1;
}
