#include "recording/run_delays.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "recording/run_files.h"

namespace longpole::recording {

RunDelayRecorder::RunDelayRecorder(pid_t pid, const std::filesystem::path& run_directory)
    : pid_(pid),
      file_(::open((run_directory / run_delays_file).c_str(),
                   O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)) {}

RunDelayRecorder::~RunDelayRecorder() {
  std::string lines;
  for (const auto& [tid, last] : seen_)
    lines += last_line(tid, last);
  static_cast<void>(write_all(file_.get(), lines.data(), lines.size()));
}

std::string RunDelayRecorder::last_line(std::int32_t tid, const Seen& seen) {
  return seen.written ? "" : fmt::format("{} {} {}\n", seen.last_ns, tid, seen.waited);
}

void RunDelayRecorder::snapshot() {
  std::string lines;
  std::map<std::int32_t, Seen> now;
  for (const TaskTimes& task : task_times(pid_)) {
    const std::int32_t tid = task.thread;
    const std::int64_t waited = task.waited.count();
    const auto before = seen_.find(tid);
    const bool changed = before == seen_.end() || before->second.waited != waited;
    if (changed && before != seen_.end())
      lines += last_line(tid, before->second);
    if (changed)
      lines += fmt::format("{} {} {}\n", task.time_ns, tid, waited);
    now.emplace(tid, Seen{waited, task.time_ns, changed});
  }
  for (const auto& [tid, last] : seen_)
    if (!now.contains(tid))
      lines += last_line(tid, last);
  seen_ = std::move(now);
  static_cast<void>(write_all(file_.get(), lines.data(), lines.size()));
}

std::map<std::int32_t, CpuCurve> read_run_delays(std::string_view lines, std::int64_t base_ns) {
  std::map<std::int32_t, CpuCurve> delays;
  std::istringstream in{std::string(lines)};
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::int64_t time = 0;
    std::int32_t tid = 0;
    std::int64_t waited = 0;
    if (fields >> time >> tid >> waited)
      delays[tid].add(time - base_ns, waited);
  }
  return delays;
}

}  // namespace longpole::recording
