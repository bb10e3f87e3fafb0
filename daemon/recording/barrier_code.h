// The code of std::barrier and std::latch::arrive_and_wait in a program, by the names of its functions. libstdc++ has it in
// headers alone, so without debug information it is seldom to be told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "symbols/symbols.h"

namespace longpole::recording {

// Looks nothing up before it is asked.
class BarrierCode {
 public:
  // `mappings`: must outlive this.
  explicit BarrierCode(const std::vector<symbols::Mapping>& mappings) : mappings_(mappings) {}

  // Whether a call path, of return addresses, leads through it.
  [[nodiscard]] bool is_on(std::span<const std::uint64_t> path);

 private:
  [[nodiscard]] bool is_at(std::uint64_t address);

  const std::vector<symbols::Mapping>& mappings_;
  std::optional<symbols::SymbolTable> table_;
  std::map<std::uint64_t, bool> known_;  // by address
};

}  // namespace longpole::recording
