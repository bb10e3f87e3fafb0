#include "cli/json_document.h"

#include <cmath>
#include <cstdint>

namespace longpole::cli {

Json number(double value) {
  constexpr double precision = 1000;
  // From here on a double has no decimals to round, and further on no place in an integer.
  constexpr double largest_rounded = 4e15;
  if (std::abs(value) < largest_rounded)
    value = std::round(value * precision) / precision;
  return fraction(value);
}

Json fraction(double value) {
  if (std::abs(value) < 9e18 && value == std::trunc(value))
    return static_cast<std::int64_t>(value);
  return value;
}

std::string json_text(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace longpole::cli
