// What threads were created to run, as the program's own code has it. std::thread and its kin start each in a function of
// the library, and what is called from there only call paths show.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "recording/merged_run.h"
#include "symbols/symbols.h"

namespace longpole::recording {

// Threads that a library starts, and that were too short for a sample, run what those run that were created by the same
// call: a call of a template's creates threads of one kind alone.
class ThreadBodies {
 public:
  // `sites` and `paths`: the stack of each call site and sampled path, none where there is none.
  ThreadBodies(symbols::SymbolTable& table, const std::vector<StackId>& sites,
               const std::vector<StackId>& paths)
      : table_(table), sites_(sites), paths_(paths) {}

  // Of each thread; none where nothing is known.
  [[nodiscard]] std::vector<FunctionId> find(const std::vector<MergedThread>& threads);

 private:
  using Weights = std::map<FunctionId, std::uint64_t>;
  // The function of the library, and the call that created the thread.
  using Creation = std::pair<std::uint64_t, std::uint32_t>;

  [[nodiscard]] FunctionId given_by_program(const MergedThread& thread);
  [[nodiscard]] Weights by_samples(const MergedThread& thread) const;
  [[nodiscard]] Weights by_calls(const MergedThread& thread) const;
  [[nodiscard]] FunctionId outermost_user_function(StackId stack) const;

  symbols::SymbolTable& table_;
  const std::vector<StackId>& sites_;
  const std::vector<StackId>& paths_;
};

}  // namespace longpole::recording
