// The host's costs one by one, each with its word in the text forms: "context-switch", "migration",
// "wake-up", "interrupt", "block", "release", "release-afar", "lock-afar", "tick", "idle-look", "packed-use", "interruption",
// "deep-sleep", "deep-wake-up", "deep-release", or the statement of the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/recording.h"

namespace longpole {

inline constexpr std::size_t host_cost_count = 15 + event_kind_count;

// `cost` < host_cost_count, here and below.
[[nodiscard]] std::string_view host_cost_word(std::size_t cost);
[[nodiscard]] std::optional<std::size_t> host_cost_of(std::string_view word);
[[nodiscard]] Nanoseconds& host_cost(HostCosts& costs, std::size_t cost);
[[nodiscard]] Nanoseconds host_cost(const HostCosts& costs, std::size_t cost);
// Where one is not known, that of `rest`.
[[nodiscard]] HostCosts completed(HostCosts costs, const HostCosts& rest);
// In the recording file, where calls had the numbers from 3 on before interrupts and what follows were known.
[[nodiscard]] std::uint64_t number_in_file(std::size_t cost);
[[nodiscard]] std::optional<std::size_t> host_cost_numbered(std::uint64_t number);

// A recording with a dearer one is refused, or with a tick that is shorter and not 0.
inline constexpr Nanoseconds dearest_host_cost = std::chrono::seconds(1);
inline constexpr Nanoseconds shortest_tick = std::chrono::microseconds(100);

}  // namespace longpole
