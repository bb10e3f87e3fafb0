#include "recording/run_delays.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <sstream>

#include "recording/run_files.h"

namespace longpole::recording {

RunDelayRecorder::RunDelayRecorder(pid_t pid, const std::filesystem::path& run_directory)
    : tasks_(fmt::format("/proc/{}/task", pid)),
      file_(::open((run_directory / run_delays_file).c_str(),
                   O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600)) {}

void RunDelayRecorder::snapshot(std::int64_t now_ns) {
  std::string lines;
  std::error_code error;
  for (std::filesystem::directory_iterator task(tasks_, error), end; !error && task != end;
       task.increment(error)) {
    // CPU time, waiting time, number of slices.
    std::istringstream fields(read_special_file(task->path() / "schedstat"));
    std::int64_t used = 0;
    std::int64_t waited = 0;
    if (fields >> used >> waited)
      lines += fmt::format("{} {} {}\n", now_ns, task->path().filename().string(), waited);
  }
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
