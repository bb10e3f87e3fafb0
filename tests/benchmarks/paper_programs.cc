#include "paper_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

namespace longpole {
namespace {

using Enters = PaperReading::Enters;
using Groups = PaperReading::Groups;

class Writer {
 public:
  Writer(std::uint32_t threads, std::uint64_t seed, const PaperReading& reading)
      : reading_(reading), random_(seed * 64 + threads) {
    const std::uint32_t drawn = 1 + below(threads / 2);
    const std::uint32_t groups = reading.groups == Groups::one ? 1 : drawn;
    const std::uint32_t sections = 2 * threads + below(threads + 1);
    const bool even = reading.groups != Groups::chance;
    sections_of_.resize(groups);
    for (std::uint32_t section = 0; section < sections; ++section)
      sections_of_[even || section < groups ? section % groups : below(groups)].push_back(section);
    for (std::uint32_t section = 0; section < sections; ++section)
      text_ += fmt::format("semaphore S{} = 1\n", section);
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      write_thread(thread, sections_of_[even ? thread % groups : below(groups)]);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  std::uint32_t below(std::size_t count) { return below(static_cast<std::uint32_t>(count)); }

  void compute() {
    text_ += fmt::format("  run f {}ns\n", std::uint64_t{reading_.unit_ns} << below(16U));
  }

  void write_thread(std::uint32_t thread, const std::vector<std::uint32_t>& sections) {
    text_ += fmt::format("thread T{}\n", thread + 1);
    std::vector<std::uint32_t> entered;
    do {
      compute();
      const bool enters = below(2U) == 0;
      if (enters && enter(sections, entered))
        continue;
      if ((!enters || reading_.does_the_other) && leave(entered))
        continue;
      if (!enters && reading_.does_the_other)
        enter(sections, entered);
    } while (below(16U) != 0);
    while (!entered.empty()) {
      compute();
      leave(entered);
    }
    compute();
  }

  // One with a higher number than any that the thread is in.
  // False: there is none.
  bool enter(const std::vector<std::uint32_t>& sections, std::vector<std::uint32_t>& entered) {
    const auto may_enter = [&](std::uint32_t section) {
      return entered.empty() || section > *std::max_element(entered.begin(), entered.end());
    };
    std::vector<std::uint32_t> open;
    for (const std::uint32_t section : sections) {
      if (reading_.enters == Enters::draw || may_enter(section))
        open.push_back(section);
    }
    if (open.empty())
      return false;
    const std::uint32_t section =
        reading_.enters == Enters::first ? open.front() : open[below(open.size())];
    if (!may_enter(section))
      return false;
    entered.push_back(section);
    text_ += fmt::format("  wait S{}\n", section);
    return true;
  }

  bool leave(std::vector<std::uint32_t>& entered) {
    if (entered.empty())
      return false;
    const auto left =
        reading_.leaves_any ? entered.begin() + below(entered.size()) : entered.end() - 1;
    text_ += fmt::format("  post S{}\n", *left);
    entered.erase(left);
    return true;
  }

  const PaperReading& reading_;
  std::mt19937_64 random_;
  std::vector<std::vector<std::uint32_t>> sections_of_;  // per group
  std::string text_;
};

}  // namespace

std::string paper_program(std::uint32_t threads, std::uint64_t seed, const PaperReading& reading) {
  return Writer(threads, seed, reading).text();
}

}  // namespace longpole
