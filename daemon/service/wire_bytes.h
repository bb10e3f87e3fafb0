// Messages of the protocol written down as their bytes at once, where there are millions of values: a message that is
// built value by value and then turned into bytes goes through all of them three times. Fields are written in the
// order of their numbers, which are below 16, and those that are empty are left out, as Protocol Buffers do; the
// numbers are those of the generated messages. Lists are packed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace longpole::service {

class WireBytes {
 public:
  static_assert(std::endian::native == std::endian::little);  // as the protocol is

  // Not written where it is 0.
  static void put_number(std::string& to, int field, std::uint32_t value) {
    if (value == 0)
      return;
    to.push_back(static_cast<char>(field << 3U));
    put(to, value);
  }
  static void put_bytes(std::string& to, int field, std::string_view bytes) {
    if (!bytes.empty())
      put_message(to, field, {bytes});
  }
  // Of float or double: `value(entry)` for each entry of `of`.
  template <typename Number, typename List, typename Value>
  static void put_floats(std::string& to, int field, const List& of, const Value& value) {
    static_assert(std::is_floating_point_v<Number>);
    if (of.empty())
      return;
    begin(to, field, of.size() * sizeof(Number));
    std::size_t at = to.size();
    to.resize(at + of.size() * sizeof(Number));
    for (const auto& entry : of) {
      const Number number = value(entry);
      std::memcpy(&to[at], &number, sizeof(number));
      at += sizeof(number);
    }
  }
  // Of uint32.
  template <typename List, typename Value>
  static void put_numbers(std::string& to, int field, const List& of, const Value& value) {
    if (of.empty())
      return;
    // Not set to anything before they are written.
    const std::unique_ptr<std::uint8_t[]> bytes(  // NOLINT(*-avoid-c-arrays)
        new std::uint8_t[of.size() * most_bytes]);
    std::uint8_t* at = bytes.get();
    for (const auto& entry : of)
      at = write(at, value(entry));
    const auto count = static_cast<std::size_t>(at - bytes.get());
    begin(to, field, count);
    to.append(reinterpret_cast<const char*>(bytes.get()), count);
  }
  // Also where it is empty; of these pieces, one behind the other.
  static void put_message(std::string& to, int field,
                          std::initializer_list<std::string_view> pieces) {
    std::size_t size = 0;
    for (const std::string_view piece : pieces)
      size += piece.size();
    begin(to, field, size);
    for (const std::string_view piece : pieces)
      to.append(piece);
  }

 private:
  static constexpr std::size_t most_bytes = 5;  // of a number of 32 bits
  static constexpr unsigned has_length = 2;

  static void begin(std::string& to, int field, std::size_t size) {
    to.push_back(static_cast<char>(static_cast<unsigned>(field) << 3U | has_length));
    put(to, static_cast<std::uint32_t>(size));
  }
  static void put(std::string& to, std::uint32_t value) {
    std::uint8_t bytes[most_bytes];  // NOLINT(*-avoid-c-arrays)
    to.append(reinterpret_cast<const char*>(bytes),
              static_cast<std::size_t>(write(bytes, value) - bytes));
  }
  // Seven bits a byte. Most numbers have one byte or two, as often the one as the other, which no branch predictor
  // guesses.
  static std::uint8_t* write(std::uint8_t* at, std::uint32_t value) {
    if (value < 1U << 14U) [[likely]] {
      const auto more = static_cast<std::uint32_t>(value > 0x7fU);
      const auto bytes =
          static_cast<std::uint16_t>((value & 0x7fU) | more << 7U | value >> 7U << 8U);
      std::memcpy(at, &bytes, sizeof(bytes));
      return at + 1 + more;
    }
    for (; value > 0x7fU; value >>= 7U)
      *at++ = static_cast<std::uint8_t>(value | 0x80U);
    *at++ = static_cast<std::uint8_t>(value);
    return at;
  }
};

}  // namespace longpole::service
