#include "recording/barrier_code.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace longpole::recording {
namespace {

// Of libstdc++'s barrier and latch. Not std::barrier itself, which names of the program's own templates may have in them.
constexpr std::array<std::string_view, 2> barriers_inside = {"std::__tree_barrier<",
                                                             "std::latch::arrive_and_wait("};

}  // namespace

bool BarrierCode::is_on(std::span<const std::uint64_t> path) {
  return std::ranges::any_of(path, [this](std::uint64_t address) { return is_at(address); });
}

bool BarrierCode::is_at(std::uint64_t address) {
  const auto [place, is_new] = known_.try_emplace(address, false);
  if (!is_new)
    return place->second;
  if (!table_) {
    table_.emplace();
    for (const symbols::Mapping& mapping : mappings_)
      table_->add_mapping(mapping);
  }
  StackId frame = table_->stack(std::span(&address, 1), symbols::Addresses::returns);
  for (; frame.known() && !place->second; frame = table_->frame(frame).caller) {
    const Function& function = table_->function(table_->frame(frame).function);
    place->second = std::ranges::any_of(barriers_inside, [&](std::string_view inside) {
      return function.name.find(inside) != std::string::npos;
    });
  }
  return place->second;
}

}  // namespace longpole::recording
