// Runs a specimen program, bare, beside the idle recorder, or recorded, and says how it ended.
#pragma once

#include <sys/resource.h>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "run_directory.h"

namespace longpole::test {

struct Outcome {
  std::string output;  // standard output and standard error
  int exit_status = -1;
  int signal = 0;  // that ended it; 0: none

  friend bool operator==(const Outcome&, const Outcome&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    return out << "status " << outcome.exit_status << ", signal " << outcome.signal << ", output:\n"
               << outcome.output;
  }
};

struct Specimen {
  std::string name;
  std::vector<std::string> arguments = {};
  std::optional<rlim_t> file_size_limit = std::nullopt;
  std::string preload = {};  // a library built beside the specimens that it runs with

  friend std::ostream& operator<<(std::ostream& out, const Specimen& specimen) {
    return out << specimen.name;
  }
};

// Of the program that a specimen is.
std::string path_of(const std::string& specimen);

Outcome run_bare(const Specimen& specimen);
Outcome run_beside_idle_recorder(const Specimen& specimen);
Outcome run_recorded(const Specimen& specimen, const RunDirectory& directory);

// What is recorded of the specimen, however it ends.
std::vector<RawThread> record(const Specimen& specimen);

std::vector<int> results(const std::vector<longpole_record>& records);
std::vector<longpole_record> with_flags(const std::vector<longpole_record>& records,
                                        unsigned flags);

}  // namespace longpole::test
