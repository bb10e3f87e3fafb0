// One line on standard error that says what is going on, while it goes on. Only on a terminal.
//
// A recorded program may write to the same terminal. So the line never moves its cursor nor clears
// what it wrote: it stands at the right edge of the line where the cursor is, once a second.
//
//   ProgressLine progress("reading run.lptrace");
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace longpole::cli {

class ProgressLine {
 public:
  // Shows `doing` and the time since now, unless it is over within the first half second.
  explicit ProgressLine(std::string doing);
  ~ProgressLine();  // takes the line away
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void set(std::string doing);

 private:
  void show_until_stopped(const std::stop_token& stop);

  const bool enabled_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string doing_;
  std::jthread thread_;
};

}  // namespace longpole::cli
