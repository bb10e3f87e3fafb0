// Where CPU time was spent and calls were made, where the entries and exits of functions are known: the
// function and its callers exactly, the line within it by samples.
//
//   entered   main ─▶ sort ─▶ merge          a stretch here is of merge, whatever the samples say
//   samples          merge:17 ×3, memcpy ◀ merge:19 ×1      of all stretches of merge called this way
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "recording/merged_run.h"

namespace longpole::recording {

// Works on a recording whose tables of code are complete, and appends to its stacks and profiles.
class ExactFunctions {
 public:
  // `functions`: of MergedRun::functions. `sites` and `paths`: the stack of each, none where there is
  // none. What stands inside `depth` others was not recorded when it was entered.
  ExactFunctions(Recording& recording, std::vector<FunctionId> functions, std::uint32_t depth,
                 const std::vector<StackId>& sites, const std::vector<StackId>& paths);

  // Whether there is anything to go by.
  [[nodiscard]] static bool describe(const MergedThread& thread);

  // Sets callee and site of the events, and profile for the time being. `start`: what describes a
  // stretch in no function; none: the first call of the thread does.
  void add_thread(MergedThread& thread, StackId start);

  // Makes the profiles, and corrects `profile` of the events that add_thread() saw.
  void finish(std::vector<Thread>& threads);

 private:
  // A function, called in one way; or what lies around all functions of a thread.
  struct Node {
    std::uint32_t parent;  // its own index: nothing is around it
    FunctionId function;   // none: see above
    StackId caller;        // where in the parent it was called
    StackId place;         // the function, and no line of it in particular
    std::map<StackId, std::uint64_t> samples;
    bool used = false;
  };

  std::uint32_t node(std::uint32_t parent, FunctionId function, StackId caller);
  std::uint32_t enter(std::uint32_t from, FunctionId function, StackId site);
  [[nodiscard]] std::uint32_t folded(std::uint32_t from, FunctionId function) const;
  void take_sample(std::uint32_t in, const MergedSample& sample, bool deepest);
  StackId site_in(std::uint32_t in, StackId site);
  StackId extend(StackId caller, Stack frame);
  StackId graft(StackId caller, StackId path, StackId last);

  Recording& recording_;
  std::vector<FunctionId> functions_;
  std::vector<bool> has_entries_;  // by FunctionId
  std::uint32_t depth_;
  const std::vector<StackId>& sites_;
  const std::vector<StackId>& paths_;
  std::size_t profiles_before_;  // the profile of node n is for the time being this and n
  std::map<std::tuple<StackId, FunctionId, FileId, std::uint32_t, bool>, StackId> stack_ids_;
  std::map<std::tuple<std::uint32_t, FunctionId, StackId>, std::uint32_t> node_ids_;
  std::vector<Node> nodes_;
};

}  // namespace longpole::recording
