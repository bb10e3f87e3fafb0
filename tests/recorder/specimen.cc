#include "specimen.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

namespace longpole::test {

std::string path_of(const std::string& specimen) {
  return LONGPOLE_BUILD_DIRECTORY "/bin/specimens/" + specimen;
}

namespace {

constexpr const char* kRecorder = LONGPOLE_BUILD_DIRECTORY "/lib/liblongpole-recorder.so";

using Environment = std::vector<std::pair<std::string, std::string>>;

[[noreturn]] void become(const Specimen& specimen, const Environment& environment, int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (specimen.file_size_limit) {
    const rlimit limit{*specimen.file_size_limit, *specimen.file_size_limit};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  unsetenv("LD_PRELOAD");
  unsetenv(LONGPOLE_DIRECTORY_VARIABLE);
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  if (!specimen.preload.empty()) {
    const char* recorder = getenv("LD_PRELOAD");
    std::string preload = recorder != nullptr ? recorder + std::string(":") : "";
    preload += LONGPOLE_BUILD_DIRECTORY "/bin/specimens/" + specimen.preload;
    setenv("LD_PRELOAD", preload.c_str(), 1);
  }
  std::string program = path_of(specimen.name);
  std::vector<std::string> arguments = specimen.arguments;
  std::vector<char*> argv{program.data()};
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  _exit(127);
}

Outcome run(const Specimen& specimen, const Environment& environment) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    become(specimen, environment, ends[1]);
  }
  close(ends[1]);
  Outcome outcome;
  char buffer[4096];
  // A specimen that hangs must fail its test, not stay behind.
  constexpr int kPatienceMs = 30'000;
  pollfd readable{ends[0], POLLIN, 0};
  for (ssize_t got = 0;
       poll(&readable, 1, kPatienceMs) == 1 && (got = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    outcome.output.append(buffer, static_cast<std::size_t>(got));
  }
  if (readable.revents == 0) {
    ADD_FAILURE() << specimen.name << " hangs";
    kill(child, SIGKILL);
  }
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  outcome.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return outcome;
}

}  // namespace

Outcome run_bare(const Specimen& specimen) {
  return run(specimen, {});
}

Outcome run_beside_idle_recorder(const Specimen& specimen) {
  return run(specimen, {{"LD_PRELOAD", kRecorder}});
}

Outcome run_recorded(const Specimen& specimen, const RunDirectory& directory) {
  return run(specimen,
             {{"LD_PRELOAD", kRecorder}, {LONGPOLE_DIRECTORY_VARIABLE, directory.path().string()}});
}

std::vector<RawThread> record(const Specimen& specimen) {
  const RunDirectory directory;
  run_recorded(specimen, directory);
  return directory.threads();
}

std::vector<int> results(const std::vector<longpole_record>& records) {
  std::vector<int> found;
  for (const longpole_record& record : records) {
    found.push_back(record.result);
  }
  return found;
}

std::vector<longpole_record> with_flags(const std::vector<longpole_record>& records,
                                        unsigned flags) {
  std::vector<longpole_record> found;
  std::copy_if(records.begin(), records.end(), std::back_inserter(found),
               [flags](const longpole_record& record) { return flags_of(record) == flags; });
  return found;
}

}  // namespace longpole::test
