// JSON as scripts get it: keys in the order of DESIGN section 5, times that are whole as integers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace longpole::cli {

using Json = nlohmann::ordered_json;

// To three decimals: of nanoseconds that is far below what anything can measure, and it keeps sums
// that were rounded differently from printing as 11999999.999999998.
[[nodiscard]] Json number(double value);

// A share or weight, in full.
[[nodiscard]] Json fraction(double value);

// The document and a line feed. Bytes that are not UTF-8, of a file name say, are replaced.
[[nodiscard]] std::string json_text(const Json& document);

}  // namespace longpole::cli
