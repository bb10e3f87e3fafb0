// Code of the test program itself, for recordings by hand to be of.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "recording/symbolize.h"

namespace longpole::recording {

inline std::vector<symbols::Mapping> own_mappings() {
  std::string maps;
  FILE* file = std::fopen("/proc/self/maps", "r");
  for (int c = 0; (c = std::fgetc(file)) != EOF;)
    maps += static_cast<char>(c);
  std::fclose(file);
  return read_maps(maps);
}

inline std::uint64_t inside(int (*function)()) {
  return reinterpret_cast<std::uint64_t>(function) + 2;
}

}  // namespace longpole::recording
