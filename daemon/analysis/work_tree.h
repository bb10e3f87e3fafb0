// On whose behalf a program works and waits: procedures, the locks whose critical sections they are
// in, and whoever created their threads, in one tree (Quartz: Anderson and Lazowska, "Quartz: A Tool
// for Tuning Parallel Program Performance", sections 3.1 and 3.3).
//
//   main ── spawn ──┬── worker ──┬── compute          a thread goes on where it was created
//                   │            └── mutex M ── merge  called with M held: on behalf of M
//                   └── barrier B                      waited for
//
// Quartz keeps a profile stack per thread, on which a lock stands from before it is taken until it
// is released, and copies it to new threads. Here the stacks come from the recording. A lock stands
// after the last function that the path where it was taken and the path at hand have in common.
// Procedures that call themselves are entered once. Frames of the system are left out, but for the
// one that time is charged to (study.h).
//
// A *row* is what the same time is distributed alike for: all stretches of computing with one
// profile, base and locks, or all waits at one node, spinning apart. There are as many as different ones, not as
// many as events. Immutable after construction; the Recording and Schedule must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulation/schedule.h"
#include "trace/recording.h"

namespace longpole::analysis {

enum class EntityKind : std::uint8_t { program, function, object, thread };
struct Entity {
  EntityKind kind = EntityKind::program;  // program: the root; what is known of nothing else
  std::uint32_t id = 0;                   // FunctionId, ObjectId or ThreadId; 0 for the program
  friend constexpr auto operator<=>(const Entity&, const Entity&) = default;
};

// How time is spent at a row. Spinning is told in spinning.h.
enum class Spent : std::uint8_t {
  computing,
  spinning,          // computing in a loop of calls in vain
  waiting,           // off the CPU
  waiting_spinning,  // likewise as simulated, for a lock that burns CPU time
};
inline constexpr std::size_t spent_count = 4;
[[nodiscard]] constexpr bool is_computing(Spent spent) {
  return spent == Spent::computing || spent == Spent::spinning;
}

using WorkIndex = std::uint32_t;
struct WorkNode {
  WorkIndex parent = 0;  // a smaller index; the root, index 0, is its own
  std::uint32_t depth = 0;
  Entity entity;
  std::uint64_t calls = 0;   // entries, acquisitions and waits from the parent, as far as recorded
  bool calls_known = false;  // always of objects
};

class WorkTree {
 public:
  // Beyond these, work is charged to what is further out.
  static constexpr std::uint32_t deepest_base = 256;   // nodes above a thread's first function
  static constexpr std::uint32_t most_locks_held = 8;  // by a thread at once
  static constexpr std::uint32_t most_rows = 1U << 22U;
  static constexpr std::uint32_t most_lock_paths = 1U << 20U;

  WorkTree(const Recording& recording, const simulation::Schedule& schedule);

  [[nodiscard]] const std::vector<WorkNode>& nodes() const { return nodes_; }

  struct Share {
    WorkIndex node;
    double share;
  };
  [[nodiscard]] std::size_t row_count() const { return shares_begin_.size() - 1; }
  [[nodiscard]] std::span<const Share> shares(std::uint32_t row) const {
    return {shares_.data() + shares_begin_[row], shares_begin_[row + 1] - shares_begin_[row]};
  }
  [[nodiscard]] Spent spent(std::uint32_t row) const { return spent_[row]; }
  // Whether anything computes in loops of calls in vain.
  [[nodiscard]] bool spins() const { return spins_; }
  // Of a segment, and of the blocked time before it.
  [[nodiscard]] std::uint32_t row_of(simulation::SegmentIndex s) const { return row_of_[s]; }
  [[nodiscard]] std::uint32_t gap_row_of(simulation::SegmentIndex s) const { return gap_row_[s]; }

 private:
  friend class WorkTreeBuilder;
  std::vector<WorkNode> nodes_{WorkNode{}};
  std::vector<Share> shares_;
  std::vector<std::size_t> shares_begin_{0};
  std::vector<Spent> spent_;
  bool spins_ = false;
  simulation::LargeArray<std::uint32_t> row_of_;
  simulation::LargeArray<std::uint32_t> gap_row_;
};

}  // namespace longpole::analysis
