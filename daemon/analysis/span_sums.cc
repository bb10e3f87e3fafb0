#include "analysis/span_sums.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace longpole::analysis {
namespace {

constexpr std::uint32_t group = 8;  // lengths of 32 bits in a register
constexpr std::uint32_t groups = 4;

// Where each byte of four lengths is, by their sizes; 0x80: nowhere, it is 0.
using Places = std::array<std::uint8_t, 16>;
alignas(16) constexpr std::array<Places, 256> places_by_sizes = [] {
  std::array<Places, 256> all{};
  for (std::size_t sizes = 0; sizes < all.size(); ++sizes) {
    std::uint8_t at = 0;
    for (std::size_t length = 0; length < 4; ++length) {
      const std::size_t more = sizes >> 2 * length & 3U;
      for (std::size_t byte = 0; byte < 4; ++byte)
        all[sizes][4 * length + byte] = byte <= more ? at++ : 0x80;
    }
  }
  return all;
}();

// Byte i: where the lengths of the i-th four begin. None waits for the one before.
constexpr std::uint64_t begins_of_fours(std::uint64_t sizes) {
  constexpr std::uint64_t every_byte = 0x0101010101010101;
  const std::uint64_t pairs = (sizes & 0x33 * every_byte) + (sizes >> 2U & 0x33 * every_byte);
  const std::uint64_t bytes = (pairs & 0x0f * every_byte) + (pairs >> 4U & 0x0f * every_byte);
  return (bytes + 4 * every_byte) * every_byte << 8U;
}

#define LONGPOLE_WIDE [[gnu::target("avx2,popcnt")]]

LONGPOLE_WIDE inline __m128i four_lengths(const FullBlock& block, std::uint64_t begins,
                                          std::uint32_t number) {
  const std::uint8_t* const at = block.lengths + (begins >> 8 * number & 0xffU);
  const auto sizes = static_cast<std::uint8_t>(block.sizes >> 8 * number);
  return _mm_shuffle_epi8(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)),
      _mm_load_si128(reinterpret_cast<const __m128i*>(places_by_sizes[sizes].data())));
}
LONGPOLE_WIDE inline __m256i eight_codes(const std::uint8_t* at) {
  std::uint32_t packed = 0;  // three bytes, and one more
  std::memcpy(&packed, at, sizeof(packed));
  const __m256i shifts = _mm256_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21);
  return _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(packed)), shifts),
                          _mm256_set1_epi32(7));
}
LONGPOLE_WIDE inline __m256i lengths_of(__m256i lengths, __m256i codes, int code) {
  return _mm256_and_si256(lengths, _mm256_cmpeq_epi32(codes, _mm256_set1_epi32(code)));
}

using Lanes = std::uint32_t __attribute__((vector_size(sizeof(__m256i))));
LONGPOLE_WIDE inline __m256i plus(__m256i a, __m256i b) {
  return reinterpret_cast<__m256i>(reinterpret_cast<Lanes>(a) + reinterpret_cast<Lanes>(b));
}
// Sums of the first, the first two, and so on; behind `before`, which is the same eight times.
LONGPOLE_WIDE inline __m256i sums_behind(__m256i before, __m256i values) {
  __m256i sums = plus(values, _mm256_slli_si256(values, 4));
  sums = plus(sums, _mm256_slli_si256(sums, 8));
  const __m256i low = _mm256_shuffle_epi32(_mm256_permute2x128_si256(sums, sums, 0x08), 0xff);
  return plus(plus(sums, low), before);
}
LONGPOLE_WIDE inline __m256i last_of(__m256i values) {
  return _mm256_permutevar8x32_epi32(values, _mm256_set1_epi32(7));
}
LONGPOLE_WIDE inline void store(std::uint32_t* at, __m256i values) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), values);
}

}  // namespace

bool has_wide_sums() {
  return static_cast<bool>(__builtin_cpu_supports("avx2")) &&
         static_cast<bool>(__builtin_cpu_supports("popcnt"));
}

LONGPOLE_WIDE void sum_wide(const FullBlock& block, const SpanSums& sums) {
  const std::uint64_t begins = begins_of_fours(block.sizes);
  __m256i ends = _mm256_setzero_si256();
  __m256i running = ends;
  __m256i runnable = ends;
  for (std::uint32_t i = 0; i < groups; ++i) {
    const __m256i lengths = _mm256_set_m128i(four_lengths(block, begins, 2 * i + 1),
                                             four_lengths(block, begins, 2 * i));
    const __m256i codes = eight_codes(block.codes + std::size_t{3} * i);
    const __m256i ends_here = sums_behind(ends, lengths);
    const __m256i running_here = sums_behind(running, lengths_of(lengths, codes, 0));
    const __m256i runnable_here = sums_behind(runnable, lengths_of(lengths, codes, 1));
    store(sums.ends + std::size_t{group} * i, ends_here);
    store(sums.running + std::size_t{group} * i, running_here);
    store(sums.runnable + std::size_t{group} * i, runnable_here);
    ends = last_of(ends_here);
    running = last_of(running_here);
    runnable = last_of(runnable_here);
  }
}

LONGPOLE_WIDE std::uint32_t count_up_to_wide(const std::uint32_t* rising, std::uint32_t most) {
  const __m256i limit = _mm256_set1_epi32(static_cast<int>(most));
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < groups; ++i) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rising + group * i));
    const auto fit = reinterpret_cast<__m256i>(reinterpret_cast<Lanes>(values) <=
                                               reinterpret_cast<Lanes>(limit));
    count += static_cast<std::uint32_t>(
        std::popcount(static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(fit)))));
  }
  return count;
}

}  // namespace longpole::analysis

#else

#include <cstdlib>

namespace longpole::analysis {

bool has_wide_sums() {
  return false;
}
void sum_wide(const FullBlock& /*block*/, const SpanSums& /*sums*/) {
  std::abort();
}
std::uint32_t count_up_to_wide(const std::uint32_t* /*rising*/, std::uint32_t /*most*/) {
  std::abort();
}

}  // namespace longpole::analysis

#endif
