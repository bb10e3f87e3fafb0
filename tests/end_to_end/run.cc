#include "run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

namespace longpole::end_to_end {
namespace {

namespace fs = std::filesystem;

const fs::path build = LONGPOLE_BUILD_DIRECTORY;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// In the child: from here to exec, nothing that another thread of the parent may hold a lock for.
[[noreturn]] void become(char* const* arguments, char* const* environment, const char* directory,
                         int output, int errors) {
  if (chdir(directory) == 0 && dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
    execvpe(arguments[0], arguments, environment);
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings)
    result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

ProgramRun run_program(const std::vector<std::string>& command, const fs::path& directory,
                       const std::vector<std::string>& environment) {
  const ScratchFolder scratch;
  const fs::path output = scratch.path() / "output";
  const fs::path errors = scratch.path() / "errors";
  const int output_file = open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int errors_file = open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (output_file < 0 || errors_file < 0)
    fail("making a file for the output");

  std::vector<std::string> words = command;
  std::vector<std::string> variables = environment;
  for (char** variable = environ; *variable != nullptr; variable++)
    variables.emplace_back(*variable);
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> all_variables = pointers(variables);
  const pid_t child = fork();
  if (child < 0)
    fail("fork");
  if (child == 0)
    become(arguments.data(), all_variables.data(), directory.c_str(), output_file, errors_file);
  close(output_file);
  close(errors_file);

  int status = 0;
  if (waitpid(child, &status, 0) != child)
    fail("waitpid");
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .output = read_file(output),
          .errors = read_file(errors)};
}

ScratchFolder::ScratchFolder() {
  std::string name = fs::temp_directory_path() / "longpole-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    fail("making a scratch folder");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Recorded::Recorded(const std::vector<std::string>& command, const Parts& parts)
    : program_(fs::path(command[0]).filename()) {
  std::vector<std::string> words = {build / "bin/longpole", "record", "-o", "run.lptrace", "--"};
  words.insert(words.end(), command.begin(), command.end());
  run_ = run_program(words, folder(),
                     {"LD_PRELOAD=" LONGPOLE_CPU_TIME_USED, "CPU_TIME_USED=" + folder().string()});
  EXPECT_EQ(run_.status, 0) << run_.errors;
  if (!parts.empty())
    bring_into(parts);
}

void Recorded::bring_into(const Parts& parts) {
  std::map<std::string, double> times;
  for (const auto& row : functions(1)) {
    if (parts.contains(row["function"]))
      times[row["function"]] += row["self_ns"].get<double>();
  }
  double unit = std::numeric_limits<double>::infinity();
  for (const auto& [function, part] : parts)
    unit = std::min(unit, times[function] / part);
  std::vector<std::string> arguments = {"whatif", recording_, "--cpus", "1", "-o", "parts.lptrace"};
  for (const auto& [function, part] : parts) {
    arguments.emplace_back("--speed");
    arguments.push_back(function + "=" + std::to_string(100 * (1 - unit * part / times[function])));
  }
  (void)longpole(arguments);
  recording_ = "parts.lptrace";
}

std::int64_t Recorded::cpu_time_used_ns() const {
  return std::stoll(read_file(folder() / (program_ + ".cpu-time")));
}

std::int64_t Recorded::recording_ns() const {
  std::istringstream dumped(
      run_program({build / "bin/longpole", "dump", recording_}, folder()).output);
  const std::string label = "cost-per-event ";  // "cost-per-event 12ns"
  std::int64_t cost_ns = 0;
  std::int64_t events = 0;
  for (std::string line; std::getline(dumped, line);) {
    if (line.starts_with(label))
      cost_ns = std::stoll(line.substr(label.size()));
    else if (line.front() >= '0' && line.front() <= '9')
      ++events;
  }
  return cost_ns * events;
}

nlohmann::json Recorded::longpole(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {build / "bin/longpole"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.emplace_back("--json");
  const ProgramRun result = run_program(words, folder());
  EXPECT_EQ(result.status, 0) << result.errors;
  return nlohmann::json::parse(result.output);
}

nlohmann::json Recorded::simulate(const std::string& cpus, const std::string& costs) const {
  return longpole({"simulate", recording_, "--cpus", cpus, "--costs", costs})["runs"];
}

std::int64_t Recorded::completion_time_ns(int cpus, const std::string& costs) const {
  return simulate(std::to_string(cpus), costs)[0]["total_ns"];
}

double Recorded::speedup(int cpus) const {
  return simulate(std::to_string(cpus))[0]["speedup"];
}

std::int64_t Recorded::cpu_time_ns(const std::string& thread) const {
  std::int64_t cpu_time_ns = 0;
  const nlohmann::json report = longpole({"report", recording_, "--by", "thread"});
  for (const auto& row : report["rows"]) {
    if (row["thread"] == thread)
      cpu_time_ns += row["self_ns"].get<std::int64_t>();
  }
  return cpu_time_ns;
}

double Recorded::saved(const std::string& change, int cpus) const {
  return longpole({"whatif", recording_, "--cpus", std::to_string(cpus), "--speed",
                   change})["runs"][0]["saved"];
}

nlohmann::json Recorded::functions(int cpus) const {
  return longpole(
      {"report", recording_, "--cpus", std::to_string(cpus), "--by", "function"})["rows"];
}

double Recorded::critical_share(const std::string& function, int cpus) const {
  double share = 0;
  for (const auto& row : functions(cpus)) {
    if (row["function"] == function)
      share += row["critical_share"].get<double>();
  }
  return share;
}

std::string Recorded::leader(const std::vector<std::string>& functions, int cpus) const {
  return *std::max_element(functions.begin(), functions.end(), [&](auto& left, auto& right) {
    return critical_share(left, cpus) < critical_share(right, cpus);
  });
}

std::unique_ptr<Recorded> recorded_until(const std::vector<std::string>& command,
                                         const std::function<bool(const Recorded&)>& holds,
                                         const Parts& parts) {
  auto recorded = std::make_unique<Recorded>(command, parts);
  for (int others = 7; others > 0 && !holds(*recorded); --others)
    recorded = std::make_unique<Recorded>(command, parts);
  return recorded;
}

double best_one_cpu_ratio(const std::vector<std::string>& command) {
  double best = 0;
  for (int attempt = 0; attempt < 8 && std::abs(best - 1) > 0.03; attempt++) {
    const Recorded recorded(command);
    const double ratio = static_cast<double>(recorded.completion_time_ns(1)) /
                         static_cast<double>(recorded.cpu_time_used_ns() - recorded.recording_ns());
    if (std::abs(ratio - 1) < std::abs(best - 1))
      best = ratio;
  }
  return best;
}

std::string example(const std::string& name) {
  return build / "examples" / name;
}

}  // namespace longpole::end_to_end
