#include "recording/record_costs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace longpole::recording {
namespace {

// Enough for a hundredth of a stretch that varies by all of itself.
constexpr std::size_t most_stretches = 1U << 14U;
constexpr std::size_t fewest_stretches = 64;
constexpr double known_to = 0.1;  // of the cost in an empty loop, by the standard error
// What is behind the change of chunks finds the processor's caches full of the chunk.
constexpr std::size_t records_in_cold_cache = 256;

struct Mean {
  double value = 0;
  double variance = 0;  // of the mean
};

// Of the middle four fifths: a stretch in which the thread lost its CPU says nothing.
Mean middle_mean(std::vector<std::uint64_t>& stretches) {
  std::sort(stretches.begin(), stretches.end());
  const std::size_t tenth = stretches.size() / 10;
  const auto middle = std::span(stretches).subspan(tenth, stretches.size() - 2 * tenth);
  const auto count = static_cast<double>(middle.size());
  double sum = 0;
  for (const std::uint64_t stretch : middle)
    sum += static_cast<double>(stretch);
  double squares = 0;
  for (const std::uint64_t stretch : middle)
    squares += std::pow(static_cast<double>(stretch) - sum / count, 2);
  return {sum / count, squares / count / count};
}

}  // namespace

class RecordCosts::Survey {
 public:
  void add(const RawThread& thread) {
    for (const RawChunk& chunk : thread.chunks) {
      std::size_t number = 0;
      std::optional<longpole_record> before;
      bool twice = false;
      for_each_record(chunk, [&](const longpole_record& record) {
        ++number;
        if (LONGPOLE_KIND(record.kind_and_flags) == LONGPOLE_AGAIN) {
          twice = true;
          return;
        }
        if (before && may_be_written_twice(record) && number > records_in_cold_cache) {
          Stretches& here = stretches_[{before->site, record.site}];
          std::vector<std::uint64_t>& known = twice ? here.twice : here.once;
          if (known.size() < most_stretches && record.tsc > before->tsc)
            known.push_back(record.tsc - before->tsc);
        }
        before.reset();
        if (may_be_written_twice(record))
          before = record;
        twice = false;
      });
    }
  }

  void conclude(RecordCosts& costs, double ps_per_stamp) {
    if (costs.in_empty_loop_ps_ == 0)
      return;  // nobody measured it, for want of memory
    const auto in_empty_loop = static_cast<double>(costs.in_empty_loop_ps_);
    const double of_first = static_cast<double>(costs.unmeasured()) / in_empty_loop;
    for (auto& [places, here] : stretches_) {
      if (here.once.size() < fewest_stretches || here.twice.size() < fewest_stretches)
        continue;
      const Mean without = middle_mean(here.once);
      const Mean with = middle_mean(here.twice);
      const double error = std::sqrt(without.variance + with.variance) * ps_per_stamp;
      if (error > known_to * in_empty_loop)
        continue;
      const double of_second = (with.value - without.value) * ps_per_stamp;
      costs.measured_[places] = std::llround(of_second * of_first);
    }
  }

 private:
  struct Stretches {
    std::vector<std::uint64_t> once;
    std::vector<std::uint64_t> twice;
  };

  std::unordered_map<Places, Stretches, Hash> stretches_;
};

RecordCosts RecordCosts::measure(const std::vector<RawThread>& threads,
                                 const RecordCosts& unmeasured, double ps_per_stamp) {
  RecordCosts costs = unmeasured;
  Survey survey;
  for (const RawThread& thread : threads)
    survey.add(thread);
  survey.conclude(costs, ps_per_stamp);
  return costs;
}

std::int64_t RecordCosts::of(std::uint64_t site, std::uint64_t next_site) const {
  const auto found = measured_.find({site, next_site});
  return found == measured_.end() ? unmeasured() : found->second;
}

}  // namespace longpole::recording
