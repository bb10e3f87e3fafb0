#include "analysis/call_paths.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/call_tree.h"
#include "analysis/critical_path.h"

namespace longpole::analysis {

using simulation::Segment;
using simulation::SegmentIndex;

namespace {

struct Amounts {
  double cpu = 0;
  double critical = 0;
};

class Tree {
 public:
  explicit Tree(const Recording& recording)
      : recording_(recording),
        charged_(charged_frames(recording)),
        node_of_(recording.stacks.size(), no_node) {}

  void charge(ProfileId id, const Amounts& amounts) {
    if (!id.known())
      return add(child(no_node, FunctionId::none()), amounts, 1);
    for_each_share(recording_.profiles[id.index()], [&](const ProfileEntry& entry, double share) {
      add(node(charged_[entry.stack.index()]), amounts, share);
    });
  }

  std::vector<CallPathRow> rows() {
    // Callers have smaller indices than what they call.
    for (std::size_t n = nodes_.size(); n-- > 0;) {
      CallPathRow& row = nodes_[n].row;
      row.total_ns += row.self_ns;
      row.critical_total_ns += row.critical_self_ns;
      if (nodes_[n].caller == no_node)
        continue;
      CallPathRow& caller = nodes_[nodes_[n].caller].row;
      caller.total_ns += row.total_ns;
      caller.critical_total_ns += row.critical_total_ns;
    }
    std::vector<std::vector<std::size_t>> called(nodes_.size() + 1);
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      called[nodes_[n].caller == no_node ? nodes_.size() : nodes_[n].caller].push_back(n);
    for (auto& of : called)
      std::stable_sort(of.begin(), of.end(), [&](std::size_t a, std::size_t b) {
        return nodes_[a].row.critical_total_ns > nodes_[b].row.critical_total_ns;
      });
    std::vector<CallPathRow> rows;
    // A path may be as long as a recording allows: without recursion of ours.
    std::vector<std::pair<std::size_t, std::size_t>> open;  // node, and the row of its caller
    const auto put_off = [&](const std::vector<std::size_t>& nodes, std::size_t caller) {
      for (std::size_t i = nodes.size(); i-- > 0;)
        open.emplace_back(nodes[i], caller);
    };
    put_off(called.back(), no_node);
    while (!open.empty()) {
      const auto [n, caller] = open.back();
      open.pop_back();
      CallPathRow row = nodes_[n].row;
      row.parent = caller == no_node ? rows.size() : caller;
      row.depth = caller == no_node ? 0 : rows[caller].depth + 1;
      rows.push_back(row);
      put_off(called[n], rows.size() - 1);
    }
    return rows;
  }

 private:
  static constexpr std::size_t no_node = static_cast<std::size_t>(-1);
  struct Node {
    std::size_t caller = no_node;
    CallPathRow row;
  };

  void add(std::size_t node, const Amounts& amounts, double share) {
    nodes_[node].row.self_ns += share * amounts.cpu;
    nodes_[node].row.critical_self_ns += share * amounts.critical;
  }
  std::size_t child(std::size_t caller, FunctionId function) {
    const auto [at, is_new] = children_.try_emplace({caller, function}, nodes_.size());
    if (is_new) {
      nodes_.push_back({caller, {}});
      nodes_.back().row.function = function;
    }
    return at->second;
  }
  // That the stack is charged to, which its innermost frame always is.
  std::size_t node(StackId stack) {
    if (node_of_[stack.index()] != no_node)
      return node_of_[stack.index()];
    std::vector<StackId> path;
    for (StackId at = stack; at.known(); at = recording_.stacks[at.index()].caller) {
      const Function& of = recording_.functions[recording_.stacks[at.index()].function.index()];
      if (at == stack || !is_system_code(recording_, of))
        path.push_back(at);
    }
    std::size_t node = no_node;
    for (std::size_t i = path.size(); i-- > 0;)
      node = child(node, recording_.stacks[path[i].index()].function);
    node_of_[stack.index()] = node;
    return node;
  }

  const Recording& recording_;
  std::vector<StackId> charged_;
  std::vector<std::size_t> node_of_;  // by charged stack
  std::vector<Node> nodes_;
  std::map<std::pair<std::size_t, FunctionId>, std::size_t> children_;
};

}  // namespace

CallPathTable call_paths(const Recording& recording, const simulation::Schedule& schedule,
                         std::uint32_t cpus, Scheduler scheduler) {
  const CompletionTimes times(schedule, recording.threads.size());
  const std::uint32_t useful = times.useful(cpus, scheduler);
  const Weights weights = extended_critical_path(schedule, useful);
  CallPathTable table;
  table.cpus = cpus;
  table.total_ns = times.on(useful);
  std::vector<Amounts> of_profile(recording.profiles.size() + 1);
  for (SegmentIndex s = 0; s < schedule.segments.size(); ++s) {
    const Segment& segment = schedule.segments[s];
    const auto length = static_cast<double>((segment.end - segment.start).count());
    const double critical = weights.weight(s) * length;
    if (!segment.running) {
      table.waiting_ns += critical;
      continue;
    }
    const Event& event = recording.threads[segment.thread.index()].events[segment.event];
    Amounts& amounts =
        event.profile.known() ? of_profile[event.profile.index()] : of_profile.back();
    amounts.cpu += length;
    amounts.critical += critical;
  }
  Tree tree(recording);
  for (std::uint32_t p = 0; p < of_profile.size(); ++p) {
    if (of_profile[p].cpu > 0)
      tree.charge(p + 1 < of_profile.size() ? ProfileId{p} : ProfileId::none(), of_profile[p]);
  }
  table.rows = tree.rows();
  return table;
}

}  // namespace longpole::analysis
