// How the daemon starts, where it listens, and everything that ends it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "client.h"
#include "daemon.h"

namespace longpole::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

fs::path private_directory(const TemporaryDirectory& in) {
  fs::create_directory(in.path() / "mine");
  fs::permissions(in.path() / "mine", fs::perms::owner_all);
  return in.path() / "mine";
}

void expect_refused(const Outcome& outcome, int status, const std::string& why) {
  EXPECT_EQ(outcome.status, status);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, AllOf(StartsWith("longpole: cannot listen on "), HasSubstr(why)));
}

TEST(Lifetime, ReadyOnceAClientMayConnect) {
  Daemon daemon;
  EXPECT_EQ(daemon.ready().at("pid"), daemon.pid());
  EXPECT_TRUE(daemon.ready().at("version").is_string());
  EXPECT_EQ(Client(daemon).info().version(), daemon.ready().at("version").get<std::string>());
}

TEST(Lifetime, TheSocketIsInADirectoryOfItsUser) {
  TemporaryDirectory directory;
  Daemon daemon({{"--parent-stdin"}, {{"XDG_RUNTIME_DIR", directory.path().string()}}});
  const fs::path socket = daemon.socket();
  EXPECT_EQ(socket.parent_path().parent_path(), directory.path());
  EXPECT_EQ(mode_of(socket.parent_path()), 0700U);
  EXPECT_EQ(mode_of(socket), 0600U);
  EXPECT_TRUE(fs::is_socket(socket));

  Daemon second({{"--parent-stdin"}, {{"XDG_RUNTIME_DIR", directory.path().string()}}});
  EXPECT_NE(second.socket(), daemon.socket());
}

TEST(Lifetime, ABaseThatIsTooLongOrMissingIsPassedOver) {
  TemporaryDirectory directory;
  const fs::path longer = directory.path() / std::string(100, 'x');
  fs::create_directory(longer);
  Daemon daemon({{"--parent-stdin"},
                 {{"XDG_RUNTIME_DIR", (directory.path() / "missing").string()},
                  {"TMPDIR", longer.string()}}});
  EXPECT_THAT(daemon.socket(), StartsWith("/tmp/longpole-"));
}

TEST(Lifetime, ASocketWhereTheUserWantsIt) {
  TemporaryDirectory directory;
  const fs::path made = directory.path() / "made 100%";
  const std::string socket = (made / "s").string();
  Daemon daemon({{"--socket", socket}, {}});
  EXPECT_EQ(daemon.socket(), socket);
  EXPECT_EQ(mode_of(made), 0700U);
  EXPECT_EQ(Client(daemon).info().protocol(), 1U);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.exit_status(), 0);
  EXPECT_FALSE(fs::exists(made));
}

TEST(Lifetime, ADirectoryOpenToOthersIsRefused) {
  TemporaryDirectory directory;
  const fs::path open = private_directory(directory);
  for (const fs::perms wrong : {fs::perms::group_exec, fs::perms::others_read}) {
    fs::permissions(open, fs::perms::owner_all | wrong);
    expect_refused(run_serve({"--socket", (open / "s").string()}), 2, "others can enter");
  }
  EXPECT_TRUE(fs::exists(open)) << "only what it made is removed";
}

TEST(Lifetime, SomeoneElsesDirectoryIsRefused) {
  TemporaryDirectory directory;
  const fs::path other = private_directory(directory);
  if (::chown(other.c_str(), 12345, 12345) == 0)
    expect_refused(run_serve({"--socket", (other / "s").string()}), 2, "someone else's");
  else  // not root: the root directory belongs to someone else
    expect_refused(run_serve({"--socket", "/s"}), 2, "someone else's");
}

TEST(Lifetime, ALinkToADirectoryIsRefused) {
  TemporaryDirectory directory;
  fs::create_directory_symlink(private_directory(directory), directory.path() / "link");
  expect_refused(run_serve({"--socket", (directory.path() / "link" / "s").string()}), 2,
                 "not a directory");
}

TEST(Lifetime, APathThatIsTooLongIsRefused) {
  TemporaryDirectory directory;
  const fs::path mine = private_directory(directory);
  const std::string socket = (mine / std::string(107 - mine.string().size() - 1, 's')).string();
  ASSERT_EQ(socket.size(), 107U);
  expect_refused(run_serve({"--socket", socket + "s"}), 2, "107 bytes");
  Daemon daemon({{"--socket", socket}, {}});
  EXPECT_EQ(Client(daemon).info().protocol(), 1U);
}

TEST(Lifetime, ALiveSocketIsNotTakenOver) {
  TemporaryDirectory directory;
  const std::string socket = (private_directory(directory) / "s").string();
  Daemon first({{"--socket", socket}, {}});
  expect_refused(run_serve({"--socket", socket}), 1, "another daemon listens there");
  EXPECT_EQ(Client(first).info().protocol(), 1U);
}

TEST(Lifetime, ADeadSocketIsReplaced) {
  TemporaryDirectory directory;
  const std::string socket = (private_directory(directory) / "s").string();
  const int left = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::close(left);
  Daemon daemon({{"--socket", socket}, {}});
  EXPECT_EQ(Client(daemon).info().protocol(), 1U);
}

TEST(Lifetime, WhatIsNoSocketIsLeftAlone) {
  TemporaryDirectory directory;
  const fs::path mine = private_directory(directory);
  const fs::path file = directory.write("mine/s", "precious");
  expect_refused(run_serve({"--socket", file.string()}), 2, "not a socket");
  EXPECT_EQ(fs::file_size(file), 8U);
}

TEST(Lifetime, EndsOnSignalsAndCleansUp) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    Daemon daemon;
    const fs::path socket = daemon.socket();
    daemon.signal(number);
    EXPECT_EQ(daemon.exit_status(), 0) << number;
    EXPECT_FALSE(fs::exists(socket));
    EXPECT_FALSE(fs::exists(socket.parent_path()));
  }
}

TEST(Lifetime, EndsWhenStandardInputDoes) {
  Daemon daemon;
  const fs::path socket = daemon.socket();
  daemon.close_stdin();
  EXPECT_EQ(daemon.exit_status(), 0);
  EXPECT_FALSE(fs::exists(socket.parent_path()));
}

TEST(Lifetime, DoesNotLookAtStandardInputUnlessAsked) {
  Daemon daemon({{}, {}});
  daemon.close_stdin();
  const Client client(daemon);
  for (int i = 0; i < 20; ++i) {
    pause_briefly();
    EXPECT_EQ(client.info().protocol(), 1U);
  }
}

// Standard input stays open: another process holds its other end, as any child of an editor may.
TEST(Lifetime, EndsWhenItsParentDies) {
  TemporaryDirectory directory;
  int report[2];
  ASSERT_EQ(::pipe2(report, O_CLOEXEC), 0);
  int held[2];
  ASSERT_EQ(::pipe2(held, O_CLOEXEC), 0);
  const std::string program = longpole_program().string();
  const std::string socket = (directory.path() / "d" / "s").string();
  const pid_t parent = ::fork();
  if (parent == 0) {
    const pid_t daemon = ::fork();
    if (daemon == 0) {
      ::dup2(held[0], STDIN_FILENO);
      ::dup2(report[1], STDOUT_FILENO);
      ::execl(program.c_str(), program.c_str(), "serve", "--parent-stdin", "--socket",
              socket.c_str(), nullptr);
      ::_exit(127);
    }
    for (;;)
      ::pause();
  }
  ::close(report[1]);
  char byte = 0;
  ASSERT_EQ(::read(report[0], &byte, 1), 1) << "READY";
  ASSERT_TRUE(fs::exists(socket));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  ASSERT_TRUE(eventually([&] { return !fs::exists(socket); }));
  while (::read(report[0], &byte, 1) == 1) {
  }  // the end of standard output: the process has ended
  EXPECT_FALSE(fs::exists(fs::path(socket).parent_path()));
  for (const int fd : {report[0], held[0], held[1]})
    ::close(fd);
}

TEST(Lifetime, AClientThatStaysConnectedDoesNotHoldItUp) {
  Daemon daemon;
  const Client client(daemon);
  EXPECT_EQ(client.info().protocol(), 1U);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.exit_status(), 0);
  EXPECT_EQ(client.try_close(1).error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace longpole::testing
