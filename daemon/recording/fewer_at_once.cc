#include "recording/fewer_at_once.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "recording/system.h"

namespace longpole::recording {
namespace {

// So long that loading the caches anew after it is little, for threads, too, whose tables fill a share of the last one: with turns
// of 200 ms zstd's took 7% more CPU time than on two CPUs, with half a second 5%, with a second as much as there (medians of 8
// rounds beside each other). And so short that all threads get on in the time that a program takes.
constexpr std::chrono::milliseconds turn{1000};

bool could_run(const std::filesystem::path& task) {
  // The name, in brackets, may hold anything (proc(5), /proc/PID/task/TID/stat).
  const std::string fields = read_special_file(task / "stat");
  const std::size_t name_end = fields.rfind(')');
  return name_end != std::string::npos && fields.compare(name_end, 4, ") R ") == 0;
}

}  // namespace

bool may_hold_threads() {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;)
      ::pause();
  }
  if (child < 0)
    return false;
  const bool may = ::ptrace(PTRACE_SEIZE, child, nullptr, nullptr) == 0;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return may;
}

FewerAtOnce::~FewerAtOnce() {
  // One that does not stop soon goes on when this process ends.
  for (int tries = 0; !held_.empty() && tries < 1000; ++tries) {
    hear_of_held();
    while (let_go()) {
    }
    if (!held_.empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void FewerAtOnce::look() {
  hear_of_held();
  std::vector<pid_t> threads = at_work();
  const std::size_t all = threads.size() + held_.size();
  const std::size_t most = std::max<std::size_t>((all + cpus_ - 1) / cpus_, 1);
  if (threads.size() == most) {
    const pid_t longest = *std::ranges::max_element(
        threads, {}, [&](pid_t thread) { return let_.at(thread).at_work; });
    if (let_.at(longest).at_work >= turn && let_go())
      hold(longest);
    return;
  }
  for (; threads.size() > most; threads.pop_back())
    hold(threads.back());
  for (std::size_t count = threads.size(); count < most && let_go();)
    ++count;
}

std::vector<pid_t> FewerAtOnce::at_work() {
  const Clock::time_point now = Clock::now();
  const Clock::duration since_last = now - std::exchange(last_look_, now);
  std::vector<pid_t> threads;
  std::map<pid_t, Let> let;
  std::error_code error;
  for (std::filesystem::directory_iterator task(fmt::format("/proc/{}/task", process_), error), end;
       !error && task != end; task.increment(error)) {
    const pid_t thread = std::stoi(task->path().filename().string());
    if (std::ranges::find(held_, thread, &Held::thread) != held_.end())
      continue;
    const auto known = let_.find(thread);
    Let& one = let.emplace(thread, known == let_.end() ? Let{now} : known->second).first->second;
    if (!could_run(task->path()))
      continue;
    one.at_work += since_last;
    threads.push_back(thread);
  }
  let_ = std::move(let);
  std::ranges::stable_sort(threads, {}, [&](pid_t thread) { return let_.at(thread).since; });
  return threads;
}

void FewerAtOnce::hold(pid_t thread) {
  if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0)
    return;
  held_.push_back({thread});
  ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
}

bool FewerAtOnce::let_go() {
  if (held_.empty() || !held_.front().has_stopped)
    return false;
  const Held held = held_.front();
  held_.erase(held_.begin());
  // Where it was killed since it stopped, its end is to be waited for as long as this has it (ptrace(2)); that of the
  // process is for those who started it.
  if (::ptrace(PTRACE_DETACH, held.thread, nullptr, held.signal) != 0 && held.thread != process_)
    held_.push_back({held.thread});
  let_.insert_or_assign(held.thread, Let{Clock::now()});
  return true;
}

void FewerAtOnce::hear_of_held() {
  std::erase_if(held_, [&](Held& held) {
    siginfo_t news{};
    // How the process ended is for those who started it. Other threads must be waited for, or it does not end.
    const int ends = held.thread == process_ ? 0 : WEXITED;
    if (::waitid(P_PID, static_cast<id_t>(held.thread), &news,
                 WSTOPPED | ends | WNOHANG | __WALL) != 0)
      return true;
    if (news.si_pid == 0)
      return false;
    if (news.si_code != CLD_TRAPPED && news.si_code != CLD_STOPPED)
      return true;
    held.has_stopped = true;
    // Above the signal's number stands the event, if it was not one of the program's own signals that stopped it.
    if (news.si_status >> 8 == 0)
      held.signal = news.si_status;
    return false;
  });
}

}  // namespace longpole::recording
