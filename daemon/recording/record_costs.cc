#include "recording/record_costs.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace longpole::recording {
namespace {

constexpr std::size_t fewest_stretches = 64;
constexpr double known_to = 0.1;  // of the cost in an empty loop, by the standard error
// Of the chunks in which records are written twice so many at most, all over the run.
constexpr std::size_t most_chunks = 4096;
// As many, on either side of those that are written twice, as the page that has them has room for.
constexpr std::size_t records_beside =
    (LONGPOLE_PAGE_BYTES - LONGPOLE_FIRST_SLOT) / sizeof(longpole_record);

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
  // Of so many chunks in all.
  explicit Survey(std::size_t chunks)
      : every_(1 + chunks / LONGPOLE_CHUNKS_PER_AGAIN / most_chunks) {}

  void add(const RawThread& thread) {
    for (const RawChunk& chunk : thread.chunks)
      add(chunk);
  }

  void conclude(RecordCosts& costs, double ps_per_stamp) {
    if (costs.in_empty_loop_ps_ == 0)
      return;  // nobody measured it, for want of memory
    const auto in_empty_loop = static_cast<double>(costs.in_empty_loop_ps_);
    const double of_first = static_cast<double>(costs.beside_no_call().once) / in_empty_loop;
    for (auto& [places, here] : stretches_) {
      if (here.once.size() < fewest_stretches || here.twice.size() < fewest_stretches)
        continue;
      const Mean without = middle_mean(here.once);
      const Mean with = middle_mean(here.twice);
      const double error = std::sqrt(without.variance + with.variance) * ps_per_stamp;
      if (error > known_to * in_empty_loop)
        continue;
      const double of_second = (with.value - without.value) * ps_per_stamp;
      costs.measured_[places] = {.once = std::llround(of_second * of_first) + costs.exposed_ps_,
                                 .again = std::llround(of_second)};
    }
  }

 private:
  struct Stretches {
    std::vector<std::uint64_t> once;
    std::vector<std::uint64_t> twice;
  };
  struct Found {
    Places places;
    std::uint64_t length;
    std::size_t number;  // of its last record in the chunk
    bool twice;
  };

  // Those near what is written twice alone: a processor's speed is not the same throughout a run.
  void add(const RawChunk& chunk) {
    std::size_t number = 0;
    std::size_t first_again = 0;
    std::size_t last_again = 0;
    longpole_record before{};
    bool is_before_plain = false;
    bool twice = false;
    found_.clear();
    for_each_record(chunk, [&](const longpole_record& record) {
      ++number;
      if (LONGPOLE_KIND(record.kind_and_flags) == LONGPOLE_AGAIN) {
        twice = true;
        first_again = first_again == 0 ? number : first_again;
        last_again = number;
        return;
      }
      const bool is_plain = may_be_written_twice(record);
      if (is_before_plain && is_plain && record.tsc > before.tsc)
        found_.push_back({{before.site, record.site}, record.tsc - before.tsc, number, twice});
      before = record;
      is_before_plain = is_plain;
      twice = false;
    });
    if (first_again == 0 || seen_++ % every_ != 0)
      return;
    for (const Found& found : found_) {
      if (found.number + records_beside < first_again || found.number > last_again + records_beside)
        continue;
      Stretches& here = stretches_[found.places];
      (found.twice ? here.twice : here.once).push_back(found.length);
    }
  }

  std::size_t every_;
  std::size_t seen_ = 0;      // chunks in which records are written twice
  std::vector<Found> found_;  // in a chunk
  std::unordered_map<Places, Stretches, Hash> stretches_;
};

RecordCosts RecordCosts::measure(const std::vector<RawThread>& threads,
                                 const RecordCosts& unmeasured, double ps_per_stamp) {
  RecordCosts costs = unmeasured;
  std::size_t chunks = 0;
  for (const RawThread& thread : threads)
    chunks += thread.chunks.size();
  Survey survey(chunks);
  for (const RawThread& thread : threads)
    survey.add(thread);
  survey.conclude(costs, ps_per_stamp);
  return costs;
}

RecordCosts::Cost RecordCosts::of(std::uint64_t site, std::uint64_t next_site) const {
  const auto found = measured_.find({site, next_site});
  return found == measured_.end() ? Cost{beside_no_call().once + exposed_ps_, in_empty_loop_ps_}
                                  : found->second;
}

}  // namespace longpole::recording
