// Bytes are counted alike whatever the CPU has, of any length and from any place.
#include "analysis/byte_counts.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace longpole::analysis {
namespace {

using Counts = std::vector<std::uint32_t>;

TEST(ByteCounts, AreThoseOfTheValuesAlone) {
  const std::vector<std::uint8_t> bytes = {3, 0, 7, 3, 3, 255, 9};
  const std::vector<std::uint8_t> values = {3, 255, 8};
  Counts counts = {10, 0, 0};
  count_each(bytes, values, counts);
  EXPECT_EQ(counts, (Counts{13, 1, 0})) << "added to what was there";
  Counts none(3, 0);
  count_each({}, values, none);
  EXPECT_EQ(none, Counts(3, 0));
}

TEST(ByteCounts, AreAlikeOfAnyLengthAndFromAnyPlace) {
  std::mt19937 random(7);
  std::vector<std::uint8_t> bytes(1000);
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random() % 6);
  const std::vector<std::uint8_t> values = {1, 2, 3, 5, 4};
  for (std::size_t from = 0; from < 40; ++from) {
    for (std::size_t length = 0; from + length <= bytes.size(); length += length < 140 ? 1 : 53) {
      const std::span<const std::uint8_t> some = std::span(bytes).subspan(from, length);
      Counts counted(values.size(), 0);
      Counts wanted(values.size(), 0);
      for (const std::uint8_t byte : some) {
        for (std::size_t i = 0; i < values.size(); ++i)
          wanted[i] += byte == values[i] ? 1U : 0U;
      }
      count_each(some, values, counted);
      ASSERT_EQ(counted, wanted) << length << " bytes from " << from;
      Counts slowly(values.size(), 0);
      count_each_slowly(some, values, slowly);
      ASSERT_EQ(slowly, wanted) << length << " bytes from " << from;
    }
  }
}

}  // namespace
}  // namespace longpole::analysis
