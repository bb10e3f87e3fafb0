// Bindings of threads to CPUs, and those that can be had without simulating anything.
//
// Thesis, Papers IV, V and VII.
#pragma once

#include <cstdint>
#include <vector>

#include "simulation/machine.h"
#include "trace/recording.h"

namespace longpole::allocation {

// The CPU of each thread, in order of thread id.
using Binding = std::vector<std::uint32_t>;

// The first threads on the first CPU, the next on the next, as evenly as it goes (Paper VII 7.2).
[[nodiscard]] Binding block_binding(std::size_t threads, std::uint32_t cpus);
// Thread i on CPU i modulo the number of CPUs (Paper VII section 7.2).
[[nodiscard]] Binding round_robin_binding(std::size_t threads, std::uint32_t cpus);
// The longest thread that is left on the CPU that has least to do (Paper IV section 3), ties in order.
[[nodiscard]] Binding bin_packed_binding(const std::vector<Nanoseconds>& work, std::uint32_t cpus);

// CPU time of each thread.
[[nodiscard]] std::vector<Nanoseconds> work_of_threads(const Recording& recording);
// Thread ids, the most work first, ties in order of id.
[[nodiscard]] std::vector<std::uint32_t> longest_first(const std::vector<Nanoseconds>& work);

// Which CPUs of a machine are as good as each other: those of a node, and nodes of one size, unless
// CPUs differ in speed.
class Interchangeable {
 public:
  explicit Interchangeable(const simulation::Machine& machine);
  // The same binding for all that differ in nothing that counts: CPUs take their numbers in the order
  // in which threads first use them. CPUs beyond those of the machine stay as they are.
  [[nodiscard]] Binding canonical(const Binding& binding) const;

 private:
  std::vector<std::uint32_t> node_;               // per CPU
  std::vector<std::vector<std::uint32_t>> cpus_;  // per node
  bool are_told_apart_ = false;
};

}  // namespace longpole::allocation
