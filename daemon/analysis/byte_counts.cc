#include "analysis/byte_counts.h"

#include <algorithm>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>

#include <array>
#include <bit>
#endif

namespace longpole::analysis {
namespace {

using Bytes = std::span<const std::uint8_t>;

// In sums of a byte, which take an eighth of the time of those of a word.
std::uint32_t count(Bytes bytes, std::uint8_t value) {
  constexpr std::size_t most_of_byte = 255;
  std::uint32_t sum = 0;
  for (Bytes left = bytes; !left.empty();) {
    const Bytes some = left.first(std::min(left.size(), most_of_byte));
    std::uint8_t few = 0;
    for (const std::uint8_t byte : some)
      few = static_cast<std::uint8_t>(few + (byte == value ? 1U : 0U));
    sum += few;
    left = left.subspan(some.size());
  }
  return sum;
}

#if defined(__x86_64__)

#define LONGPOLE_WIDE [[gnu::target("avx2,popcnt")]]

constexpr std::size_t width = sizeof(__m256i);

// Of 32 bytes, those of which `counted` has a bit.
LONGPOLE_WIDE inline void count_wide(const std::uint8_t* at, std::uint32_t counted, Bytes values,
                                     std::span<std::uint32_t> counts) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const __m256i equal = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(static_cast<char>(values[i])));
    const auto bits = static_cast<std::uint32_t>(_mm256_movemask_epi8(equal));
    counts[i] += static_cast<std::uint32_t>(std::popcount(bits & counted));
  }
}

// Values inside, bytes outside: how often the inner loop is taken is then guessed right.
LONGPOLE_WIDE void count_each_wide(Bytes bytes, Bytes values, std::span<std::uint32_t> counts) {
  constexpr std::uint32_t all = 0xffffffffU;
  std::size_t at = 0;
  for (; at + width <= bytes.size(); at += width)
    count_wide(bytes.data() + at, all, values, counts);
  const std::size_t left = bytes.size() - at;
  if (left == 0)
    return;
  if (at > 0) {
    // The last 32, without those that are counted already.
    count_wide(bytes.data() + bytes.size() - width, all << (width - left), values, counts);
    return;
  }
  std::array<std::uint8_t, width> few{};
  std::copy(bytes.begin(), bytes.end(), few.begin());
  count_wide(few.data(), all >> (width - left), values, counts);
}

bool has_wide() {
  return static_cast<bool>(__builtin_cpu_supports("avx2")) &&
         static_cast<bool>(__builtin_cpu_supports("popcnt"));
}

const bool is_wide = has_wide();

#endif

}  // namespace

void count_each_slowly(Bytes bytes, Bytes values, std::span<std::uint32_t> counts) {
  for (std::size_t i = 0; i < values.size(); ++i)
    counts[i] += count(bytes, values[i]);
}

void count_each(Bytes bytes, Bytes values, std::span<std::uint32_t> counts) {
#if defined(__x86_64__)
  if (is_wide) {
    count_each_wide(bytes, values, counts);
    return;
  }
#endif
  count_each_slowly(bytes, values, counts);
}

}  // namespace longpole::analysis
