// A viewport of 10 million events of 200 threads as an editor gets it, over the daemon's
// socket: the time from the request to the last byte of the answer, the CPU time of the daemon meanwhile,
// and the size of the answer. The answer is not read here: an editor does that in a process of its own.
// Each answer that takes longer than it may is told by itself: with what the daemon computed, what others had
// of the CPUs that its threads were ready for, and how long the same request takes when it is made again. What
// is ours is slow again.
#include <fmt/format.h>
#include <grpcpp/generic/generic_stub.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>
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
constexpr int runs_again = 5;
constexpr std::pair<v1::TimelineColour, const char*> colours[] = {
    {v1::TIMELINE_COLOUR_STATE, "state"},
    {v1::TIMELINE_COLOUR_WEIGHT, "weight"},
    {v1::TIMELINE_COLOUR_PLACE, "function"},
    {v1::TIMELINE_COLOUR_OBJECT, "lock"}};

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr Milliseconds longest{30};  // DESIGN section 9

Milliseconds cpu_time(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &time) != 0)
    throw std::runtime_error("cannot read the daemon's CPU time");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// How long threads of the daemon were ready and had no CPU.
Milliseconds waited_for_cpus(pid_t pid) {
  std::uint64_t sum_ns = 0;
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid))) {
    std::uint64_t on_cpu_ns = 0;
    std::uint64_t ready_ns = 0;
    std::ifstream(task.path() / "schedstat") >> on_cpu_ns >> ready_ns;
    sum_ns += ready_ns;
  }
  return std::chrono::nanoseconds(sum_ns);
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
    Milliseconds waited{};
    std::size_t bytes = 0;
  };
  Cost ask(const v1::GetTimelineRequest& request) {
    grpc::ClientContext context;
    const std::string words = request.SerializeAsString();
    const grpc::Slice slice(words);
    const grpc::ByteBuffer asked(&slice, 1);
    grpc::ByteBuffer answer;
    std::promise<grpc::Status> ended;
    const Milliseconds waited_before = waited_for_cpus(pid_);
    const Milliseconds cpu_before = cpu_time(pid_);
    const auto before = std::chrono::steady_clock::now();
    stub_.UnaryCall(&context, "/longpole.v1.Longpole/GetTimeline", {}, &asked, &answer,
                    [&](const grpc::Status& status) { ended.set_value(status); });
    const grpc::Status status = ended.get_future().get();
    const Milliseconds wall = std::chrono::steady_clock::now() - before;
    if (!status.ok())
      throw std::runtime_error(status.error_message());
    const Milliseconds cpu = cpu_time(pid_) - cpu_before;
    return {wall, cpu, waited_for_cpus(pid_) - waited_before, answer.Length()};
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

// What all answers of this program came to.
struct Tally {
  std::size_t answers = 0;
  std::size_t late = 0;
  std::size_t late_again = 0;  // of those, in the median of the same request made again
};

// Looks at an answer that took too long: at others of the same daemon first, so that it finds no more in the
// caches than it did before.
void ask_again(Editor& editor, const v1::GetTimelineRequest& request, const Editor::Cost& late,
               Tally& tally) {
  v1::GetTimelineRequest other = request;
  other.mutable_view()->set_from_ns(0);
  std::vector<double> again;
  for (int run = 0; run < runs_again; ++run) {
    editor.ask(other);
    again.push_back(editor.ask(request).wall.count());
  }
  tally.late++;
  if (middle(again) > longest.count())
    tally.late_again++;
  fmt::print(
      "    from {:.0f} ns on: wall {:.2f} ms, CPU {:.2f} ms, {:.2f} ms ready without a CPU; again: "
      "wall {:.2f} ms, worst {:.2f}\n",
      request.view().from_ns(), late.wall.count(), late.cpu.count(), late.waited.count(),
      middle(again), *std::max_element(again.begin(), again.end()));
}

// So many viewports of one width, side by side over the whole run.
void measure_width(Editor& editor, v1::GetTimelineRequest request, double total, double parts,
                   const char* colour, Tally& tally) {
  const double width = total / parts;
  std::vector<double> wall;
  std::vector<double> cpu;
  std::size_t bytes = 0;
  std::vector<std::pair<double, Editor::Cost>> late;
  for (int run = 0; run < runs; ++run) {
    const double from = (total - width) * run / (runs - 1);
    request.mutable_view()->set_from_ns(from);
    request.mutable_view()->set_to_ns(from + width);
    const Editor::Cost cost = editor.ask(request);
    wall.push_back(cost.wall.count());
    cpu.push_back(cost.cpu.count());
    bytes = std::max(bytes, cost.bytes);
    if (cost.wall > longest)
      late.emplace_back(from, cost);
  }
  tally.answers += wall.size();
  fmt::print(
      "  1/{:<5}{:<9}  wall {:6.2f} ms, worst {:6.2f}   CPU {:6.2f} ms, worst {:6.2f}   {:8.1f} "
      "kB\n",
      parts, colour, middle(wall), *std::max_element(wall.begin(), wall.end()), middle(cpu),
      *std::max_element(cpu.begin(), cpu.end()), static_cast<double>(bytes) / 1e3);
  for (const auto& [from, cost] : late) {
    request.mutable_view()->set_from_ns(from);
    request.mutable_view()->set_to_ns(from + width);
    ask_again(editor, request, cost, tally);
  }
}

void measure(const std::string& name, const Recording& recording) {
  const testing::TemporaryDirectory directory;
  const auto path = directory.path() / "run.lptrace";
  if (const auto saved = storage::save_recording(recording, path); !saved)
    throw std::runtime_error(saved.error().text());
  testing::Daemon daemon;
  const std::uint64_t handle = testing::Client(daemon).open(path).handle();
  Editor editor(daemon);
  Tally tally;
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
      for (double parts = 1; parts <= 4096; parts *= 8)
        measure_width(editor, request, total, parts, word, tally);
    }
  }
  fmt::print("{} of {} answers took longer than {:.0f} ms; made again, {} did\n", tally.late,
             tally.answers, longest.count(), tally.late_again);
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
