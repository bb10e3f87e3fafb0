// What keys do that a terminal makes signals of: `longpole record` on a terminal of its own.
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace longpole {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Terminal {
 public:
  // `longpole record` with these words, in a directory of its own.
  explicit Terminal(std::vector<std::string> words) {
    words.insert(words.begin(), {"longpole", "record", "-o", "run.lptrace"});
    std::vector<char*> arguments;
    for (std::string& word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    fs::create_directories(directory_);
    child_ = ::forkpty(&keys_, nullptr, nullptr, nullptr);
    if (child_ == 0) {
      const std::string longpole = std::string(LONGPOLE_BINARIES) + "/longpole";
      ::chdir(directory_.c_str());
      ::execv(longpole.c_str(), arguments.data());
      ::_exit(127);
    }
  }
  ~Terminal() {
    if (child_ > 0)
      static_cast<void>(exit_status());
    ::close(keys_);
    fs::remove_all(directory_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void press(char key) const { ASSERT_EQ(::write(keys_, &key, 1), 1); }

  // As another process does, of us alone.
  void interrupt_recorder() const { ASSERT_EQ(::kill(child_, SIGINT), 0); }

  // Whether the text comes within half a minute.
  [[nodiscard]] bool shows(const std::string& text) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (shown_.find(text) == std::string::npos) {
      pollfd readable{keys_, POLLIN, 0};
      if (::poll(&readable, 1, 100) > 0 && !read_some())
        break;
      if (std::chrono::steady_clock::now() > end)
        break;
    }
    return shown_.find(text) != std::string::npos;
  }

  // Once it has ended; all that it printed is in `shown` then.
  [[nodiscard]] int exit_status() {
    while (read_some()) {
    }
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  [[nodiscard]] const std::string& shown() const { return shown_; }

 private:
  bool read_some() {
    std::array<char, 4096> buffer{};
    const ssize_t size = ::read(keys_, buffer.data(), buffer.size());
    if (size > 0)
      shown_.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  const fs::path directory_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  int keys_ = -1;
  pid_t child_ = -1;
  std::string shown_;
};

// One of its ways.
std::vector<std::string> specimen(const std::string& way) {
  return {"--", std::string(LONGPOLE_SPECIMENS) + "/cli_threads", way};
}

constexpr char control_c = '\x03';
constexpr char control_backslash = '\x1c';

TEST(Terminal, LeavesInterruptsToTheProgramOnceEach) {
  Terminal terminal(specimen("interrupts"));
  ASSERT_TRUE(terminal.shows("computed interrupts"));
  terminal.press(control_c);
  EXPECT_TRUE(terminal.shows("interrupt 1"));
  EXPECT_TRUE(terminal.shows("cli_threads goes on after Ctrl-C; Ctrl-\\ ends it"));
  terminal.interrupt_recorder();
  EXPECT_EQ(terminal.exit_status(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("interrupt 2"));
  EXPECT_THAT(terminal.shown(), HasSubstr("longpole: recorded"));
  EXPECT_THAT(terminal.shown(), testing::Not(HasSubstr("ended by a signal")));
}

TEST(Terminal, EndsTheProgramByControlBackslashAndKeepsTheRecording) {
  Terminal terminal(specimen("interrupts"));
  ASSERT_TRUE(terminal.shows("computed interrupts"));
  terminal.press(control_backslash);
  EXPECT_EQ(terminal.exit_status(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("longpole: recorded"));
  EXPECT_THAT(terminal.shown(),
              HasSubstr("The program was stopped; all that it did until then is here."));
}

TEST(Terminal, KeepsTheRecordingWhenItsFurtherRunsAreStopped) {
  for (const char key : {control_c, control_backslash}) {
    Terminal terminal({"--turns", "3", "--", "sh", "-c",
                       "test -e seen && { echo again > /dev/tty; exec sleep 20; }; touch seen"});
    ASSERT_TRUE(terminal.shows("again"));
    terminal.press(key);
    EXPECT_EQ(terminal.exit_status(), 1);
    EXPECT_THAT(terminal.shown(), HasSubstr("was not found out: it was stopped"));
    EXPECT_THAT(terminal.shown(), HasSubstr("longpole: recorded"));
  }
}

}  // namespace
}  // namespace longpole
