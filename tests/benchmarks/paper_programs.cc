#include "paper_programs.h"

#include <fmt/format.h>

#include <random>
#include <vector>

namespace longpole {
namespace {

class Writer {
 public:
  Writer(std::uint32_t threads, std::uint64_t seed) : random_(seed * 64 + threads) {
    const std::uint32_t groups = 1 + below(threads / 2);
    const std::uint32_t sections = 2 * threads + below(threads + 1);
    sections_of_.resize(groups);
    for (std::uint32_t section = 0; section < sections; ++section)
      sections_of_[section < groups ? section : below(groups)].push_back(section);
    for (std::uint32_t section = 0; section < sections; ++section)
      text_ += fmt::format("semaphore S{} = 1\n", section);
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      write_thread(thread, sections_of_[below(groups)]);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }

  void compute() { text_ += fmt::format("  run f {}us\n", 1U << below(16)); }

  void write_thread(std::uint32_t thread, const std::vector<std::uint32_t>& sections) {
    text_ += fmt::format("thread T{}\n", thread + 1);
    std::vector<std::uint32_t> entered;
    do {
      compute();
      // Those with a higher number than any that it is in.
      std::vector<std::uint32_t> open;
      for (const std::uint32_t section : sections) {
        if (entered.empty() || section > entered.back())
          open.push_back(section);
      }
      if (below(2) == 0) {
        if (!open.empty()) {
          entered.push_back(open[below(static_cast<std::uint32_t>(open.size()))]);
          text_ += fmt::format("  wait S{}\n", entered.back());
        }
      } else if (!entered.empty()) {
        leave(entered);
      }
    } while (below(16) != 0);
    while (!entered.empty()) {
      compute();
      leave(entered);
    }
    compute();
  }

  void leave(std::vector<std::uint32_t>& entered) {
    text_ += fmt::format("  post S{}\n", entered.back());
    entered.pop_back();
  }

  std::mt19937_64 random_;
  std::vector<std::vector<std::uint32_t>> sections_of_;  // per group
  std::string text_;
};

}  // namespace

std::string paper_program(std::uint32_t threads, std::uint64_t seed) {
  return Writer(threads, seed).text();
}

}  // namespace longpole
