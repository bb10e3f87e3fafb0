#include "analysis/quartz.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/quartz_times.h"
#include "simulation/tournament.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

namespace {

// More cells than this are not kept for all rows together, but for the least number of levels.
constexpr std::size_t most_cells = std::size_t{1} << 25U;
constexpr std::size_t most_levels = 256;
constexpr std::size_t least_levels = 8;

__extension__ using WideKey = unsigned __int128;

// The rows of all entities, from the nodes of the tree.
class Ranking {
 public:
  Ranking(const Recording& recording, const WorkTree& tree, const QuartzSweep& sweep,
          const QuartzMachine& machine)
      : recording_(recording), nodes_(tree.nodes()), machine_(machine), of_node_(nodes_.size()) {
    for (std::uint32_t row = 0; row < tree.row_count(); ++row) {
      const SpentTimes times = sweep.of_row(row);
      for (const WorkTree::Share& share : tree.shares(row))
        of_node_[share.node].add(times, share.share);
    }
    for (WorkIndex n = 0; n < nodes_.size(); ++n) {
      self_.push_back(machine_.normalized(of_node_[n]));
      entities_[nodes_[n].entity].self.add(of_node_[n]);
    }
    for (std::size_t n = nodes_.size(); n-- > 1;)
      of_node_[nodes_[n].parent].add(of_node_[n]);
    for (const SpentTimes& times : of_node_)
      total_.push_back(machine_.normalized(times));
    walk();
    add_threads(sweep);
  }

  void fill(QuartzReport& report) {
    for (auto& [entity, known] : entities_) {
      QuartzRow row{entity, machine_.all(known.self), machine_.all(known.total), known.calls, {}};
      if (entity.kind == EntityKind::program || matters(row))
        report.rows.push_back(std::move(row));
    }
    std::stable_sort(report.rows.begin(), report.rows.end(),
                     [&](const QuartzRow& a, const QuartzRow& b) { return order(a) < order(b); });
    std::map<Entity, std::size_t> place;
    for (std::size_t i = 0; i < report.rows.size(); ++i)
      place[report.rows[i].entity] = i;
    for (const auto& [ends, edge] : edges_) {
      const auto parent = place.find(ends.first);
      const auto child = place.find(ends.second);
      if (parent != place.end() && child != place.end() && ends.first != ends.second)
        report.rows[parent->second].children.push_back({child->second, edge.time, edge.calls});
    }
    for (QuartzRow& row : report.rows)
      std::stable_sort(
          row.children.begin(), row.children.end(), [](const QuartzChild& a, const QuartzChild& b) {
            return std::tuple(-a.normalized_ns, a.row) < std::tuple(-b.normalized_ns, b.row);
          });
    fill_tree(report);
  }

 private:
  struct Known {
    SpentTimes self;
    SpentTimes total;
    std::optional<std::uint64_t> calls;
  };
  struct Edge {
    double time = 0;
    std::optional<std::uint64_t> calls;
  };

  static void add_calls(std::optional<std::uint64_t>& calls, const WorkNode& node) {
    if (node.calls_known)
      calls = calls.value_or(0) + node.calls;
  }

  // Through the tree in depth, so that for each entity it is known where on the path it stands last:
  // an entity that stands there already has no part in totals again, and what its inner appearance
  // does is the child of that one, not of the outer.
  void walk() {
    constexpr WorkIndex none = 0xffffffffU;
    std::vector<WorkIndex> first_child(nodes_.size(), none);
    std::vector<WorkIndex> next_sibling(nodes_.size(), none);
    for (auto n = static_cast<WorkIndex>(nodes_.size()); n-- > 1;) {
      next_sibling[n] = first_child[nodes_[n].parent];
      first_child[nodes_[n].parent] = n;
    }
    std::map<Entity, std::vector<WorkIndex>> on_path;
    std::vector<WorkIndex> path{0};
    enter(0, path, on_path);
    WorkIndex next = first_child[0];
    while (true) {
      if (next == none) {
        const WorkIndex left = path.back();
        on_path[nodes_[left].entity].pop_back();
        path.pop_back();
        if (path.empty())
          return;
        next = next_sibling[left];
        continue;
      }
      path.push_back(next);
      enter(next, path, on_path);
      next = first_child[next];
    }
  }

  void enter(WorkIndex n, const std::vector<WorkIndex>& path,
             std::map<Entity, std::vector<WorkIndex>>& on_path) {
    const WorkNode& node = nodes_[n];
    Known& known = entities_[node.entity];
    add_calls(known.calls, node);
    std::vector<WorkIndex>& before = on_path[node.entity];
    if (before.empty()) {
      known.total.add(of_node_[n]);
    } else {
      const WorkIndex outer = before.back();
      edges_[{node.entity, nodes_[path[nodes_[outer].depth + 1]].entity}].time -= total_[n];
    }
    before.push_back(n);
    if (n == 0)
      return;
    Edge& edge = edges_[{nodes_[node.parent].entity, node.entity}];
    edge.time += total_[n];
    add_calls(edge.calls, node);
  }

  void add_threads(const QuartzSweep& sweep) {
    const std::size_t count = recording_.threads.size();
    std::vector<std::uint32_t> order;
    std::vector<std::vector<std::uint32_t>> created(count);
    for (std::uint32_t t = 0; t < count; ++t) {
      const ThreadId creator = recording_.threads[t].creator;
      if (creator.known())
        created[creator.index()].push_back(t);
      else
        order.push_back(t);
    }
    for (std::size_t i = 0; i < order.size(); ++i)
      order.insert(order.end(), created[order[i]].begin(), created[order[i]].end());
    const auto entity = [](std::uint32_t t) { return Entity{EntityKind::thread, t}; };
    for (std::uint32_t t = 0; t < count; ++t) {
      Known& known = entities_[entity(t)];
      known.self = sweep.of_thread(t);
      known.total = known.self;
    }
    for (std::size_t i = order.size(); i-- > 0;) {
      const ThreadId creator = recording_.threads[order[i]].creator;
      if (!creator.known())
        continue;
      const SpentTimes& of = entities_[entity(order[i])].total;
      entities_[entity(creator.value)].total.add(of);
      edges_[{entity(creator.value), entity(order[i])}] = {machine_.normalized(of), 1};
    }
  }

  void fill_tree(QuartzReport& report) const {
    std::vector<std::vector<WorkIndex>> below(nodes_.size());
    for (WorkIndex n = 1; n < nodes_.size(); ++n) {
      if (total_[n] > 0 || machine_.blocked(of_node_[n]) > 0 ||
          machine_.spinning(of_node_[n]) > 0 || nodes_[n].calls > 0)
        below[nodes_[n].parent].push_back(n);
    }
    std::vector<WorkIndex> open{0};
    std::vector<std::size_t> parent{0};
    for (std::size_t i = 0; i < open.size(); ++i) {
      const WorkIndex n = open[i];
      const WorkNode& node = nodes_[n];
      QuartzNode out{parent[i],
                     node.entity,
                     total_[n],
                     self_[n],
                     machine_.blocked(of_node_[n]),
                     machine_.spinning(of_node_[n]),
                     {},
                     machine_.terms(of_node_[n])};
      add_calls(out.calls, node);
      report.tree.push_back(std::move(out));
      std::stable_sort(below[n].begin(), below[n].end(),
                       [&](WorkIndex a, WorkIndex b) { return total_[a] > total_[b]; });
      open.insert(open.end(), below[n].begin(), below[n].end());
      parent.resize(open.size(), i);
    }
  }

  static bool matters(const QuartzRow& row) {
    return row.calls.value_or(0) > 0 ||
           std::any_of(row.total.states.begin(), row.total.states.end(),
                       [](const StateTime& state) { return state.time_ns > 0; });
  }

  [[nodiscard]] std::string_view name(const Entity& entity) const {
    switch (entity.kind) {
      case EntityKind::program:
        return {};
      case EntityKind::function:
        return recording_.functions[entity.id].name;
      case EntityKind::object:
        return recording_.objects[entity.id].name;
      case EntityKind::thread:
        return recording_.threads[entity.id].name;
    }
    return {};
  }

  [[nodiscard]] std::tuple<bool, double, double, EntityKind, std::string_view, std::uint32_t> order(
      const QuartzRow& row) const {
    const auto blocked = static_cast<std::size_t>(ThreadState::blocked);
    return {row.entity.kind != EntityKind::program,
            -row.total.normalized_ns,
            -row.total.states.at(blocked).time_ns,
            row.entity.kind,
            name(row.entity),
            row.entity.id};
  }

  const Recording& recording_;
  const std::vector<WorkNode>& nodes_;
  const QuartzMachine& machine_;
  std::vector<SpentTimes> of_node_;  // with all below
  std::vector<double> self_;         // normalized; by node
  std::vector<double> total_;
  std::map<Entity, Known> entities_;
  std::map<std::pair<Entity, Entity>, Edge> edges_;
};

}  // namespace

Quartz::Quartz(const Recording& recording, const Schedule& schedule)
    : recording_(recording),
      schedule_(schedule),
      tree_(recording, schedule),
      most_running_(schedule.running_at_start) {
  for (const Segment& segment : schedule.segments)
    most_running_ = std::max<std::uint32_t>(most_running_, segment.running_after);
  find_late();
}

// Each thread's are in order already.
void Quartz::find_late() {
  const std::size_t threads = recording_.threads.size();
  std::vector<SegmentIndex> next(schedule_.thread_begin.begin(), schedule_.thread_begin.end());
  simulation::Tournament<WideKey> first(threads);
  const auto come_to_next = [&](std::uint32_t thread) {
    const SegmentIndex begin = schedule_.thread_begin[thread];
    const SegmentIndex end = schedule_.thread_begin[thread + 1];
    SegmentIndex s = next[thread];
    while (s < end && s > begin && schedule_.segments[s].start == schedule_.segments[s - 1].end)
      ++s;
    next[thread] = s;
    if (s < end)
      first.set(thread, schedule_.segments[s].start.count());
    else
      first.drop(thread);
  };
  for (std::uint32_t thread = 0; thread < threads; ++thread)
    come_to_next(thread);
  while (first.somebody_comes()) {
    const std::uint32_t thread = first.thread();
    late_.push_back(next[thread]++);
    come_to_next(thread);
  }
}

QuartzReport Quartz::report(std::uint32_t cpus, Scheduler scheduler) const {
  QuartzReport report;
  report.cpus = cpus;
  const bool shares = scheduler == Scheduler::shared;
  const std::uint32_t busy = shares ? std::max(cpus, 1U) : std::max(most_running_, 1U);
  const std::size_t rows =
      tree_.row_count() + spent_count * recording_.threads.size() + 4 * tree_.nodes().size();
  const auto exact = static_cast<std::uint32_t>(
      std::clamp(most_cells / std::max<std::size_t>(rows, 1), least_levels, most_levels));
  const QuartzMachine machine(busy, shares, most_running_, exact);
  const QuartzSweep sweep(schedule_, tree_, late_, most_running_, exact, machine);
  report.most_busy = static_cast<std::uint32_t>(machine.term_count());
  report.more_busy = machine.has_top();
  report.total_ns = machine.blocked(sweep.of_all());
  Ranking(recording_, tree_, sweep, machine).fill(report);
  return report;
}

}  // namespace longpole::analysis
