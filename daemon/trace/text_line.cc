#include "trace/text_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>
#include <utility>

namespace longpole {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_continuation_byte(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}
constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20U || c == '\x7f';
}

constexpr std::size_t longest_quotation = 40;  // of the user's text in a message

struct Unit {
  std::string_view name;
  std::size_t digits;  // a decimal exponent: how many nanoseconds it has
};
constexpr std::array<Unit, 4> units{{{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}}};

const Unit* find_unit(std::string_view name) {
  const auto* const unit =
      std::ranges::find_if(units, [&](const Unit& u) { return u.name == name; });
  return unit == units.end() ? nullptr : unit;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, longest_quotation)) {
    if (is_control(c))
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  out += text.size() > longest_quotation ? "…\"" : "\"";
  return out;
}

int hexadecimal_digit(char c) {
  if (is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

}  // namespace

void TextLine::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_]))
    ++at_;
}

bool TextLine::at_end() {
  skip_blanks();
  return at_ == text_.size() || text_[at_] == '#';
}

Expected<void> TextLine::check_length() const {
  if (text_.size() <= limits_.line_bytes)
    return {};
  return limit_at(
      {}, fmt::format("a line of {} bytes; the limit is {}", text_.size(), limits_.line_bytes));
}

bool TextLine::next_is_number() {
  return !at_end() && is_digit(text_[at_]);
}

Expected<Word> TextLine::word(std::string_view expected) {
  if (at_end())
    return unexpected_word({.offset = at_}, expected);
  if (text_[at_] == '"')
    return quoted_word();
  const std::size_t start = at_;
  for (; at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '#'; ++at_) {
    const Word here{.text = text_.substr(at_, 1), .offset = at_};
    if (text_[at_] == '"')
      return error_at(here, "a quotation mark inside a word; put the whole name in quotes");
    if (is_control(text_[at_]))
      return error_at(here, fmt::format("the byte 0x{:02x} inside a word",
                                        static_cast<unsigned char>(text_[at_])));
  }
  return Word{.text = text_.substr(start, at_ - start), .offset = start};
}

Expected<Word> TextLine::quoted_word() {
  const std::size_t start = at_++;
  std::string text;
  while (at_ < text_.size() && text_[at_] != '"') {
    const Word here{.offset = at_};
    const char c = text_[at_++];
    if (c != '\\') {
      text += c;
      continue;
    }
    const char escape = at_ < text_.size() ? text_[at_++] : '\0';
    switch (escape) {
      case '"':
      case '\\':
        text += escape;
        break;
      case 'n':
        text += '\n';
        break;
      case 't':
        text += '\t';
        break;
      case 'r':
        text += '\r';
        break;
      case 'x': {
        const int high = at_ < text_.size() ? hexadecimal_digit(text_[at_]) : -1;
        const int low = at_ + 1 < text_.size() ? hexadecimal_digit(text_[at_ + 1]) : -1;
        if (high < 0 || low < 0)
          return error_at(here, "expected two hexadecimal digits after \\x");
        text += static_cast<char>(high * 16 + low);
        at_ += 2;
        break;
      }
      default:
        return error_at(here, R"(expected one of \" \\ \n \t \r \xHH)");
    }
  }
  if (at_ == text_.size())
    return error_at({.offset = start}, "the quotation mark is never closed");
  ++at_;
  if (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '#')
    return error_at({.offset = at_}, "expected a blank after the closing quotation mark");
  unescaped_.push_back(std::move(text));
  return Word{.text = unescaped_.back(), .offset = start, .quoted = true};
}

Expected<Word> TextLine::name(std::string_view expected) {
  auto found = word(expected);
  if (!found)
    return found;
  if (found->text.empty())
    return error_at(*found, fmt::format("expected {}, found an empty name", expected));
  if (found->text.size() > limits_.name_bytes)
    return limit_at(*found, fmt::format("a name of {} bytes; the limit is {}", found->text.size(),
                                        limits_.name_bytes));
  return found;
}

Expected<void> TextLine::keyword(std::string_view keyword) {
  const std::string expected = fmt::format("\"{}\"", keyword);
  const auto found = word(expected);
  if (!found)
    return tl::unexpected(found.error());
  if (!found->is(keyword))
    return unexpected_word(*found, expected);
  return {};
}

bool TextLine::take_if(std::string_view keyword) {
  if (at_end() || !text_.substr(at_).starts_with(keyword))
    return false;
  const std::size_t end = at_ + keyword.size();
  if (end < text_.size() && !is_blank(text_[end]) && text_[end] != '#')
    return false;
  at_ = end;
  return true;
}

Expected<std::uint64_t> TextLine::count(std::string_view expected, std::uint64_t least,
                                        std::uint64_t most) {
  const auto found = word(expected);
  if (!found)
    return tl::unexpected(found.error());
  if (found->quoted)
    return unexpected_word(*found, expected);
  return count_of(*found, found->text, expected, least, most);
}

template <typename Integer>
Expected<Integer> TextLine::number_of(const Word& word, std::string_view value,
                                      std::string_view expected, Integer least,
                                      Integer most) const {
  const std::string_view digits =
      value.substr(std::is_signed_v<Integer> && value.starts_with('-') ? 1 : 0);
  if (digits.empty() || !std::ranges::all_of(digits, is_digit))
    return unexpected_word(word, expected);
  Integer number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc{} || number < least || number > most)
    return error_at(word, fmt::format("expected {} from {} to {}, found {}", expected, least, most,
                                      quoted(value)));
  return number;
}

Expected<std::uint64_t> TextLine::count_of(const Word& word, std::string_view value,
                                           std::string_view expected, std::uint64_t least,
                                           std::uint64_t most) const {
  return number_of(word, value, expected, least, most);
}

Expected<std::int64_t> TextLine::integer_of(const Word& word, std::string_view value,
                                            std::string_view expected, std::int64_t least,
                                            std::int64_t most) const {
  return number_of(word, value, expected, least, most);
}

Expected<Nanoseconds> TextLine::duration(std::string_view expected) {
  const auto found = word(expected);
  if (!found)
    return tl::unexpected(found.error());
  if (found->quoted)
    return unexpected_word(*found, expected);
  const bool has_unit = !is_digit(found->text.back());
  if (!has_unit) {
    const std::size_t after_number = at_;
    if (!at_end() && text_[at_] != '"') {
      if (const auto next = word("a unit"); next && find_unit(next->text) != nullptr)
        return scaled(*found, found->text, next->text, expected);
    }
    at_ = after_number;
  }
  return duration_of(*found, found->text, expected);
}

Expected<Nanoseconds> TextLine::duration_of(const Word& word, std::string_view value,
                                            std::string_view expected) const {
  const std::size_t number_end = std::min(value.find_first_not_of("0123456789."), value.size());
  const std::string_view unit = value.substr(number_end);
  return scaled(word, value.substr(0, number_end), unit.empty() ? "ms" : unit, expected);
}

Expected<Nanoseconds> TextLine::scaled(const Word& word, std::string_view number,
                                       std::string_view unit_name,
                                       std::string_view expected) const {
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::string_view whole = number.substr(0, point);
  std::string_view fraction = number.substr(std::min(point + 1, number.size()));
  const Unit* const unit = find_unit(unit_name);
  if (unit == nullptr || whole.empty() || !std::ranges::all_of(whole, is_digit) ||
      !std::ranges::all_of(fraction, is_digit) || (fraction.empty() && point != number.size()))
    return unexpected_word(word, fmt::format("{} such as 3, 2.5 or 800us", expected));
  while (fraction.ends_with('0'))
    fraction.remove_suffix(1);
  if (fraction.size() > unit->digits)
    return error_at(word, fmt::format("{} is finer than a nanosecond", quoted(word.text)));

  constexpr std::int64_t most = longest_time.count();
  std::int64_t nanoseconds = 0;
  const auto append_digit = [&](char digit) {
    nanoseconds = nanoseconds > most / 10 ? most + 1 : nanoseconds * 10 + (digit - '0');
  };
  for (const char digit : whole)
    append_digit(digit);
  for (std::size_t i = 0; i < unit->digits; ++i)
    append_digit(i < fraction.size() ? fraction[i] : '0');
  if (nanoseconds > most)
    return limit_at(word, fmt::format("{} is longer than 834 days", quoted(word.text)));
  return Nanoseconds{nanoseconds};
}

Expected<void> TextLine::end() {
  if (at_end())
    return {};
  const auto extra = word("the end of the line");
  if (!extra)
    return tl::unexpected(extra.error());
  return unexpected_word(*extra, "the end of the line");
}

tl::unexpected<Error> TextLine::error_at(const Word& word, std::string_view message) const {
  const std::string_view before = text_.substr(0, word.offset);
  const auto column =
      std::ranges::count_if(before, [](char c) { return !is_continuation_byte(c); }) + 1;
  return bad_input({}, fmt::format("line {}, column {}: {}", number_, column, message));
}

tl::unexpected<Error> TextLine::limit_at(const Word& word, std::string_view message) const {
  auto error = error_at(word, message);
  error.value().kind = ErrorKind::limit;
  return error;
}

tl::unexpected<Error> TextLine::unexpected_word(const Word& word, std::string_view expected) const {
  const bool nothing = word.text.empty() && !word.quoted;
  return error_at(word, fmt::format("expected {}, found {}", expected,
                                    nothing ? "the end of the line" : quoted(word.text)));
}

void append_milliseconds(std::string& out, Nanoseconds time) {
  constexpr std::int64_t per_millisecond = 1'000'000;
  fmt::format_to(std::back_inserter(out), "{}", time.count() / per_millisecond);
  if (const std::int64_t rest = time.count() % per_millisecond; rest != 0) {
    fmt::format_to(std::back_inserter(out), ".{:06}", rest);
    out.erase(out.find_last_not_of('0') + 1);
  }
}

namespace {

// Lengths of the well-formed sequences of UTF-8; 0 where there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size())
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation_byte(text[i]))
      return 0;
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) >= 0xa0;
  const bool beyond = first == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

bool can_stand_bare(std::string_view name) {
  if (name.empty() || name == "?" || name == "=" || name.front() == '@')
    return false;
  return std::ranges::all_of(
      name, [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '#' && c != '\\'; });
}

}  // namespace

void append_name(std::string& out, std::string_view name) {
  if (can_stand_bare(name)) {
    out += name;
    return;
  }
  out += '"';
  while (!name.empty()) {
    const char c = name.front();
    const std::size_t length = utf8_length(name);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (length == 0 || is_control(c)) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += name.substr(0, length);
    }
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out += '"';
}

TextLines::TextLines(std::string_view text) : rest_(text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (rest_.starts_with(byte_order_mark))
    rest_.remove_prefix(byte_order_mark.size());
}

std::optional<std::string_view> TextLines::next() {
  if (rest_.empty())
    return std::nullopt;
  ++number_;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  const std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return line;
}

}  // namespace longpole
