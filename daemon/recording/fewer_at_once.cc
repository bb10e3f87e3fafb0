#include "recording/fewer_at_once.h"

#include <fmt/format.h>
#include <sched.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "recording/system.h"

namespace longpole::recording {
namespace {

// Those that run or wait for a CPU just now, the oldest first (proc(5), /proc/PID/task/TID/stat).
std::vector<pid_t> threads_ready_to_run(pid_t process) {
  std::vector<pid_t> out;
  std::error_code error;
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", process), error), end;
       !error && task != end; task.increment(error)) {
    // The name, in brackets, may hold anything.
    const std::string fields = read_special_file(task->path() / "stat");
    const std::size_t name_end = fields.rfind(')');
    if (name_end != std::string::npos && fields.compare(name_end, 4, ") R ") == 0)
      out.push_back(std::stoi(task->path().filename().string()));
  }
  return out;
}

}  // namespace

void hold_back_beyond(std::uint32_t most, pid_t process) {
  std::uint32_t ordinary = 0;
  for (const pid_t thread : threads_ready_to_run(process)) {
    if (::sched_getscheduler(thread) == SCHED_OTHER && ++ordinary > most) {
      const sched_param none{};
      ::sched_setscheduler(thread, SCHED_IDLE, &none);
    }
  }
}

}  // namespace longpole::recording
