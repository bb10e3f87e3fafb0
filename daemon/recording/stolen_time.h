// What the host of a virtual machine takes of its CPUs for others (proc(5), /proc/stat, the column "steal"). A thread on such a
// CPU stands still meanwhile: it neither sleeps nor waits for a CPU, and its CPU clock does not count it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recording/run_files.h"

namespace longpole::recording {

// Looks now and then at what was stolen of some CPUs.
class StolenTimeWatch {
 public:
  // Of a machine whose CPUs were never stolen from, nothing is looked at: reading /proc/stat takes long where there are many.
  explicit StolenTimeWatch(std::vector<std::uint32_t> cpus);

  // `now_ns`: CLOCK_MONOTONIC, ascending.
  void look(std::int64_t now_ns);
  // What such a look saw.
  void note(const StolenLook& now);

  // The looks before and after each change, in order of time.
  [[nodiscard]] std::vector<StolenLook> take();

 private:
  std::vector<std::uint32_t> cpus_;
  bool may_be_stolen_;
  std::vector<StolenLook> looks_;
  std::optional<StolenLook> last_;  // not among them, for nothing has changed since
};

class StolenTime {
 public:
  // On a CPU; times from base.
  struct Run {
    std::int64_t from;
    std::int64_t until;
  };

  StolenTime() = default;
  // `looks`: in order of time, of CLOCK_MONOTONIC; times from here on count from `base_ns`.
  StolenTime(std::span<const StolenLook> looks, std::int64_t base_ns);

  // In all.
  [[nodiscard]] std::int64_t total() const;

  // The most that can have been stolen between the two: what was between the looks around them, and the counter's step, if it
  // moved.
  [[nodiscard]] std::int64_t most_between(std::int64_t from, std::int64_t until) const;

  // Of each of these runs, how much of it was stolen, if between two looks it was shared out evenly over those that ran, and
  // nobody else did.
  [[nodiscard]] std::vector<std::int64_t> shared_out(std::span<const Run> runs) const;

 private:
  struct Look {
    std::int64_t time;
    std::int64_t stolen;
  };
  // Of the last one not after `time`, or of the first.
  [[nodiscard]] std::size_t before(std::int64_t time) const;

  std::vector<Look> looks_;
};

}  // namespace longpole::recording
