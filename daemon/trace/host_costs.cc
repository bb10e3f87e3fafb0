#include "trace/host_costs.h"

#include <array>

#include "trace/event_forms.h"

namespace longpole {
namespace {

struct Named {
  std::string_view word;
  Nanoseconds HostCosts::*cost;
};

constexpr std::array<Named, host_cost_count - event_kind_count> named = {{
    {"context-switch", &HostCosts::context_switch},
    {"migration", &HostCosts::migration},
    {"wake-up", &HostCosts::wake_up},
    {"interrupt", &HostCosts::interrupt},
    {"block", &HostCosts::block},
    {"release", &HostCosts::release},
    {"release-afar", &HostCosts::release_afar},
    {"lock-afar", &HostCosts::lock_afar},
    {"tick", &HostCosts::tick},
    {"idle-look", &HostCosts::idle_look},
    {"packed-use", &HostCosts::packed_use},
    {"interruption", &HostCosts::interruption},
    {"deep-sleep", &HostCosts::deep_sleep},
    {"deep-wake-up", &HostCosts::deep_wake_up},
    {"deep-release", &HostCosts::deep_release},
}};

// The first three and the calls are as old as recording files; the others came later.
constexpr std::size_t first_later = 3;
constexpr std::uint64_t first_later_in_file = 1000;

}  // namespace

std::string_view host_cost_word(std::size_t cost) {
  return cost < named.size() ? named[cost].word
                             : event_form(static_cast<EventKind>(cost - named.size())).word;
}

std::optional<std::size_t> host_cost_of(std::string_view word) {
  for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
    if (host_cost_word(cost) == word)
      return cost;
  }
  return std::nullopt;
}

Nanoseconds& host_cost(HostCosts& costs, std::size_t cost) {
  return cost < named.size() ? costs.*named[cost].cost : costs.call[cost - named.size()];
}

Nanoseconds host_cost(const HostCosts& costs, std::size_t cost) {
  HostCosts copy = costs;
  return host_cost(copy, cost);
}

HostCosts completed(HostCosts costs, const HostCosts& rest) {
  for (std::size_t cost = 0; cost < host_cost_count; ++cost)
    if (Nanoseconds& time = host_cost(costs, cost); time == Nanoseconds{})
      time = host_cost(rest, cost);
  return costs;
}

std::uint64_t number_in_file(std::size_t cost) {
  if (cost < first_later)
    return cost;
  return cost < named.size() ? first_later_in_file + (cost - first_later)
                             : cost - named.size() + first_later;
}

std::optional<std::size_t> host_cost_numbered(std::uint64_t number) {
  for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
    if (number_in_file(cost) == number)
      return cost;
  }
  return std::nullopt;
}

}  // namespace longpole
