#include "analysis/quartz.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/level_times.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

namespace {

// More cells than this are not kept for all rows together, but for the least number of levels.
constexpr std::size_t most_cells = std::size_t{1} << 25U;
constexpr std::size_t most_levels = 256;
constexpr std::size_t least_levels = 8;

// What a row, node or entity has by the number of threads that ran.
struct Times {
  std::vector<double> computed;  // CPU time
  std::vector<double> waited;    // as the ideal execution has it
  TopSums computed_top;
  TopSums waited_top;

  void add(const Times& other, double factor = 1) {
    add(computed, other.computed, factor);
    add(waited, other.waited, factor);
    computed_top.add(other.computed_top, factor);
    waited_top.add(other.waited_top, factor);
  }
  static void add(std::vector<double>& to, const std::vector<double>& from, double factor) {
    if (to.size() < from.size())
      to.resize(from.size(), 0);
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] += factor * from[i];
  }
};

class Sweep {
 public:
  Sweep(const Schedule& schedule, const WorkTree& tree, const std::vector<SegmentIndex>& late,
        std::size_t threads, std::uint32_t most_running, std::uint32_t exact, std::uint32_t cpus)
      : schedule_(schedule),
        tree_(tree),
        threads_(threads),
        rows_(tree.row_count()),
        times_(rows_ + 2 * threads, most_running, exact, cpus) {
    run(late);
  }

  [[nodiscard]] const LevelTimes& times() const { return times_; }
  // All that passed, as somebody would have it who waits from the beginning to the end.
  [[nodiscard]] Times of_all() const {
    Times times;
    for (std::size_t level = 0; level < times_.width(); ++level)
      times.waited.push_back(static_cast<double>(times_.time(level)));
    times.waited_top = times_.top();
    return times;
  }
  [[nodiscard]] Times of_row(std::uint32_t row) const {
    Times times;
    read(row, tree_.waits(row), times);
    return times;
  }
  [[nodiscard]] Times of_thread(std::size_t thread) const {
    Times times;
    read(rows_ + thread, false, times);
    read(rows_ + threads_ + thread, true, times);
    return times;
  }

 private:
  void read(std::size_t row, bool waits, Times& times) const {
    std::vector<double>& levels = waits ? times.waited : times.computed;
    levels.resize(times_.width());
    for (std::size_t level = 0; level < levels.size(); ++level)
      levels[level] = static_cast<double>(times_.time(row, level));
    (waits ? times.waited_top : times.computed_top) = times_.top(row);
  }

  void run(const std::vector<SegmentIndex>& late) {
    std::uint32_t running = schedule_.running_at_start;
    Nanoseconds now{};
    auto next_late = late.begin();
    const auto begin_late = [&] {
      for (; next_late != late.end() && schedule_.segments[*next_late].start <= now; ++next_late)
        begin_after_wait(*next_late);
    };
    begin_late();
    for (const SegmentIndex s : schedule_.by_end) {
      const Segment& segment = schedule_.segments[s];
      if (segment.end != now) {
        times_.pass((segment.end - now).count(), running);
        now = segment.end;
        begin_late();
      }
      end(s);
      running = segment.running_after;
    }
  }

  [[nodiscard]] bool is_last(SegmentIndex s) const {
    return s + 1 == schedule_.thread_begin[schedule_.segments[s].thread.index() + 1];
  }
  [[nodiscard]] static bool is_empty(const Segment& segment) {
    return segment.start == segment.end;
  }
  [[nodiscard]] std::size_t thread_row(const Segment& segment, bool running) const {
    return rows_ + (running ? 0 : threads_) + segment.thread.index();
  }

  void end(SegmentIndex s) {
    const Segment& segment = schedule_.segments[s];
    const bool goes_on = !is_last(s) && schedule_.segments[s + 1].start == segment.end;
    if (!is_empty(segment)) {
      const bool alike = goes_on && !is_empty(schedule_.segments[s + 1]);
      if (alike && schedule_.segments[s + 1].running == segment.running) {
        if (tree_.row_of(s) != tree_.row_of(s + 1)) {
          times_.end(tree_.row_of(s));
          times_.begin(tree_.row_of(s + 1));
        }
        return;
      }
      times_.end(tree_.row_of(s));
      times_.end(thread_row(segment, segment.running));
    }
    if (goes_on) {
      begin(s + 1);
    } else if (!is_last(s)) {
      times_.begin(tree_.gap_row_of(s + 1));
      times_.begin(thread_row(segment, false));
    }
  }

  void begin(SegmentIndex s) {
    const Segment& segment = schedule_.segments[s];
    if (is_empty(segment))
      return;
    times_.begin(tree_.row_of(s));
    times_.begin(thread_row(segment, segment.running));
  }

  void begin_after_wait(SegmentIndex s) {
    const Segment& segment = schedule_.segments[s];
    if (s > schedule_.thread_begin[segment.thread.index()]) {
      times_.end(tree_.gap_row_of(s));
      times_.end(thread_row(segment, false));
    }
    begin(s);
  }

  const Schedule& schedule_;
  const WorkTree& tree_;
  std::size_t threads_;
  std::size_t rows_;
  LevelTimes times_;  // rows of the tree; then threads that compute; then threads that wait
};

// Turns times by running threads into what Quartz says of a machine.
class Machine {
 public:
  Machine(std::uint32_t cpus, bool shares, std::size_t width, bool has_top)
      : cpus_(cpus), shares_(shares), width_(width), has_top_(has_top) {}

  [[nodiscard]] double normalized(const Times& times) const {
    double sum = 0;
    for (std::size_t level = 1; level < times.computed.size(); ++level)
      sum += term(times, level);
    return sum;
  }
  [[nodiscard]] std::vector<double> terms(const Times& times) const {
    std::vector<double> terms(std::min<std::size_t>(cpus_, width_ - 1), 0);
    for (std::size_t level = 1; level < times.computed.size(); ++level)
      terms[std::min<std::size_t>(level, terms.size()) - 1] += term(times, level);
    return terms;
  }
  // How long waiting takes where the threads that run share the CPUs.
  [[nodiscard]] double waited(const Times& times) const {
    double sum = 0;
    for (std::size_t level = 0; level < times.waited.size(); ++level)
      sum += is_top(level) ? times.waited_top.elapsed : times.waited[level] * stretch(level);
    return sum;
  }
  [[nodiscard]] QuartzTimes all(const Times& times) const {
    QuartzTimes all;
    all.normalized_ns = normalized(times);
    all.terms_ns = terms(times);
    StateTime& busy = at(all, ThreadState::busy);
    StateTime& blocked = at(all, ThreadState::blocked);
    StateTime& ready = at(all, ThreadState::ready);
    for (std::size_t level = 0; level < width_; ++level) {
      if (level < times.computed.size()) {
        const double computed = times.computed[level];
        const TopSums& top = times.computed_top;
        const auto threads = static_cast<double>(level);
        const double elapsed = is_top(level) ? top.elapsed : computed * stretch(level);
        const double weighed = is_top(level) ? top.threads : computed * threads;
        add(busy, level, computed, weighed);
        add(ready, level, elapsed - computed,
            (is_top(level) ? top.threads_elapsed : elapsed * threads) - weighed);
      }
      if (level < times.waited.size()) {
        const double elapsed =
            is_top(level) ? times.waited_top.elapsed : times.waited[level] * stretch(level);
        add(blocked, level, elapsed,
            is_top(level) ? times.waited_top.threads_elapsed
                          : elapsed * static_cast<double>(level));
      }
    }
    for (StateTime& state : all.states) {
      state.average_runnable = state.time_ns > 0 ? state.average_runnable / state.time_ns : 0;
      while (!state.at_runnable.empty() && state.at_runnable.back() == 0)
        state.at_runnable.pop_back();
    }
    return all;
  }

 private:
  static StateTime& at(QuartzTimes& times, ThreadState state) {
    return times.states.at(static_cast<std::size_t>(state));
  }
  void add(StateTime& state, std::size_t level, double time, double weighed) const {
    if (time <= 0)
      return;
    state.at_runnable.resize(width_, 0);
    state.at_runnable[level] += time;
    state.time_ns += time;
    state.average_runnable += weighed;
  }
  [[nodiscard]] bool is_top(std::size_t level) const { return has_top_ && level + 1 == width_; }
  [[nodiscard]] double stretch(std::size_t level) const {
    return shares_ ? std::max(static_cast<double>(level) / cpus_, 1.0) : 1;
  }
  [[nodiscard]] double term(const Times& times, std::size_t level) const {
    return is_top(level)
               ? times.computed_top.normalized
               : times.computed[level] / static_cast<double>(std::min<std::size_t>(level, cpus_));
  }

  std::uint32_t cpus_;
  bool shares_;
  std::size_t width_;
  bool has_top_;
};

// The rows of all entities, from the nodes of the tree.
class Ranking {
 public:
  Ranking(const Recording& recording, const WorkTree& tree, const Sweep& sweep,
          const Machine& machine)
      : recording_(recording), nodes_(tree.nodes()), machine_(machine), of_node_(nodes_.size()) {
    for (std::uint32_t row = 0; row < tree.row_count(); ++row) {
      const Times times = sweep.of_row(row);
      for (const WorkTree::Share& share : tree.shares(row))
        of_node_[share.node].add(times, share.share);
    }
    for (WorkIndex n = 0; n < nodes_.size(); ++n) {
      self_.push_back(machine_.normalized(of_node_[n]));
      entities_[nodes_[n].entity].self.add(of_node_[n]);
    }
    for (std::size_t n = nodes_.size(); n-- > 1;)
      of_node_[nodes_[n].parent].add(of_node_[n]);
    for (const Times& times : of_node_)
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
    Times self;
    Times total;
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

  void add_threads(const Sweep& sweep) {
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
      const Times& of = entities_[entity(order[i])].total;
      entities_[entity(creator.value)].total.add(of);
      edges_[{entity(creator.value), entity(order[i])}] = {machine_.normalized(of), 1};
    }
  }

  void fill_tree(QuartzReport& report) const {
    std::vector<std::vector<WorkIndex>> below(nodes_.size());
    for (WorkIndex n = 1; n < nodes_.size(); ++n) {
      if (total_[n] > 0 || machine_.waited(of_node_[n]) > 0 || nodes_[n].calls > 0)
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
                     machine_.waited(of_node_[n]),
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
  const Machine& machine_;
  std::vector<Times> of_node_;  // with all below
  std::vector<double> self_;    // normalized; by node
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
  for (SegmentIndex s = 0; s < schedule.segments.size(); ++s) {
    const Segment& segment = schedule.segments[s];
    most_running_ = std::max<std::uint32_t>(most_running_, segment.running_after);
    const bool is_first = s == schedule.thread_begin[segment.thread.index()];
    if (is_first || segment.start != schedule.segments[s - 1].end)
      late_.push_back(s);
  }
  std::sort(late_.begin(), late_.end(), [&](SegmentIndex a, SegmentIndex b) {
    return std::pair(schedule.segments[a].start, a) < std::pair(schedule.segments[b].start, b);
  });
}

QuartzReport Quartz::report(std::uint32_t cpus, Scheduler scheduler) const {
  QuartzReport report;
  report.cpus = cpus;
  const bool shares = scheduler == Scheduler::shared;
  const std::uint32_t busy = shares ? std::max(cpus, 1U) : std::max(most_running_, 1U);
  const std::size_t rows =
      tree_.row_count() + 2 * recording_.threads.size() + 4 * tree_.nodes().size();
  const auto exact = static_cast<std::uint32_t>(
      std::clamp(most_cells / std::max<std::size_t>(rows, 1), least_levels, most_levels));
  const Sweep sweep(schedule_, tree_, late_, recording_.threads.size(), most_running_, exact, busy);
  const std::size_t width = sweep.times().width();
  const Machine machine(busy, shares, width, sweep.times().has_top());
  report.most_busy = static_cast<std::uint32_t>(std::min<std::size_t>(busy, width - 1));
  report.more_busy = sweep.times().has_top();
  report.total_ns = machine.waited(sweep.of_all());
  Ranking(recording_, tree_, sweep, machine).fill(report);
  return report;
}

}  // namespace longpole::analysis
