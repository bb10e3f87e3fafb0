#include "recording/agreement.h"

#include <cmath>

namespace longpole::recording {
namespace {

constexpr double telling_deviations = 4;
constexpr double telling_difference = 0.05;  // of the chance that two samples agree

double pairs(double count) {
  return count * (count - 1) / 2;
}

double sum_of(const SampleCounts& counts) {
  double sum = 0;
  for (const auto& [stack, samples] : counts)
    sum += static_cast<double>(samples);
  return sum;
}

}  // namespace

bool differ(std::span<const SampleCounts* const> groups) {
  SampleCounts all;
  for (const SampleCounts* group : groups)
    for (const auto& [stack, samples] : *group)
      all[stack] += samples;
  const double count = sum_of(all);
  if (count < 2)
    return false;
  double agreeing_pairs = 0;
  double agreeing_triples = 0;  // of three samples, as a share
  for (const auto& [stack, samples] : all) {
    const auto n = static_cast<double>(samples);
    agreeing_pairs += pairs(n);
    agreeing_triples += n / count * n / count * n / count;
  }
  const double chance = agreeing_pairs / pairs(count);

  // Pairs that have a sample in common are not independent: where one agrees, the other is likelier to.
  double compared = 0;
  double agreeing = 0;
  double variance = 0;
  for (const SampleCounts* group : groups) {
    const double size = sum_of(*group);
    const double pairs_in_common = pairs(size) * (size - 2) * 2;
    compared += pairs(size);
    for (const auto& [stack, samples] : *group)
      agreeing += pairs(static_cast<double>(samples));
    variance += pairs(size) * chance * (1 - chance) +
                pairs_in_common * std::fmax(agreeing_triples - chance * chance, 0);
  }
  const double surplus = agreeing - compared * chance;
  return surplus > telling_difference * compared &&
         surplus > telling_deviations * std::sqrt(variance);
}

}  // namespace longpole::recording
