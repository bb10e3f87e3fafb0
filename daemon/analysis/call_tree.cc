#include "analysis/call_tree.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace longpole::analysis {

namespace {

// The preload library that recorded. Its hooks stand between the program and its calls.
bool is_recorder(const Recording& recording, const Function& function) {
  return function.module.known() &&
         recording.modules[function.module.index()].path.ends_with("/liblongpole-recorder.so");
}

}  // namespace

bool is_system_code(const Recording& recording, const Function& function) {
  if (is_recorder(recording, function))
    return true;
  if (function.file.known())
    return recording.files[function.file.index()].system;
  if (!function.module.known())
    return false;
  const std::string_view path = recording.modules[function.module.index()].path;
  constexpr std::array<std::string_view, 4> system_folders{"/usr/lib", "/lib", "/usr/libexec", "["};
  return std::any_of(system_folders.begin(), system_folders.end(),
                     [&](std::string_view folder) { return path.starts_with(folder); });
}

std::vector<StackId> charged_frames(const Recording& recording) {
  std::vector<StackId> users(recording.stacks.size());  // none: no frame of the user's own
  std::vector<StackId> charged(recording.stacks.size());
  for (std::uint32_t s = 0; s < recording.stacks.size(); ++s) {
    const Stack& stack = recording.stacks[s];
    const Function& function = recording.functions[stack.function.index()];
    if (function.file.known() && !recording.files[function.file.index()].system &&
        !is_recorder(recording, function))
      users[s] = StackId{s};
    else if (stack.caller.known())
      users[s] = users[stack.caller.index()];
    charged[s] = users[s].known() ? users[s] : StackId{s};
  }
  return charged;
}

Lineages::Lineages(const Recording& recording) : of_thread_(recording.threads.size(), 0) {
  std::vector<bool> creates(recording.threads.size(), false);
  std::vector<std::uint32_t> open;
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    const ThreadId creator = recording.threads[t].creator;
    if (creator.known())
      creates[creator.index()] = true;
    else
      open.push_back(t);
  }
  // Creators before those that they create.
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (creates[open[i]])
      follow(recording, open[i], open);
  }
}

// Gives every thread that `creator` creates its lineage and appends it to `found`.
void Lineages::follow(const Recording& recording, std::uint32_t creator,
                      std::vector<std::uint32_t>& found) {
  const Thread& thread = recording.threads[creator];
  std::vector<FunctionId> entered;
  std::vector<FunctionId> functions;
  for (const Event& event : thread.events) {
    if (event.kind == EventKind::enter)
      entered.push_back(event.callee());
    else if (event.kind == EventKind::leave && !entered.empty())
      entered.pop_back();
    if (event.kind != EventKind::thread_create || event.subject >= recording.threads.size() ||
        recording.threads[event.subject].creator != ThreadId{creator})
      continue;
    functions.clear();
    for (StackId at = event.site; at.known(); at = recording.stacks[at.index()].caller)
      functions.push_back(recording.stacks[at.index()].function);
    functions.insert(functions.end(), entered.rbegin(), entered.rend());
    if (thread.start_function.known())
      functions.push_back(thread.start_function);
    std::reverse(functions.begin(), functions.end());
    of_thread_[event.subject] = extend(of_thread_[creator], functions);
    found.push_back(event.subject);
  }
}

LineageIndex Lineages::extend(LineageIndex lineage, const std::vector<FunctionId>& functions) {
  std::vector<FunctionId> known;
  for (LineageIndex at = lineage; at != 0; at = lineages_[at].parent)
    known.push_back(lineages_[at].function);
  std::sort(known.begin(), known.end());
  for (const FunctionId function : functions) {
    const auto place = std::lower_bound(known.begin(), known.end(), function);
    if (lineages_[lineage].size == longest || (place != known.end() && *place == function))
      continue;
    known.insert(place, function);
    lineage = child(lineage, function);
  }
  return lineage;
}

LineageIndex Lineages::child(LineageIndex lineage, FunctionId function) {
  const auto next = static_cast<LineageIndex>(lineages_.size());
  const auto [known, added] = children_.try_emplace({lineage, function}, next);
  if (added)
    lineages_.push_back({lineage, function, lineages_[lineage].size + 1});
  return known->second;
}

namespace {

// By stack: its function stands nowhere further out. One walk over the tree with a count of how
// often each function stands on the path to where it is.
std::vector<bool> outermost_frames(const Recording& recording) {
  const auto size = static_cast<std::uint32_t>(recording.stacks.size());
  std::vector<std::uint32_t> first_callee(size + 1, no_index);  // the last entry is the root's
  std::vector<std::uint32_t> next_callee(size, no_index);
  for (std::uint32_t s = size; s-- > 0;) {
    const StackId caller = recording.stacks[s].caller;
    std::uint32_t& first = first_callee[caller.known() ? caller.value : size];
    next_callee[s] = first;
    first = s;
  }
  std::vector<bool> outermost(size);
  std::vector<std::uint32_t> on_path(recording.functions.size(), 0);
  std::vector<std::uint32_t> path;
  std::uint32_t next = first_callee[size];
  while (next != no_index || !path.empty()) {
    if (next == no_index) {
      --on_path[recording.stacks[path.back()].function.index()];
      next = next_callee[path.back()];
      path.pop_back();
    } else {
      outermost[next] = on_path[recording.stacks[next].function.index()]++ == 0;
      path.push_back(next);
      next = first_callee[next];
    }
  }
  return outermost;
}

}  // namespace

CallTree::CallTree(const Recording& recording)
    : recording_(recording),
      lineages_(recording),
      outermost_(outermost_frames(recording)),
      node_of_stack_(recording.stacks.size(), no_index),
      in_lineage_(recording.functions.size(), false) {}

void CallTree::change_lineage(LineageIndex lineage) {
  const std::vector<Lineage>& all = lineages_.all();
  for (; first_node_ < nodes_.size(); ++first_node_)
    node_of_stack_[nodes_[first_node_].place.index()] = no_index;
  for (LineageIndex at = lineage_; at != 0; at = all[at].parent)
    in_lineage_[all[at].function.index()] = false;
  for (LineageIndex at = lineage; at != 0; at = all[at].parent)
    in_lineage_[all[at].function.index()] = true;
  lineage_ = lineage;
}

NodeIndex CallTree::node(LineageIndex lineage, StackId place) {
  if (lineage != lineage_)
    change_lineage(lineage);
  path_.clear();
  StackId at = place;
  while (at.known() && node_of_stack_[at.index()] == no_index) {
    path_.push_back(at);
    at = recording_.stacks[at.index()].caller;
  }
  NodeIndex caller = at.known() ? node_of_stack_[at.index()] : no_index;
  while (!path_.empty()) {
    const StackId next = path_.back();
    path_.pop_back();
    const FunctionId function = recording_.stacks[next.index()].function;
    const bool outermost = outermost_[next.index()];
    nodes_.push_back(
        {caller, next, function, outermost, outermost && !in_lineage_[function.index()]});
    caller = static_cast<NodeIndex>(nodes_.size() - 1);
    node_of_stack_[next.index()] = caller;
  }
  return caller;
}

}  // namespace longpole::analysis
