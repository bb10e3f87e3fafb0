// What `longpole bound` answers: a table, JSON, and curves as in Paper VII, Figures 17 to 22.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocation/bound_parameters.h"
#include "allocation/search.h"
#include "cli/curves.h"
#include "cli/json_document.h"

namespace longpole::cli {

struct BoundReport {
  struct Row {
    std::uint32_t cpus = 1;
    Nanoseconds latency{};
    allocation::Bound bound;
    std::vector<std::optional<double>> totals_ns;  // of `bindings`; none: it stands still
  };

  std::string name;  // empty: of no program in particular
  allocation::BoundFinder finder;
  std::optional<allocation::ProgramParameters> recorded;
  std::vector<allocation::Algorithm>
      bindings;           // that were simulated beside it; of a recording alone
  std::vector<Row> rows;  // CPU count by CPU count, latency by latency

  // Of the completion time with a CPU for each thread: what one CPU takes.
  [[nodiscard]] double on_one_cpu() const;
  [[nodiscard]] double bound_ns(const Row& row) const;  // of a recording
  // That a binding takes longer than some other surely does.
  [[nodiscard]] bool better_exists(const Row& row, std::size_t binding) const;
  // Against one CPU; none: it stands still.
  [[nodiscard]] double speedup(const Row& row) const;
  [[nodiscard]] std::optional<double> speedup(const Row& row, std::size_t binding) const;
};

[[nodiscard]] Json bound_json(const BoundReport& report);
[[nodiscard]] std::string bound_text(const BoundReport& report);

// Speed-ups by the number of CPUs: for each latency the bound and the bindings (Figures 17 to 19 and
// 21), and the bound for all latencies (Figure 22). Of one number of CPUs: by latency (Figure 20).
[[nodiscard]] std::vector<Chart> bound_charts(const BoundReport& report);

}  // namespace longpole::cli
