#include "specimen.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

namespace longpole::symbols {

SymbolTable Specimen::table(const std::string& debug_directory) const {
  SymbolTable symbols(debug_directory);
  for (const Mapping& mapping : mappings)
    symbols.add_mapping(mapping);
  return symbols;
}

Specimen run_specimen(const std::string& name) {
  Specimen specimen;
  specimen.path = name.front() == '/' ? name : LONGPOLE_SPECIMENS "/" + name;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(
      popen(("'" + specimen.path + "'").c_str(), "r"), pclose);
  std::array<char, 8192> buffer;
  while (output != nullptr && std::fgets(buffer.data(), buffer.size(), output.get()) != nullptr) {
    std::istringstream line(buffer.data());
    std::string kind;
    line >> kind;
    if (kind == "map") {
      Mapping mapping;
      char dash = 0;
      std::string permissions;
      std::string device;
      std::string inode;
      line >> std::hex >> mapping.start >> dash >> mapping.end >> permissions >>
          mapping.file_offset >> device >> inode >> std::ws;
      std::getline(line, mapping.path);
      specimen.mappings.push_back(mapping);
      continue;
    }
    std::string label;
    std::uint64_t address = 0;
    line >> label >> std::hex >> address;
    if (kind == "mark") {
      Mark mark{address, 0};
      line >> std::dec >> mark.line;
      specimen.marks[label] = mark;
      specimen.all_marks[label].push_back(mark);
    } else if (kind == "object") {
      specimen.objects[label] = address;
    } else if (kind == "function") {
      specimen.functions[label] = address;
    }
  }
  EXPECT_TRUE(specimen.marks.contains("main")) << specimen.path << " did not run to its end";
  return specimen;
}

std::uint32_t line_of(const std::string& label) {
  std::ifstream source(LONGPOLE_SPECIMEN_SOURCE);
  std::string line;
  for (std::uint32_t number = 1; std::getline(source, line); ++number)
    if (line.size() >= label.size() + 4 &&
        line.compare(line.size() - label.size() - 4, std::string::npos, "//: " + label) == 0)
      return number;
  ADD_FAILURE() << "no line of specimen.cc is marked " << label;
  return 0;
}

}  // namespace longpole::symbols
