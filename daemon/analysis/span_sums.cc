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
constexpr std::uint32_t groups = FullBlock::spans / group;

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

// By which of eight spans end a part: of which part each is, as a byte, if the first is of part 0.
using Parts = std::array<std::uint8_t, group>;
alignas(group) constexpr std::array<Parts, 256> parts_by_ends = [] {
  std::array<Parts, 256> all{};
  for (std::size_t ends = 0; ends < all.size(); ++ends) {
    std::uint8_t part = 0;
    for (std::size_t span = 0; span < group; ++span) {
      all[ends][span] = part;
      part = static_cast<std::uint8_t>(part + (ends >> span & 1U));
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
using Sums = std::uint64_t __attribute__((vector_size(sizeof(__m256i))));
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
LONGPOLE_WIDE inline Lanes load(const std::uint32_t* at) {
  return reinterpret_cast<Lanes>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
// What is between neighbouring sums.
LONGPOLE_WIDE inline Lanes steps(const std::uint32_t* sums) {
  return load(sums + 1) - load(sums);
}
LONGPOLE_WIDE inline Lanes up_to(Lanes limit, const std::uint32_t* at) {
  const Lanes values = load(at);
  return values < limit ? values : limit;
}
LONGPOLE_WIDE inline Lanes smaller(Lanes a, Lanes b) {
  return a < b ? a : b;
}
LONGPOLE_WIDE inline Lanes larger(Lanes a, Lanes b) {
  return a > b ? a : b;
}
// A bit for each that is equal.
LONGPOLE_WIDE inline std::uint32_t equal(Lanes a, Lanes b) {
  return static_cast<std::uint32_t>(
      _mm256_movemask_ps(_mm256_castsi256_ps(reinterpret_cast<__m256i>(a == b))));
}
// Of so many times as there are spans in a block: the first of the longest.
LONGPOLE_WIDE inline std::uint32_t first_longest(const std::array<Lanes, groups>& times) {
  Lanes longest = larger(larger(times[0], times[1]), larger(times[2], times[3]));
  longest = larger(longest, __builtin_shufflevector(longest, longest, 4, 5, 6, 7, 0, 1, 2, 3));
  longest = larger(longest, __builtin_shufflevector(longest, longest, 2, 3, 0, 1, 6, 7, 4, 5));
  longest = larger(longest, __builtin_shufflevector(longest, longest, 1, 0, 3, 2, 5, 4, 7, 6));
  std::uint32_t are_longest = 0;
  for (std::uint32_t i = 0; i < groups; ++i)
    are_longest |= equal(times[i], longest) << group * i;
  return static_cast<std::uint32_t>(std::countr_zero(are_longest));
}
// The highest bit of those whose span ends its part.
LONGPOLE_WIDE inline __m256i part_ends(__m256i codes) {
  const __m256i ends =
      _mm256_srlv_epi32(_mm256_set1_epi32(FullBlock::ending), codes);  // as the lowest bit
  return _mm256_slli_epi32(ends, 31);
}
// What it is shifted by, so that products are of numbers without a sign.
constexpr std::int16_t weight_shift = -0x8000;
struct ShiftedWeights {
  LONGPOLE_WIDE __m256i operator()(std::uint32_t part) const {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(weights + part));
    return _mm256_cvtepu16_epi32(_mm_xor_si128(eight, _mm_set1_epi16(weight_shift)));
  }
  const std::int16_t* weights;
};
struct PathWeights {
  LONGPOLE_WIDE __m256i operator()(std::uint32_t part) const {
    const std::size_t first = first_part + part;
    std::uint16_t bits = 0;
    std::memcpy(&bits, on_path + first / 8, sizeof(bits));
    const __m256i each = _mm256_srlv_epi32(_mm256_set1_epi32(bits >> first % 8),
                                           _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_and_si256(each, _mm256_set1_epi32(1));
  }
  const std::uint8_t* on_path;
  std::size_t first_part;
};
// Of every second number of 32 bits, in 64. Vectors have no product but that of all 64 bits.
LONGPOLE_WIDE inline Sums products(__m256i a, __m256i b) {
  using Numbers = int __attribute__((vector_size(sizeof(__m256i))));
  return reinterpret_cast<Sums>(
      __builtin_ia32_pmuludq256(reinterpret_cast<Numbers>(a), reinterpret_cast<Numbers>(b)));
}
// Of eight parts, as they are given by `eight_weights`, those of the spans of a block, each times the time
// that it runs.
template <typename EightWeights>
LONGPOLE_WIDE inline std::uint64_t weigh(const RunningBlock& block,
                                         const EightWeights& eight_weights) {
  const Lanes limit = Lanes{} + block.passed;
  Sums sums{};
  std::uint32_t part = 0;
  for (std::uint32_t i = 0; i < groups; ++i) {
    const __m256i codes = eight_codes(block.codes + std::size_t{3} * i);
    const auto ends =
        static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(part_ends(codes))));
    const __m256i parts = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64(reinterpret_cast<const __m128i*>(parts_by_ends[ends].data())));
    const __m256i weights = _mm256_permutevar8x32_epi32(eight_weights(part), parts);
    const std::uint32_t* const at = block.ends + std::size_t{group} * i;
    const __m256i time =
        lengths_of(reinterpret_cast<__m256i>(up_to(limit, at + 1) - up_to(limit, at)), codes,
                   FullBlock::running);
    sums += products(time, weights);
    sums += products(_mm256_srli_epi64(time, 32), _mm256_srli_epi64(weights, 32));
    part += static_cast<std::uint32_t>(std::popcount(ends));
  }
  return sums[0] + sums[1] + sums[2] + sums[3];
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
    const __m256i running_here =
        sums_behind(running, lengths_of(lengths, codes, FullBlock::running));
    const __m256i runnable_here =
        sums_behind(runnable, lengths_of(lengths, codes, FullBlock::runnable));
    store(sums.ends + std::size_t{group} * i, ends_here);
    store(sums.running + std::size_t{group} * i, running_here);
    store(sums.runnable + std::size_t{group} * i, runnable_here);
    ends = last_of(ends_here);
    running = last_of(running_here);
    runnable = last_of(runnable_here);
  }
}

LONGPOLE_WIDE PassedSpans pass_wide(const FullBlock& block, std::uint32_t time,
                                    std::uint32_t* ends) {
  const std::uint64_t begins = begins_of_fours(block.sizes);
  const Lanes limit = Lanes{} + time;
  __m256i before = _mm256_setzero_si256();
  __m256i running = before;
  __m256i runnable = before;
  PassedSpans passed;
  for (std::uint32_t i = 0; i < groups; ++i) {
    const __m256i lengths = _mm256_set_m128i(four_lengths(block, begins, 2 * i + 1),
                                             four_lengths(block, begins, 2 * i));
    const __m256i codes = eight_codes(block.codes + std::size_t{3} * i);
    const __m256i ends_here = sums_behind(before, lengths);
    before = last_of(ends_here);
    store(ends + std::size_t{group} * i, ends_here);
    // Of each span what is behind the time, or all of it.
    const Lanes over = larger(reinterpret_cast<Lanes>(ends_here), limit) - limit;
    const auto all = reinterpret_cast<Lanes>(lengths);
    const auto part = reinterpret_cast<__m256i>(all - smaller(all, over));
    running = plus(running, lengths_of(part, codes, FullBlock::running));
    runnable = plus(runnable, lengths_of(part, codes, FullBlock::runnable));
    passed.ended += static_cast<std::uint32_t>(std::popcount(equal(over, Lanes{})));
  }
  __m256i sums = _mm256_hadd_epi32(running, runnable);
  sums = _mm256_hadd_epi32(sums, sums);
  const auto both =
      reinterpret_cast<Lanes>(plus(sums, _mm256_permute2x128_si256(sums, sums, 0x01)));
  passed.running = both[0];
  passed.runnable = both[1];
  return passed;
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

LONGPOLE_WIDE std::uint32_t longest_run_wide(const std::uint8_t* codes, const std::uint32_t* ends) {
  std::array<Lanes, groups> times{};
  for (std::uint32_t i = 0; i < groups; ++i)
    times[i] = reinterpret_cast<Lanes>(
        lengths_of(reinterpret_cast<__m256i>(steps(ends + std::size_t{group} * i)),
                   eight_codes(codes + std::size_t{3} * i), FullBlock::running));
  return first_longest(times);
}

LONGPOLE_WIDE std::uint32_t longest_wait_wide(const std::uint8_t* codes,
                                              const std::uint32_t* ends) {
  std::array<Lanes, groups> times{};
  for (std::uint32_t i = 0; i < groups; ++i) {
    const auto code = reinterpret_cast<Lanes>(eight_codes(codes + std::size_t{3} * i));
    // What has no length does not wait, whatever its code.
    times[i] = steps(ends + std::size_t{group} * i) &
               reinterpret_cast<Lanes>(code > Lanes{} + FullBlock::runnable);
  }
  return first_longest(times);
}

LONGPOLE_WIDE std::int64_t weigh_wide(const RunningBlock& block, const std::int16_t* weights) {
  return static_cast<std::int64_t>(weigh(block, ShiftedWeights{weights})) +
         std::int64_t{weight_shift} * block.ran;
}

LONGPOLE_WIDE std::int64_t weigh_path_wide(const RunningBlock& block, const std::uint8_t* on_path,
                                           std::size_t part) {
  return static_cast<std::int64_t>(weigh(block, PathWeights{on_path, part}));
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
PassedSpans pass_wide(const FullBlock& /*block*/, std::uint32_t /*time*/, std::uint32_t* /*ends*/) {
  std::abort();
}
std::uint32_t count_up_to_wide(const std::uint32_t* /*rising*/, std::uint32_t /*most*/) {
  std::abort();
}
std::uint32_t longest_run_wide(const std::uint8_t* /*codes*/, const std::uint32_t* /*ends*/) {
  std::abort();
}
std::uint32_t longest_wait_wide(const std::uint8_t* /*codes*/, const std::uint32_t* /*ends*/) {
  std::abort();
}
std::int64_t weigh_wide(const RunningBlock& /*block*/, const std::int16_t* /*weights*/) {
  std::abort();
}
std::int64_t weigh_path_wide(const RunningBlock& /*block*/, const std::uint8_t* /*on_path*/,
                             std::size_t /*part*/) {
  std::abort();
}

}  // namespace longpole::analysis

#endif
