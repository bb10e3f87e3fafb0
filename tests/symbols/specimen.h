// Runs a specimen program and keeps what it said about itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "symbols/symbols.h"

namespace longpole::symbols {

struct Mark {
  std::uint64_t address = 0;  // a return address
  std::uint32_t line = 0;
};

struct Specimen {
  std::string path;
  std::vector<Mapping> mappings;
  std::map<std::string, Mark> marks;  // the last of each name
  std::map<std::string, std::vector<Mark>> all_marks;
  std::map<std::string, std::uint64_t> objects;
  std::map<std::string, std::uint64_t> functions;

  // A table that knows the mappings.
  [[nodiscard]] SymbolTable table(const std::string& debug_directory = "/nonexistent") const;
};

// `name` is a program of CMakeLists.txt, or an absolute path.
[[nodiscard]] Specimen run_specimen(const std::string& name);

// The line of specimen.cc that holds the comment "//: LABEL".
[[nodiscard]] std::uint32_t line_of(const std::string& label);

}  // namespace longpole::symbols
