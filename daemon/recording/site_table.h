// The addresses that a run's events speak of, each numbered once.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recording/merged_run.h"

namespace longpole::recording {

// Call sites, numbered in the order in which they are first seen.
class SiteTable {
 public:
  // no_site for an address of 0.
  [[nodiscard]] std::uint32_t add(std::uint64_t address,
                                  const std::vector<std::uint64_t>& candidates);
  [[nodiscard]] std::vector<CallSite> take();

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> plain_;
  std::map<CallSite, std::uint32_t> with_candidates_;
  std::vector<CallSite> sites_;
};

// Functions whose entries were recorded, likewise.
class FunctionTable {
 public:
  [[nodiscard]] std::uint32_t add(std::uint64_t address);
  [[nodiscard]] std::vector<std::uint64_t> take() { return std::move(addresses_); }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;
  std::vector<std::uint64_t> addresses_;
};

}  // namespace longpole::recording
