// Whom a stretch of computing is charged to: the call paths of a Recording, arranged so that times
// put on them add up to functions in linear time.
//
// A node is a place on a call path, together with the *lineage* of the thread: the functions on
// whose behalf the thread runs, that is, those that stood on the stack where it was created, where
// its creator was created, and so on (Quartz, section 3.1: a procedure's total takes in the threads
// created on its behalf). Threads of the same lineage share their nodes.
//
//   main ── spawn ── pthread_create         lineage of the new thread: {main, spawn}
//                        └──▶ worker ── compute
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "trace/recording.h"

namespace longpole::analysis {

using NodeIndex = std::uint32_t;
using LineageIndex = std::uint32_t;
inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

// The frame that a call path is charged to: the innermost of the user's own code, else the
// innermost (study.h). By stack.
[[nodiscard]] std::vector<StackId> charged_frames(const Recording& recording);

// Part of the system, by its file or, where that is not known, by its module; or of the recorder.
[[nodiscard]] bool is_system_code(const Recording& recording, const Function& function);

[[nodiscard]] inline std::uint64_t samples_in(const Profile& profile) {
  std::uint64_t sum = 0;
  for (const ProfileEntry& entry : profile.entries)
    sum += entry.samples;
  return sum;
}

// The parts of a profile's time that its entries have.
template <typename Visit>  // visit(entry, share)
void for_each_share(const Profile& profile, Visit visit) {
  if (profile.exact)
    return visit(profile.entries[0], 1.0);
  const std::uint64_t samples = samples_in(profile);
  for (const ProfileEntry& entry : profile.entries)
    visit(entry, samples == 0 ? 1 / static_cast<double>(profile.entries.size())
                              : static_cast<double>(entry.samples) / static_cast<double>(samples));
}

struct Lineage {
  LineageIndex parent = no_index;  // the lineage without `function`: a smaller index
  FunctionId function;             // none: of threads that nobody created, index 0
  std::uint32_t size = 0;          // number of functions
};

class Lineages {
 public:
  // A lineage holds the outermost ones of so many functions: a chain of threads that create each
  // other takes no more memory than that.
  static constexpr std::uint32_t longest = 256;

  explicit Lineages(const Recording& recording);

  [[nodiscard]] const std::vector<Lineage>& all() const { return lineages_; }
  [[nodiscard]] LineageIndex of(std::uint32_t thread) const { return of_thread_[thread]; }

 private:
  void follow(const Recording& recording, std::uint32_t creator, std::vector<std::uint32_t>& found);
  LineageIndex extend(LineageIndex lineage, const std::vector<FunctionId>& functions);
  LineageIndex child(LineageIndex lineage, FunctionId function);

  std::vector<Lineage> lineages_{Lineage{}};
  std::vector<LineageIndex> of_thread_;
  std::map<std::pair<LineageIndex, FunctionId>, LineageIndex> children_;
};

struct CallNode {
  NodeIndex caller = no_index;  // a smaller index
  StackId place;
  FunctionId function;
  bool outermost = true;               // its function stands nowhere further out on the path
  bool outermost_with_lineage = true;  // nor in the lineage
};

class CallTree {
 public:
  explicit CallTree(const Recording& recording);

  [[nodiscard]] const Lineages& lineages() const { return lineages_; }
  [[nodiscard]] const std::vector<CallNode>& nodes() const { return nodes_; }

  // Makes the node where there is none. Costs least when one lineage comes after the other.
  NodeIndex node(LineageIndex lineage, StackId place);

 private:
  void change_lineage(LineageIndex lineage);

  const Recording& recording_;
  Lineages lineages_;
  std::vector<CallNode> nodes_;
  std::vector<bool> outermost_;  // by stack
  LineageIndex lineage_ = 0;
  NodeIndex first_node_ = 0;              // of lineage_
  std::vector<NodeIndex> node_of_stack_;  // in lineage_
  std::vector<bool> in_lineage_;          // by function
  std::vector<StackId> path_;
};

}  // namespace longpole::analysis
