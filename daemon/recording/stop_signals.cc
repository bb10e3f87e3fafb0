#include "recording/stop_signals.h"

#include <signal.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace longpole::recording {
namespace {

constexpr std::array signals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Signal handlers can be told nothing.
std::atomic<pid_t> running{0};
std::atomic<int> come{0};

int living = 0;
std::array<struct sigaction, signals.size()> before{};

void end_running(int signal) {
  const int earlier = come.exchange(signal);
  if (const pid_t pid = running; pid != 0)
    ::kill(pid, earlier == 0 ? SIGTERM : SIGKILL);
}

}  // namespace

StopSignals::StopSignals() {
  if (living++ != 0)
    return;
  struct sigaction action = {};
  action.sa_handler = &end_running;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals.at(i), nullptr, &before.at(i));
    if (before.at(i).sa_handler != SIG_IGN)
      ::sigaction(signals.at(i), &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  if (--living != 0)
    return;
  for (std::size_t i = 0; i < signals.size(); ++i)
    ::sigaction(signals.at(i), &before.at(i), nullptr);
  if (const int signal = come.exchange(0); signal != 0)
    ::raise(signal);
}

bool StopSignals::has_come() {
  return come != 0;
}

void StopSignals::take() {
  come = 0;
}

void StopSignals::begin_program(pid_t program) {
  running = program;
  if (come != 0)
    ::kill(program, SIGTERM);
}

void StopSignals::end_program() {
  running = 0;
}

}  // namespace longpole::recording
