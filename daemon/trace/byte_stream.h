// Bytes of the recording file: numbers of seven bits a byte, least significant first (LEB128), and
// strings with their length in front.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/error.h"
#include "trace/types.h"

namespace longpole {

// Signed to unsigned so that small magnitudes stay small: 0, -1, 1, -2 … → 0, 1, 2, 3 …
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0);
}
[[nodiscard]] constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1U) ^ (0 - (value & 1U)));
}

inline void append_number(std::vector<std::uint8_t>& bytes, std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U)
    bytes.push_back(static_cast<std::uint8_t>(value | 0x80U));
  bytes.push_back(static_cast<std::uint8_t>(value));
}
// What append_number() wrote, of bytes that are our own; those of a file are for ByteReader. Leaves `at`
// behind it.
[[nodiscard]] inline std::uint64_t take_number(const std::uint8_t*& at) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const std::uint8_t byte = *at++;
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0)
      return value;
  }
}

class ByteWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(value); }
  void number(std::uint64_t value) { append_number(bytes_, value); }
  void signed_number(std::int64_t value) { number(zigzag(value)); }
  void time(Nanoseconds value) { signed_number(value.count()); }
  void text(std::string_view value) {
    number(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  // none, the largest, becomes 0 and the others one more than they are.
  template <typename Tag>
  void id(Id<Tag> value) {
    number(value.value + 1U);
  }

  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

// Reads any bytes. Once something is wrong, says what and where, and gives zeros from then on, so
// that a caller may look once at the end; every loop is bounded by a count() that passed.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool sound() const { return problem_.empty(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::size_t offset() const { return at_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] ErrorKind kind() const { return kind_; }  // of the problem
  void fail(std::string problem, ErrorKind kind = ErrorKind::bad_input) {
    if (!sound())
      return;
    problem_ = std::move(problem);
    kind_ = kind;
  }

  std::uint8_t byte() {
    if (!sound() || at_ == bytes_.size()) {
      fail("it ends too early");
      return 0;
    }
    return bytes_[at_++];
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t next = byte();
      const std::uint64_t bits = next & 0x7fU;
      if (shift == 63 && bits > 1)
        break;
      value |= bits << shift;
      if (next < 0x80U)
        return value;
    }
    fail("a number is longer than 64 bits");
    return 0;
  }
  std::int64_t signed_number() { return unzigzag(number()); }
  Nanoseconds time() { return Nanoseconds{signed_number()}; }
  std::uint32_t number32() {
    const std::uint64_t value = number();
    if (value > std::numeric_limits<std::uint32_t>::max()) {
      fail("a number is longer than 32 bits");
      return 0;
    }
    return static_cast<std::uint32_t>(value);
  }
  bool flag() { return byte() != 0; }
  template <typename AnyId>
  AnyId id() {
    return AnyId{number32() - 1U};
  }
  // How many entries follow. Each takes at least one byte, so no more can follow than bytes.
  std::size_t count(std::string_view of, std::size_t limit) {
    const std::uint64_t value = number();
    if (value > limit) {
      fail("it has " + std::to_string(value) + " " + std::string(of) + "; the limit is " +
               std::to_string(limit),
           ErrorKind::limit);
      return 0;
    }
    if (value > left()) {
      fail("it ends before all its " + std::string(of));
      return 0;
    }
    return static_cast<std::size_t>(value);
  }
  std::string text(std::size_t limit) {
    const std::size_t size = count("bytes of a name", limit);
    const auto characters = bytes_.subspan(at_, size);
    at_ += size;
    return {characters.begin(), characters.end()};
  }
  std::span<const std::uint8_t> raw(std::size_t size) {
    if (!sound() || size > left()) {
      fail("it ends too early");
      return {};
    }
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::string problem_;
  ErrorKind kind_ = ErrorKind::bad_input;
};

}  // namespace longpole
