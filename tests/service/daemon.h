// A running `longpole serve`, and what a person at a terminal would see of it.
//
//   Daemon daemon;                                 // waits for the READY line
//   Client client(daemon);
//   daemon.signal(SIGTERM);
//   EXPECT_EQ(daemon.exit_status(), 0);
//
// Ends the daemon when it goes out of scope. Every wait has a deadline and then fails the test.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace longpole::testing {

inline constexpr std::chrono::seconds patience(60);

// A directory of the test's own, removed at its end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Writes `text` to a file there and returns its path.
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

struct DaemonOptions {
  std::vector<std::string> arguments = {"--parent-stdin"};
  std::map<std::string, std::string> environment;  // over a clean one; see Daemon
};

// What a command of the program printed and returned; for starts that are meant to fail.
struct Outcome {
  int status = -1;
  std::string output;
  std::string errors;
};
[[nodiscard]] Outcome run_serve(const std::vector<std::string>& arguments,
                                const std::map<std::string, std::string>& environment = {});

class Daemon {
 public:
  explicit Daemon(const DaemonOptions& options = {});
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  [[nodiscard]] const nlohmann::json& ready() const { return ready_; }
  [[nodiscard]] std::string socket() const { return ready_.at("socket"); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void close_stdin();
  void signal(int number) const;
  // Waits for its end. None: a signal ended it.
  [[nodiscard]] std::optional<int> exit_status();
  [[nodiscard]] bool running() const;
  [[nodiscard]] std::string errors() const;

 private:
  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  int stdin_ = -1;
  int stdout_ = -1;
  nlohmann::json ready_;
};

[[nodiscard]] std::filesystem::path longpole_program();

// Whether `condition` comes true before patience ends.
template <typename Condition>
[[nodiscard]] bool eventually(const Condition& condition);

void pause_briefly();

template <typename Condition>
bool eventually(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition())
      return true;
    pause_briefly();
  }
  return condition();
}

}  // namespace longpole::testing
