// Can this program be recorded? Asked before anything is started, so that every refusal is one
// clear sentence with what to do.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trace/error.h"

namespace longpole::recording {

struct Program {
  std::filesystem::path path;  // absolute
  // The address sanitizer that it links to ("libasan.so.8"); it must come before the recorder in
  // LD_PRELOAD, or it refuses to run. Empty: none.
  std::string address_sanitizer;
};

// PATH as this process has it; without one, where programs are as a rule.
[[nodiscard]] std::string own_search_path();

// `name`: a path (relative ones against `directory`), or a name looked up in `search_path` (the
// form of PATH). Scripts are judged by their interpreter. Errors: not_found where there is nothing
// of that name, else bad_input.
[[nodiscard]] Expected<Program> check_program(const std::string& name,
                                              const std::filesystem::path& directory,
                                              std::string_view search_path);

// Whether the program has the code of C++20's waits (std::atomic::wait, std::latch, std::barrier,
// std::counting_semaphore) in it: only what waits there is ever seen, not what releases. False where
// the file cannot be read.
[[nodiscard]] bool waits_in_ways_of_its_own(const std::filesystem::path& program);

}  // namespace longpole::recording
