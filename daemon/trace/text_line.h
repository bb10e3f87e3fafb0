// A line of a text form, word by word; what .prog and .rec have in common below their grammars.
//
// A word is a run of characters without blanks, or a string in double quotes with the escapes
// \" \\ \n \t \r \xHH. `#` outside quotes starts a comment. Errors name line and column, counted
// from 1, the column in characters of UTF-8.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "trace/error.h"
#include "trace/limits.h"
#include "trace/types.h"

namespace longpole {

struct Word {
  std::string_view text{};  // without quotes and escapes; valid until the next line
  std::size_t offset = 0;   // of its first byte in the line
  bool quoted = false;

  // Quoted words are names, never keywords or settings.
  [[nodiscard]] bool is(std::string_view keyword) const { return !quoted && text == keyword; }
  // `key` with its '=': what stands behind it in a word such as `cpu=5ms`.
  [[nodiscard]] std::optional<std::string_view> setting(std::string_view key) const {
    if (quoted || !text.starts_with(key))
      return std::nullopt;
    return text.substr(key.size());
  }
};

class TextLine {
 public:
  TextLine(std::string_view text, std::size_t number, const Limits& limits)
      : text_(text), number_(number), limits_(limits) {}

  [[nodiscard]] std::size_t number() const { return number_; }

  [[nodiscard]] Expected<void> check_length() const;  // within the limit

  // Whether nothing but blanks and a comment is left.
  [[nodiscard]] bool at_end();

  [[nodiscard]] bool next_is_number();  // whether the next word begins with a digit

  // Each takes the next word; `expected` says in the error what should have stood there.
  [[nodiscard]] Expected<Word> word(std::string_view expected);
  [[nodiscard]] Expected<Word> name(std::string_view expected);  // not empty, within the limit
  [[nodiscard]] Expected<void> keyword(std::string_view keyword);
  [[nodiscard]] bool take_if(std::string_view keyword);  // leaves any other word where it is
  [[nodiscard]] Expected<std::uint64_t> count(std::string_view expected, std::uint64_t least,
                                              std::uint64_t most);
  // A number of milliseconds, or of what the unit behind it says: ns, us, ms, s; with a blank
  // between them or not.
  [[nodiscard]] Expected<Nanoseconds> duration(std::string_view expected);
  [[nodiscard]] Expected<void> end();

  // The same of the value in a word such as `cpu=5ms`; the unit stands without a blank.
  [[nodiscard]] Expected<Nanoseconds> duration_of(const Word& word, std::string_view value,
                                                  std::string_view expected) const;
  [[nodiscard]] Expected<std::uint64_t> count_of(const Word& word, std::string_view value,
                                                 std::string_view expected, std::uint64_t least,
                                                 std::uint64_t most) const;
  [[nodiscard]] Expected<std::int64_t> integer_of(const Word& word, std::string_view value,
                                                  std::string_view expected, std::int64_t least,
                                                  std::int64_t most) const;

  [[nodiscard]] tl::unexpected<Error> error_at(const Word& word, std::string_view message) const;
  [[nodiscard]] tl::unexpected<Error> limit_at(const Word& word, std::string_view message) const;
  // "expected …, found …"
  [[nodiscard]] tl::unexpected<Error> unexpected_word(const Word& word,
                                                      std::string_view expected) const;

 private:
  void skip_blanks();
  [[nodiscard]] Expected<Word> quoted_word();
  template <typename Integer>
  [[nodiscard]] Expected<Integer> number_of(const Word& word, std::string_view value,
                                            std::string_view expected, Integer least,
                                            Integer most) const;
  [[nodiscard]] Expected<Nanoseconds> scaled(const Word& word, std::string_view number,
                                             std::string_view unit,
                                             std::string_view expected) const;

  std::string_view text_;
  std::size_t number_;
  const Limits& limits_;
  std::size_t at_ = 0;
  std::deque<std::string> unescaped_;  // what words with escapes point into
};

// As text forms print them: exact, in milliseconds, without trailing zeros.
void append_milliseconds(std::string& out, Nanoseconds time);

// Bare where it can stand bare, else in quotes.
void append_name(std::string& out, std::string_view name);

// The lines of a text, one after the other, without their ends (\n or \r\n).
class TextLines {
 public:
  explicit TextLines(std::string_view text);
  [[nodiscard]] std::optional<std::string_view> next();
  [[nodiscard]] std::size_t number() const { return number_; }  // of the line that next() gave

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

}  // namespace longpole
