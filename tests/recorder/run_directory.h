// A run directory as the launcher makes it, and a reader of the raw records in it that shares
// nothing with the daemon's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "longpole/raw_record.h"

namespace longpole::test {

struct RawThread {
  std::uint32_t number = 0;
  std::int32_t tid = 0;
  std::uint32_t creator = UINT32_MAX;
  std::uint64_t start_function = 0;
  std::uint64_t handle = 0;
  std::uint32_t chunks = 0;
  std::vector<longpole_record> records;    // without empty slots
  std::vector<longpole_record> overheads;  // what recording itself did, as far as it says
};

std::uint64_t other_of(const longpole_record& record);
unsigned kind_of(const longpole_record& record);
unsigned flags_of(const longpole_record& record);

class RunDirectory {
 public:
  RunDirectory() : RunDirectory(std::filesystem::temp_directory_path()) {}
  explicit RunDirectory(const std::filesystem::path& parent);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] longpole_control& control() { return *control_; }

  // Those of the processes that were followed, as long as this one lasts.
  [[nodiscard]] std::vector<std::unique_ptr<RunDirectory>> children() const;

  // In order of number. Fails the test when the chunks contradict each other.
  [[nodiscard]] std::vector<RawThread> threads() const;

 private:
  RunDirectory(const RunDirectory& first, std::uint32_t child);

  std::filesystem::path path_;
  longpole_control* control_ = nullptr;
};

// The records of one kind, of all threads or one.
std::vector<longpole_record> of_kind(const std::vector<RawThread>& threads, longpole_kind kind);
std::vector<longpole_record> of_kind(const RawThread& thread, longpole_kind kind);

}  // namespace longpole::test
