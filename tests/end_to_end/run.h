// Runs programs as a user would, for the tests of the whole way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace longpole::end_to_end {

struct ProgramRun {
  int status = -1;  // exit status; 128 and more: the signal that ended it
  std::string output;
  std::string errors;
};

// Runs `command`, whose first word is a path or is looked up in PATH, in `directory`, with
// `environment` (NAME=VALUE) added to our own, and waits for its end.
[[nodiscard]] ProgramRun run_program(const std::vector<std::string>& command,
                                     const std::filesystem::path& directory,
                                     const std::vector<std::string>& environment = {});

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// A folder that is gone at the end of the test.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A program recorded with the built `longpole`, and what that says about it. The test fails where
// longpole does.
//
// How much of the CPU time each function takes depends on the processor: one guesses branches better, another is
// quicker to multiply. With `parts`, of their CPU time together, all that is said is of the program with these
// functions in that proportion, as whatif makes it: none takes longer than it did.
using Parts = std::map<std::string, double>;  // by function
class Recorded {
 public:
  explicit Recorded(const std::vector<std::string>& command, const Parts& parts = {});

  [[nodiscard]] const ProgramRun& recorded_run() const { return run_; }
  [[nodiscard]] std::filesystem::path folder() const { return folder_.path(); }
  // As the kernel counts it for the recorded program, until shortly before its end.
  [[nodiscard]] std::int64_t cpu_time_used_ns() const;
  // Of that, what recording took and is taken out again, as the recording says.
  [[nodiscard]] std::int64_t recording_ns() const;

  // `costs`: as --costs names them.
  [[nodiscard]] nlohmann::json simulate(const std::string& cpus,
                                        const std::string& costs = "recorded") const;
  [[nodiscard]] std::int64_t completion_time_ns(int cpus,
                                                const std::string& costs = "recorded") const;
  [[nodiscard]] double speedup(int cpus) const;

  // What the threads of that name computed.
  [[nodiscard]] std::int64_t cpu_time_ns(const std::string& thread) const;

  // The part of the completion time that --speed CHANGE saves, as whatif predicts.
  [[nodiscard]] double saved(const std::string& change, int cpus) const;

  // The rows of report --by function, as they come: the heaviest first.
  [[nodiscard]] nlohmann::json functions(int cpus) const;
  // Critical share of a function, 0 where it has no row.
  [[nodiscard]] double critical_share(const std::string& function, int cpus) const;
  // The first of `functions` by critical share.
  [[nodiscard]] std::string leader(const std::vector<std::string>& functions, int cpus) const;

 private:
  [[nodiscard]] nlohmann::json longpole(const std::vector<std::string>& arguments) const;
  void bring_into(const Parts& parts);

  ScratchFolder folder_;
  std::string program_;                    // its name
  std::string recording_ = "run.lptrace";  // that questions are asked of
  ProgramRun run_;
};

// The first of up to eight recordings of `command` of which `holds` says yes, or the last of them:
// what another program does on the core or in its caches makes parts of one recording longer.
[[nodiscard]] std::unique_ptr<Recorded> recorded_until(
    const std::vector<std::string>& command, const std::function<bool(const Recorded&)>& holds,
    const Parts& parts = {});

// What is predicted for one CPU over the CPU time used without that for recording: the value next to 1 of up to eight
// recordings, because a wait for a CPU that another program has is at times mistaken for a wait of
// the program's own.
[[nodiscard]] double best_one_cpu_ratio(const std::vector<std::string>& command);

// The path of an example, built with this tree.
[[nodiscard]] std::string example(const std::string& name);

}  // namespace longpole::end_to_end
