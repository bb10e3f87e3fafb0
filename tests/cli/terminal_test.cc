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

namespace longpole {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Terminal {
 public:
  // `longpole record` of the specimen in one of its ways, in a directory of its own.
  explicit Terminal(const std::string& way) {
    fs::create_directories(directory_);
    child_ = ::forkpty(&keys_, nullptr, nullptr, nullptr);
    if (child_ == 0) {
      const std::string longpole = std::string(LONGPOLE_BINARIES) + "/longpole";
      const std::string specimen = std::string(LONGPOLE_SPECIMENS) + "/cli_threads";
      ::chdir(directory_.c_str());
      ::execl(longpole.c_str(), "longpole", "record", "-o", "run.lptrace", "--", specimen.c_str(),
              way.c_str(), nullptr);
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

constexpr char control_c = '\x03';
constexpr char control_backslash = '\x1c';

TEST(Terminal, LeavesInterruptsToTheProgramOnceEach) {
  Terminal terminal("interrupts");
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
  Terminal terminal("interrupts");
  ASSERT_TRUE(terminal.shows("computed interrupts"));
  terminal.press(control_backslash);
  EXPECT_EQ(terminal.exit_status(), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("longpole: recorded"));
  EXPECT_THAT(terminal.shown(),
              HasSubstr("The program was stopped; all that it did until then is here."));
}

}  // namespace
}  // namespace longpole
