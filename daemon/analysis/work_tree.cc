#include "analysis/work_tree.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "analysis/call_tree.h"
#include "analysis/spinning.h"
#include "trace/event_forms.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

namespace {

template <std::size_t size>
struct Key {
  std::array<std::uint32_t, size> words;
  friend bool operator==(const Key&, const Key&) = default;
};
struct Hash {
  template <std::size_t size>
  std::size_t operator()(const Key<size>& key) const {
    std::uint64_t hash = 0;
    for (const std::uint32_t word : key.words) {
      hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15U;
      hash ^= hash >> 29U;
    }
    return hash;
  }
};

// The system and what the compiler puts around a program.
bool is_left_out(const Recording& recording, const Function& function) {
  if (is_system_code(recording, function))
    return true;
  if (function.file.known() || !function.module.known())
    return false;
  return recording.modules[function.module.index()].has_line_table;
}

// Functions from the outermost in, whatever lines they were called at. Index 0 is the empty path.
class FunctionPaths {
 public:
  using Index = std::uint32_t;
  struct Path {
    Index parent = 0;
    FunctionId last;
    std::uint32_t depth = 0;
  };

  explicit FunctionPaths(const Recording& recording) {
    std::vector<bool> system(recording.functions.size());
    for (std::size_t f = 0; f < system.size(); ++f)
      system[f] = is_left_out(recording, recording.functions[f]);
    const std::vector<StackId> charged = charged_frames(recording);
    std::vector<Index> own(recording.stacks.size());  // without frames of the system
    of_stack_.resize(recording.stacks.size());
    for (std::size_t s = 0; s < own.size(); ++s) {
      const Stack& stack = recording.stacks[s];
      const Index caller = stack.caller.known() ? own[stack.caller.index()] : 0;
      const bool is_own = !system[stack.function.index()];
      own[s] = is_own ? extended(caller, stack.function) : caller;
      of_stack_[s] = charged[s].index() == s ? (is_own ? own[s] : extended(caller, stack.function))
                                             : of_stack_[charged[s].index()];
    }
  }

  // Calls come with the calling line only. Where that function stood in samples of threads that were
  // created to run the same is where it is taken to have been called from.
  void learn_callers(const Recording& recording) {
    std::vector<bool> seen(recording.profiles.size(), false);
    std::unordered_map<Key<3>, std::uint64_t, Hash> samples_at;
    std::unordered_map<Key<2>, std::uint64_t, Hash> most;
    for (const Thread& thread : recording.threads) {
      for (const Event& event : thread.events) {
        if (!event.profile.known() || seen[event.profile.index()])
          continue;
        seen[event.profile.index()] = true;
        for (const ProfileEntry& entry : recording.profiles[event.profile.index()].entries) {
          for (Index at = of(entry.stack); paths_[at].depth > 1; at = paths_[at].parent) {
            const std::uint32_t function = paths_[at].last.value;
            const Key<2> caller{{thread.start_function.value, function}};
            std::uint64_t& samples = samples_at[{{thread.start_function.value, function, at}}];
            samples += entry.samples;
            if (samples > most[caller]) {
              most[caller] = samples;
              usual_[caller] = at;
            }
          }
        }
      }
    }
  }

  // Of a call by a thread that was created to run `start`.
  [[nodiscard]] Index of_call(StackId site, FunctionId start) const {
    const Index path = of(site);
    if (paths_[path].depth != 1)
      return path;
    const auto usual = usual_.find({{start.value, paths_[path].last.value}});
    return usual == usual_.end() ? path : usual->second;
  }

  [[nodiscard]] Index of(StackId stack) const { return of_stack_[stack.index()]; }
  [[nodiscard]] const Path& at(Index path) const { return paths_[path]; }

  Index extended(Index path, FunctionId function) {
    if (path != 0 && paths_[path].last == function)
      return path;
    const auto next = static_cast<Index>(paths_.size());
    const auto [known, added] = known_.try_emplace({{path, function.value}}, next);
    if (added)
      paths_.push_back({path, function, paths_[path].depth + 1});
    return known->second;
  }

  [[nodiscard]] bool begins_with(Index path, Index beginning) const {
    const std::uint32_t depth = paths_[beginning].depth;
    while (paths_[path].depth > depth)
      path = paths_[path].parent;
    return path == beginning;
  }

 private:
  std::vector<Path> paths_{Path{}};
  std::vector<Index> of_stack_;
  std::unordered_map<Key<2>, Index, Hash> known_;
  std::unordered_map<Key<2>, Index, Hash> usual_;
};

bool takes_lock(const Event& event) {
  switch (event.kind) {
    case EventKind::mutex_lock:
    case EventKind::mutex_trylock:
    case EventKind::mutex_timedlock:
    case EventKind::rwlock_read:
    case EventKind::rwlock_write:
      return event.outcome == Outcome::ok;
    default:
      return false;
  }
}

bool lets_others_go(EventKind kind) {
  return kind == EventKind::mutex_unlock || kind == EventKind::rwlock_unlock ||
         kind == EventKind::semaphore_post || kind == EventKind::condition_signal ||
         kind == EventKind::condition_broadcast;
}

}  // namespace

class WorkTreeBuilder {
 public:
  WorkTreeBuilder(const Recording& recording, const Schedule& schedule, WorkTree& tree)
      : recording_(recording),
        schedule_(schedule),
        tree_(tree),
        paths_(recording),
        base_(recording.threads.size(), 0) {
    paths_.learn_callers(recording);
  }

  void build() {
    tree_.row_of_.resize(schedule_.segments.size(), 0);
    tree_.gap_row_.resize(schedule_.segments.size(), 0);
    spinning_ = spinning_segments(recording_, schedule_);
    tree_.spins_ = !spinning_.empty();
    add_row(0, Spent::computing);      // what nothing is known of, and what is beyond the limits
    std::vector<std::uint32_t> order;  // creators before those that they create
    for (std::uint32_t t = 0; t < base_.size(); ++t) {
      if (!recording_.threads[t].creator.known())
        order.push_back(t);
    }
    for (std::size_t i = 0; i < order.size(); ++i)
      follow(order[i], order);
  }

 private:
  using PathIndex = FunctionPaths::Index;
  using LockIndex = std::uint32_t;
  // The locks that a thread holds: the last, where it was taken, and those before. Index 0: none.
  struct Locks {
    LockIndex outer = 0;
    std::uint32_t object = 0;
    PathIndex taken_at = 0;
    std::uint32_t size = 0;
  };

  // Where a thread is while its events are followed.
  struct Place {
    std::uint32_t thread = 0;
    WorkIndex base = 0;
    std::vector<PathIndex> entered{};
    LockIndex locks = 0;
    [[nodiscard]] PathIndex path() const { return entered.empty() ? 0 : entered.back(); }
  };

  void follow(std::uint32_t thread, std::vector<std::uint32_t>& order) {
    const std::vector<Event>& events = recording_.threads[thread].events;
    const FunctionId start = recording_.threads[thread].start_function;
    Place place{.thread = thread, .base = base_[thread]};
    if (start.known()) {
      const WorkIndex node = node_at(place.base, 0, paths_.extended(0, start));
      tree_.nodes_[node].calls_known = true;
      ++tree_.nodes_[node].calls;
    }
    WorkIndex waits_at = place.base;
    const SegmentIndex begin = schedule_.thread_begin[thread];
    const SegmentIndex end = schedule_.thread_begin[thread + 1];
    for (SegmentIndex s = begin; s < end; ++s) {
      const Segment& segment = schedule_.segments[s];
      const Event& event = events[segment.event];
      if (s > begin && segment.start != schedule_.segments[s - 1].end)
        tree_.gap_row_[s] = wait_row(waits_at, events[schedule_.segments[s - 1].event].spins());
      if (!segment.running) {
        tree_.row_of_[s] = wait_row(waits_at, false);
        continue;
      }
      if (segment.start != segment.end)
        tree_.row_of_[s] =
            computing_row(place, event.profile, start, !spinning_.empty() && spinning_[s]);
      if (segment.cut && event.kind != EventKind::run)
        continue;
      const bool may_wait = s + 1 < end && (schedule_.segments[s + 1].start != segment.end ||
                                            !schedule_.segments[s + 1].running);
      waits_at = call(place, event, may_wait, order);
    }
  }

  // Where the thread waits in this call, if `may_wait`.
  WorkIndex call(Place& place, const Event& event, bool may_wait,
                 std::vector<std::uint32_t>& order) {
    const PathIndex at =
        event.site.known()
            ? paths_.of_call(event.site, recording_.threads[place.thread].start_function)
            : place.path();
    const bool on_object =
        event_form(event.kind).subject == SubjectForm::object && event.subject != unknown_count;
    if (on_object && !lets_others_go(event.kind)) {
      // While it waits for a condition it does not have the mutex.
      const bool leaves_mutex =
          event.kind == EventKind::condition_wait || event.kind == EventKind::condition_timedwait;
      const LockIndex locks = leaves_mutex ? without(place.locks, event.other) : place.locks;
      const WorkIndex object = object_at(place.base, locks, at, event.subject);
      ++tree_.nodes_[object].calls;
      if (takes_lock(event))
        place.locks = with(place.locks, event.subject, at);
      return object;
    }
    switch (event.kind) {
      case EventKind::enter:
        place.entered.push_back(paths_.extended(place.path(), event.callee()));
        count(node_at(place.base, place.locks, place.path()));
        break;
      case EventKind::leave:
        if (!place.entered.empty())
          place.entered.pop_back();
        break;
      case EventKind::run:
        if (event.profile.known())
          count(node_at(place.base, place.locks,
                        paths_.of(recording_.profiles[event.profile.index()].entries[0].stack)));
        break;
      case EventKind::mutex_unlock:
      case EventKind::rwlock_unlock:
        if (on_object && event.outcome == Outcome::ok)
          place.locks = without(place.locks, event.subject);
        break;
      case EventKind::thread_create:
        if (event.subject < base_.size() &&
            recording_.threads[event.subject].creator == ThreadId{place.thread}) {
          base_[event.subject] = not_too_deep(node_at(place.base, place.locks, at));
          order.push_back(event.subject);
        }
        break;
      default:
        break;
    }
    if (!may_wait)
      return place.base;
    const WorkIndex node = node_at(place.base, place.locks, at);
    return on_object ? child(node, {EntityKind::object, event.subject}) : node;
  }

  void count(WorkIndex node) {
    tree_.nodes_[node].calls_known = true;
    ++tree_.nodes_[node].calls;
  }

  [[nodiscard]] WorkIndex not_too_deep(WorkIndex node) const {
    while (tree_.nodes_[node].depth > WorkTree::deepest_base)
      node = tree_.nodes_[node].parent;
    return node;
  }

  WorkIndex child(WorkIndex parent, Entity entity) {
    if (tree_.nodes_[parent].entity == entity)
      return parent;
    const auto next = static_cast<WorkIndex>(tree_.nodes_.size());
    const auto [known, added] =
        children_.try_emplace({{parent, static_cast<std::uint32_t>(entity.kind), entity.id}}, next);
    if (added)
      tree_.nodes_.push_back(
          {parent, tree_.nodes_[parent].depth + 1, entity, 0, entity.kind == EntityKind::object});
    return known->second;
  }

  // The node of `path` below `base` with these locks held. Takes the path apart from its end, until
  // it comes to one that is known.
  WorkIndex node_at(WorkIndex base, LockIndex locks, PathIndex path) {
    open_.clear();
    WorkIndex node = base;
    while (true) {
      if (path == 0 && locks == 0)
        break;
      if (const auto known = node_of_.find({{base, locks, path}}); known != node_of_.end()) {
        node = known->second;
        break;
      }
      open_.emplace_back(locks, path);
      // Locks that were taken on this path or further in stand behind its last function.
      while (locks != 0 && (path == 0 || paths_.begins_with(locks_[locks].taken_at, path)))
        locks = locks_[locks].outer;
      if (path == 0)
        break;
      path = paths_.at(path).parent;
    }
    std::array<std::uint32_t, WorkTree::most_locks_held> objects;
    for (; !open_.empty(); open_.pop_back()) {
      const auto [held, at] = open_.back();
      if (at != 0)
        node = child(node, {EntityKind::function, paths_.at(at).last.value});
      std::size_t size = 0;
      for (LockIndex lock = held;
           lock != 0 && (at == 0 || paths_.begins_with(locks_[lock].taken_at, at));
           lock = locks_[lock].outer)
        objects.at(size++) = locks_[lock].object;
      while (size > 0)
        node = child(node, {EntityKind::object, objects.at(--size)});
      node_of_.try_emplace({{base, held, at}}, node);
    }
    return node;
  }

  WorkIndex object_at(WorkIndex base, LockIndex locks, PathIndex path, std::uint32_t object) {
    const Key<4> key{{base, locks, path, object}};
    Recent& recent = recent_.at(Hash{}(key) % recent_.size());
    if (!recent.used || !(recent.key == key))
      recent = {key, child(node_at(base, locks, path), {EntityKind::object, object}), true};
    return recent.node;
  }

  LockIndex with(LockIndex locks, std::uint32_t object, PathIndex taken_at) {
    if (locks_[locks].size == WorkTree::most_locks_held)
      return locks;
    const auto next = static_cast<LockIndex>(locks_.size());
    if (next == WorkTree::most_lock_paths) {
      const auto known = known_locks_.find({{locks, object, taken_at}});
      return known == known_locks_.end() ? locks : known->second;
    }
    const auto [known, added] = known_locks_.try_emplace({{locks, object, taken_at}}, next);
    if (added)
      locks_.push_back({locks, object, taken_at, locks_[locks].size + 1});
    return known->second;
  }

  LockIndex without(LockIndex locks, std::uint32_t object) {
    std::array<Locks, WorkTree::most_locks_held> inner;
    std::size_t size = 0;
    LockIndex at = locks;
    for (; at != 0 && locks_[at].object != object; at = locks_[at].outer)
      inner.at(size++) = locks_[at];
    if (at == 0)
      return locks;  // not held, or one too many
    at = locks_[at].outer;
    while (size > 0) {
      --size;
      at = with(at, inner.at(size).object, inner.at(size).taken_at);
    }
    return at;
  }

  std::uint32_t add_row(WorkIndex node, Spent spent) {
    tree_.shares_.push_back({node, 1});
    tree_.shares_begin_.push_back(tree_.shares_.size());
    tree_.spent_.push_back(spent);
    return static_cast<std::uint32_t>(tree_.spent_.size() - 1);
  }

  std::uint32_t wait_row(WorkIndex node, bool spins) {
    std::vector<std::uint32_t>& rows = spins ? spinning_wait_rows_ : wait_rows_;
    if (rows.size() < tree_.nodes_.size())
      rows.resize(tree_.nodes_.size(), 0);
    if (rows[node] == 0)
      rows[node] = add_row(node, spins ? Spent::waiting_spinning : Spent::waiting);
    return rows[node];
  }

  std::uint32_t computing_row(const Place& place, ProfileId profile, FunctionId start, bool spins) {
    // Without a profile: wherever the thread is known to be.
    PathIndex path = 0;
    if (!profile.known()) {
      path = place.path();
      if (path == 0 && start.known())
        path = paths_.extended(0, start);
    }
    const Key<4> key{{place.base, place.locks, profile.value, 2 * path + (spins ? 1U : 0U)}};
    RecentRow& recent = recent_rows_[Hash{}(key) % recent_rows_.size()];
    if (recent.row != 0 && recent.key == key)
      return recent.row;
    auto known = computing_rows_.find(key);
    if (known == computing_rows_.end()) {
      if (tree_.spent_.size() >= WorkTree::most_rows)
        return 0;
      const Spent spent = spins ? Spent::spinning : Spent::computing;
      known =
          computing_rows_.try_emplace(key, add_computing_row(place, profile, path, spent)).first;
    }
    recent = {key, known->second};
    return recent.row;
  }

  std::uint32_t add_computing_row(const Place& place, ProfileId profile, PathIndex path,
                                  Spent spent) {
    if (!profile.known())
      return add_row(node_at(place.base, place.locks, path), spent);
    const Profile& of = recording_.profiles[profile.index()];
    const std::size_t count = of.exact ? 1 : of.entries.size();
    const std::uint64_t samples = std::accumulate(
        of.entries.begin(), of.entries.end(), std::uint64_t{0},
        [](std::uint64_t sum, const ProfileEntry& entry) { return sum + entry.samples; });
    for (std::size_t i = 0; i < count; ++i) {
      const double share = of.exact || samples == 0 ? 1 / static_cast<double>(count)
                                                    : static_cast<double>(of.entries[i].samples) /
                                                          static_cast<double>(samples);
      tree_.shares_.push_back(
          {node_at(place.base, place.locks, paths_.of(of.entries[i].stack)), share});
    }
    tree_.shares_begin_.push_back(tree_.shares_.size());
    tree_.spent_.push_back(spent);
    return static_cast<std::uint32_t>(tree_.spent_.size() - 1);
  }

  struct Recent {
    Key<4> key{};
    WorkIndex node = 0;
    bool used = false;
  };

  struct RecentRow {
    Key<4> key{};
    std::uint32_t row = 0;  // 0: none
  };

  const Recording& recording_;
  const Schedule& schedule_;
  WorkTree& tree_;
  FunctionPaths paths_;
  std::vector<WorkIndex> base_;  // by thread
  std::vector<Locks> locks_{Locks{}};
  std::unordered_map<Key<3>, LockIndex, Hash> known_locks_;
  std::unordered_map<Key<3>, WorkIndex, Hash> children_;
  std::unordered_map<Key<3>, WorkIndex, Hash> node_of_;
  std::unordered_map<Key<4>, std::uint32_t, Hash> computing_rows_;
  std::vector<bool> spinning_;            // by segment; empty: none
  std::vector<std::uint32_t> wait_rows_;  // by node; 0: none
  std::vector<std::uint32_t> spinning_wait_rows_;
  std::vector<std::pair<LockIndex, PathIndex>> open_;
  std::array<Recent, 256> recent_{};
  std::vector<RecentRow> recent_rows_ = std::vector<RecentRow>(4096);
};

WorkTree::WorkTree(const Recording& recording, const Schedule& schedule) {
  WorkTreeBuilder(recording, schedule, *this).build();
}

}  // namespace longpole::analysis
