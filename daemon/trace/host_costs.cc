#include "trace/host_costs.h"

#include <array>

#include "trace/event_forms.h"

namespace longpole {
namespace {

constexpr std::array<std::string_view, host_cost_count - event_kind_count> words = {
    "context-switch", "migration", "wake-up"};

}  // namespace

std::string_view host_cost_word(std::size_t cost) {
  return cost < words.size() ? words[cost]
                             : event_form(static_cast<EventKind>(cost - words.size())).word;
}

std::optional<std::size_t> host_cost_of(std::string_view word) {
  for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
    if (host_cost_word(cost) == word)
      return cost;
  }
  return std::nullopt;
}

Nanoseconds& host_cost(HostCosts& costs, std::size_t cost) {
  switch (cost) {
    case 0:
      return costs.context_switch;
    case 1:
      return costs.migration;
    case 2:
      return costs.wake_up;
    default:
      return costs.call[cost - words.size()];
  }
}

Nanoseconds host_cost(const HostCosts& costs, std::size_t cost) {
  HostCosts copy = costs;
  return host_cost(copy, cost);
}

}  // namespace longpole
