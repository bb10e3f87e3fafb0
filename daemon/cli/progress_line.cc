#include "cli/progress_line.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "cli/human.h"

namespace longpole::cli {
namespace {

using namespace std::chrono_literals;

bool is_terminal() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

void write_to_terminal(std::string_view text) {
  // A terminal that takes no more has nobody to show it to.
  if (write(STDERR_FILENO, text.data(), text.size()) < 0)
    return;
}

// Writes `text` at the right edge of the current line; `shown` is how wide it was last time.
void draw(const std::string& text, std::size_t shown) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return;
  const std::size_t width = std::max(columns(text), shown);
  if (width >= size.ws_col)
    return;
  const std::string padding(width - columns(text), ' ');
  // Save the cursor, go to the column, write, restore the cursor.
  write_to_terminal(fmt::format("\0337\033[{}G{}{}\0338", size.ws_col - width + 1, padding, text));
}

}  // namespace

ProgressLine::ProgressLine(std::string doing) : enabled_(is_terminal()), doing_(std::move(doing)) {
  if (!enabled_)
    return;
  // Signals are for the thread that waits for them.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::jthread([this](const std::stop_token& stop) { show_until_stopped(stop); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ProgressLine::~ProgressLine() = default;

void ProgressLine::set(std::string doing) {
  const std::lock_guard lock(mutex_);
  doing_ = std::move(doing);
}

void ProgressLine::show_until_stopped(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::size_t shown = 0;
  for (auto pause = 500ms;
       !changed_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); });
       pause = 1000ms) {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
    const std::string text = fmt::format(" {} · {} s ", doing_, seconds.count());
    draw(text, shown);
    shown = columns(text);
  }
  if (shown > 0)
    draw("", shown);
}

}  // namespace longpole::cli
