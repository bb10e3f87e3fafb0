#include "recording/site_table.h"

namespace longpole::recording {

std::uint32_t SiteTable::add(std::uint64_t address, const std::vector<std::uint64_t>& candidates) {
  if (address == 0)
    return no_site;
  const auto next = static_cast<std::uint32_t>(sites_.size());
  if (candidates.empty()) {
    const auto [place, is_new] = plain_.try_emplace(address, next);
    if (is_new)
      sites_.push_back({address, {}});
    return place->second;
  }
  const auto [place, is_new] = with_candidates_.try_emplace(CallSite{address, candidates}, next);
  if (is_new)
    sites_.push_back(place->first);
  return place->second;
}

std::uint32_t FunctionTable::add(std::uint64_t address) {
  const auto [place, is_new] =
      ids_.try_emplace(address, static_cast<std::uint32_t>(addresses_.size()));
  if (is_new)
    addresses_.push_back(address);
  return place->second;
}

std::vector<CallSite> SiteTable::take() {
  return std::move(sites_);
}

}  // namespace longpole::recording
