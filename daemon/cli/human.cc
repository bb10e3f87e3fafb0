#include "cli/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/locale/utf.hpp>
#include <cmath>
#include <optional>

namespace longpole::cli {
namespace {

constexpr std::string_view ellipsis = "…";
constexpr std::string_view replacement = "\xef\xbf\xbd";  // of what is no UTF-8

// Four digits, without zeros that say nothing.
std::string four_digits(double value) {
  const double size = std::abs(value);
  const int decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
  std::string out = fmt::format("{:.{}f}", value, decimals);
  if (out.find('.') != std::string::npos) {
    out.resize(out.find_last_not_of('0') + 1);
    if (out.back() == '.')
      out.pop_back();
  }
  return out == "-0" ? "0" : out;
}

// A byte of a character that began before it.
bool is_continuation(char c) {
  constexpr unsigned mask = 0xc0;
  constexpr unsigned continuation = 0x80;
  return (static_cast<unsigned char>(c) & mask) == continuation;
}

// Of ASCII and of Latin-1.
bool is_control(boost::locale::utf::code_point character) {
  constexpr boost::locale::utf::code_point del = 0x7f;
  constexpr boost::locale::utf::code_point no_break_space = 0xa0;
  return character < ' ' || (character >= del && character < no_break_space);
}

struct Bracket {
  std::size_t open = 0;   // first byte inside
  std::size_t close = 0;  // the closing bracket
};

// The last pair of brackets, outermost, that has more in it than an ellipsis, and something around it.
std::optional<Bracket> last_bracket(const std::string& text) {
  std::optional<Bracket> found;
  std::size_t depth = 0;
  std::size_t open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // In "operator<" and "->" they are no brackets.
    const bool angle = text[i] == '<' || text[i] == '>';
    if (angle && i > 0 &&
        (text[i - 1] == '-' || text[i - 1] == '=' ||
         text.compare(i < 8 ? 0 : i - 8, 8, "operator") == 0))
      continue;
    if (text[i] == '<' || text[i] == '(') {
      if (depth++ == 0)
        open = i + 1;
    } else if ((text[i] == '>' || text[i] == ')') && depth > 0 && --depth == 0 &&
               (open > 1 || i + 1 < text.size()) &&
               columns(std::string_view(text).substr(open, i - open)) > 1) {
      found = Bracket{open, i};
    }
  }
  return found;
}

// As much of the text as fits, in whole characters.
std::string_view beginning(std::string_view text, std::size_t width) {
  std::size_t fitting = 0;
  for (std::size_t end = 1; end < text.size(); ++end) {
    if (is_continuation(text[end]))
      continue;
    if (columns(text.substr(0, end)) > width)
      break;
    fitting = end;
  }
  return text.substr(0, fitting);
}

std::string_view end_of(std::string_view text, std::size_t width) {
  std::size_t begin = 0;
  while (begin < text.size() &&
         (is_continuation(text[begin]) || columns(text.substr(begin)) > width))
    ++begin;
  return text.substr(begin);
}

// What a name can end with and do without, and how much of that has to stay.
struct Ending {
  std::string_view text;
  std::size_t kept;
};
constexpr std::array<Ending, 3> endings = {{{"}::operator()", 1}, {"(…)", 0}, {"<…>", 0}}};

}  // namespace

std::string duration_text(double nanoseconds) {
  struct Unit {
    double nanoseconds;
    const char* name;
  };
  static constexpr std::array<Unit, 4> units = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}};
  constexpr double minute = 60e9;
  const double size = std::abs(nanoseconds);
  if (size >= minute) {
    const double minutes = std::floor(size / minute);
    const double seconds = std::floor((size - minutes * minute) / 1e8) / 10;
    return fmt::format("{}{} min {} s", nanoseconds < 0 ? "-" : "",
                       count_text(static_cast<std::uint64_t>(minutes)), four_digits(seconds));
  }
  for (const Unit& unit : units)
    // What would round up to 1000 of a unit is 1 of the next.
    if (size >= unit.nanoseconds * 0.99995 || unit.nanoseconds == 1)
      return fmt::format("{} {}", four_digits(nanoseconds / unit.nanoseconds), unit.name);
  return {};
}

std::string percent_text(double share) {
  const std::string out = fmt::format("{:.1f}%", share * 100);
  return out == "-0.0%" ? "0.0%" : out;
}

std::string count_text(std::uint64_t count) {
  std::string out = fmt::to_string(count);
  for (std::size_t i = out.size(); i > 3;)
    out.insert(i -= 3, 1, ',');
  return out;
}

std::string count_text(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count_text(count), thing, count == 1 ? "" : "s");
}

std::string printable(std::string_view text) {
  namespace utf = boost::locale::utf;
  std::string out;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const char* const start = at;
    const utf::code_point character = utf::utf_traits<char>::decode(at, end);
    if (utf::is_valid_codepoint(character) && !is_control(character)) {
      out.append(start, at);
    } else if (utf::is_valid_codepoint(character)) {
      out += '?';
    } else {
      out += replacement;
      at = start + 1;
    }
  }
  return out;
}

std::size_t columns(std::string_view text) {
  // Padded to as many columns as it has bytes, which are never fewer than its columns.
  const std::size_t bytes = text.size();
  return bytes + bytes - fmt::formatted_size("{:{}}", text, bytes);
}

std::string shortened(const std::string& text, std::size_t width) {
  std::string out = text;
  while (columns(out) > width) {
    const auto bracket = last_bracket(out);
    if (!bracket)
      break;
    out.replace(bracket->open, bracket->close - bracket->open, ellipsis);
  }
  for (const auto& [ending, kept] : endings) {
    const std::size_t at = out.rfind(ending);
    if (columns(out) > width && at != std::string::npos && at > 0 &&
        out.find(':', at + ending.size()) == std::string::npos)
      out.resize(at + kept);
  }
  if (columns(out) <= width)
    return out;
  const std::size_t room = std::max<std::size_t>(width, 1) - 1;
  const std::string_view front = beginning(out, room / 3);
  return std::string(front) + std::string(ellipsis) +
         std::string(end_of(out, room - columns(front)));
}

}  // namespace longpole::cli
