#include "recording/thread_bodies.h"

#include <algorithm>
#include <span>

namespace longpole::recording {
namespace {

using symbols::Addresses;

FunctionId heaviest(const std::map<FunctionId, std::uint64_t>& weights) {
  const auto place =
      std::ranges::max_element(weights, {}, [](const auto& function) { return function.second; });
  return place != weights.end() ? place->first : FunctionId::none();
}

// By thread: the call that created it, as an index into MergedRun::sites.
std::vector<std::uint32_t> creating_sites(const std::vector<MergedThread>& threads) {
  std::vector<std::uint32_t> sites(threads.size(), no_site);
  for (const MergedThread& thread : threads)
    for (std::size_t i = 0; i < thread.events.size(); ++i)
      if (const Event& event = thread.events[i];
          event.kind == EventKind::thread_create && event.subject < sites.size())
        sites[event.subject] = thread.sites[i];
  return sites;
}

}  // namespace

std::vector<FunctionId> ThreadBodies::find(const std::vector<MergedThread>& threads) {
  const std::vector<std::uint32_t> created_at = creating_sites(threads);
  std::vector<FunctionId> bodies(threads.size());
  std::vector<bool> known(threads.size());
  std::map<Creation, std::optional<FunctionId>> common;  // none: they are not of one kind
  for (std::size_t i = 0; i < threads.size(); ++i) {
    bodies[i] = given_by_program(threads[i]);
    known[i] = bodies[i].known() || threads[i].is_main;
    if (known[i])
      continue;
    bodies[i] = heaviest(by_samples(threads[i]));
    known[i] = bodies[i].known();
    if (!known[i] || created_at[i] == no_site)
      continue;
    const auto [place, is_new] =
        common.try_emplace({threads[i].start_function, created_at[i]}, bodies[i]);
    if (!is_new && place->second != bodies[i])
      place->second.reset();
  }
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (!known[i]) {
      const auto siblings = common.find({threads[i].start_function, created_at[i]});
      bodies[i] = siblings != common.end() && siblings->second ? *siblings->second
                                                               : heaviest(by_calls(threads[i]));
    }
    if (!bodies[i].known() && threads[i].start_function != 0)
      bodies[i] = table_.function(threads[i].start_function);
  }
  return bodies;
}

FunctionId ThreadBodies::given_by_program(const MergedThread& thread) {
  if (thread.start_function == 0)
    return FunctionId::none();
  const StackId start = table_.stack(std::span(&thread.start_function, 1), Addresses::exact);
  return start.known() && table_.user_frame(start).known() ? table_.function(thread.start_function)
                                                           : FunctionId::none();
}

ThreadBodies::Weights ThreadBodies::by_samples(const MergedThread& thread) const {
  Weights weights;
  for (const MergedSample& sample : thread.samples)
    if (const FunctionId function = outermost_user_function(paths_[sample.path]); function.known())
      weights[function] += sample.weight;
  return weights;
}

ThreadBodies::Weights ThreadBodies::by_calls(const MergedThread& thread) const {
  Weights weights;
  for (const std::uint32_t site : thread.sites)
    if (site != no_site)
      if (const FunctionId function = outermost_user_function(sites_[site]); function.known())
        ++weights[function];
  return weights;
}

FunctionId ThreadBodies::outermost_user_function(StackId stack) const {
  FunctionId outermost = FunctionId::none();
  while (stack.known()) {
    const StackId user = table_.user_frame(stack);
    if (!user.known())
      break;
    outermost = table_.frame(user).function;
    stack = table_.frame(user).caller;
  }
  return outermost;
}

}  // namespace longpole::recording
