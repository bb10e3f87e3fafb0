#include "recording/exact_functions.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace longpole::recording {
namespace {

constexpr std::uint32_t nothing = 0xffffffffU;

}  // namespace

ExactFunctions::ExactFunctions(Recording& recording, std::vector<FunctionId> functions,
                               std::uint32_t depth, const std::vector<StackId>& sites,
                               const std::vector<StackId>& paths)
    : recording_(recording),
      functions_(std::move(functions)),
      has_entries_(recording.functions.size(), false),
      depth_(depth),
      sites_(sites),
      paths_(paths),
      profiles_before_(recording.profiles.size()) {
  for (const FunctionId function : functions_)
    if (function.known())
      has_entries_[function.index()] = true;
  for (std::uint32_t i = 0; i < recording.stacks.size(); ++i) {
    const Stack& stack = recording.stacks[i];
    stack_ids_.emplace(
        std::tuple(stack.caller, stack.function, stack.file, stack.line, stack.inlined),
        StackId{i});
  }
}

bool ExactFunctions::describe(const MergedThread& thread) {
  return std::ranges::any_of(thread.events,
                             [](const Event& event) { return event.kind == EventKind::enter; });
}

StackId ExactFunctions::extend(StackId caller, Stack frame) {
  frame.caller = caller;
  const auto next = StackId{static_cast<std::uint32_t>(recording_.stacks.size())};
  const auto [place, is_new] = stack_ids_.try_emplace(
      std::tuple(caller, frame.function, frame.file, frame.line, frame.inlined), next);
  if (is_new)
    recording_.stacks.push_back(frame);
  return place->second;
}

// The frames of `path` from the innermost to `last`, called from `caller`.
StackId ExactFunctions::graft(StackId caller, StackId path, StackId last) {
  std::vector<Stack> frames;
  for (StackId at = path;; at = recording_.stacks[at.index()].caller) {
    frames.push_back(recording_.stacks[at.index()]);
    if (at == last)
      break;
  }
  for (std::size_t i = frames.size(); i-- > 0;)
    caller = extend(caller, frames[i]);
  return caller;
}

std::uint32_t ExactFunctions::node(std::uint32_t parent, FunctionId function, StackId caller) {
  const auto next = static_cast<std::uint32_t>(nodes_.size());
  const auto [place, is_new] = node_ids_.try_emplace({parent, function, caller}, next);
  if (is_new) {
    Node made;
    made.parent = parent == nothing ? next : parent;
    made.function = function;
    made.caller = caller;
    if (function.known()) {
      const Function& called = recording_.functions[function.index()];
      made.place = extend(caller, {.function = function, .file = called.file, .line = called.line});
    } else {
      made.place = caller;
    }
    nodes_.push_back(std::move(made));
  }
  return place->second;
}

// Calls in a circle would make ever longer paths. Such a one ends where the function was called
// before, if no function goes missing from the path by that; else `nothing`.
std::uint32_t ExactFunctions::folded(std::uint32_t from, FunctionId function) const {
  std::vector<FunctionId> between;
  std::uint32_t at = from;
  for (; nodes_[at].function != function; at = nodes_[at].parent) {
    if (nodes_[at].parent == at)
      return nothing;
    between.push_back(nodes_[at].function);
  }
  const std::uint32_t before = at;
  for (; nodes_[at].parent != at; at = nodes_[at].parent)
    std::erase(between, nodes_[at].function);
  return between.empty() ? before : nothing;
}

std::uint32_t ExactFunctions::enter(std::uint32_t from, FunctionId function, StackId site) {
  if (const std::uint32_t before = folded(from, function); before != nothing)
    return before;
  return node(from, function, nodes_[from].function.known() ? site : StackId::none());
}

// The calling line on the path of the function that makes the call, or that calls the code that does.
StackId ExactFunctions::site_in(std::uint32_t in, StackId site) {
  const Node& from = nodes_[in];
  if (!from.function.known())
    return site;
  if (!site.known())
    return from.place;
  for (StackId at = site; at.known(); at = recording_.stacks[at.index()].caller)
    if (recording_.stacks[at.index()].function == from.function)
      return graft(from.caller, site, at);
  return graft(from.place, site, site);
}

// Stamps of records and of samples differ by a little: a sample that lies in another function that says
// when it is entered belongs to the stretch before or after, and counts for nothing.
void ExactFunctions::take_sample(std::uint32_t in, const MergedSample& sample, bool deepest) {
  Node& node = nodes_[in];
  const StackId path = paths_[sample.path];
  StackId own;
  for (StackId at = path; at.known() && !own.known(); at = recording_.stacks[at.index()].caller) {
    const FunctionId function = recording_.stacks[at.index()].function;
    if (function == node.function)
      own = at;
    else if (has_entries_[function.index()] && !deepest)
      return;
  }
  if (own.known())
    node.samples[graft(node.caller, path, own)] += sample.weight;
  else if (!node.function.known() && path.known())
    node.samples[path] += sample.weight;
}

void ExactFunctions::add_thread(MergedThread& thread, StackId start) {
  for (std::size_t i = 0; i < thread.sites.size() && !start.known(); ++i)
    if (thread.sites[i] != no_site)
      start = sites_[thread.sites[i]];
  std::vector<std::uint32_t> open{node(nothing, FunctionId::none(), start)};
  std::size_t next_sample = 0;
  for (std::size_t i = 0; i < thread.events.size(); ++i) {
    Event& event = thread.events[i];
    const std::uint32_t in = open.back();
    if (event.cpu.count() > 0) {
      event.profile = ProfileId{static_cast<std::uint32_t>(profiles_before_ + in)};
      nodes_[in].used = true;
    }
    for (; next_sample < thread.samples.size() && thread.samples[next_sample].event <= i;
         ++next_sample)
      take_sample(in, thread.samples[next_sample], open.size() > depth_);
    if (const std::uint32_t site = thread.sites[i]; site != no_site)
      event.site = site_in(in, sites_[site]);
    if (event.kind == EventKind::enter) {
      const FunctionId function = functions_[event.subject];
      event.subject = function.value;
      open.push_back(enter(in, function, event.site));
    } else if (event.kind == EventKind::leave) {
      event.subject = functions_[event.subject].value;
      if (open.size() > 1)
        open.pop_back();
    }
  }
}

void ExactFunctions::finish(std::vector<Thread>& threads) {
  std::vector<ProfileId> ids(nodes_.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if (!node.used || (node.samples.empty() && !node.place.known()))
      continue;
    ids[n] = ProfileId{static_cast<std::uint32_t>(recording_.profiles.size())};
    Profile profile;
    for (const auto& [stack, samples] : node.samples)
      profile.entries.push_back({stack, static_cast<std::uint32_t>(std::min<std::uint64_t>(
                                            samples, std::numeric_limits<std::uint32_t>::max()))});
    if (profile.entries.empty()) {
      profile.exact = node.function.known();
      profile.entries.push_back({node.place, 0});
    }
    recording_.profiles.push_back(std::move(profile));
  }
  for (Thread& thread : threads)
    for (Event& event : thread.events)
      if (event.profile.known() && event.profile.index() >= profiles_before_)
        event.profile = ids[event.profile.index() - profiles_before_];
}

}  // namespace longpole::recording
