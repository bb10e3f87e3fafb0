#include "analysis/study.h"

#include <algorithm>
#include <future>
#include <list>
#include <mutex>
#include <numeric>
#include <span>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "analysis/accounts.h"
#include "analysis/execution.h"
#include "analysis/headroom.h"
#include "analysis/leading_places.h"
#include "simulation/simulate.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using simulation::TimesCpus;

namespace {

std::shared_ptr<const Recording> with_known_counts(std::shared_ptr<const Recording> recording) {
  for (const Thread& thread : recording->threads) {
    for (const Event& event : thread.events) {
      if ((event.kind == EventKind::condition_signal ||
           event.kind == EventKind::condition_broadcast) &&
          event.other == unknown_count)
        return std::make_shared<const Recording>(
            simulation::with_known_condition_counts(*recording));
    }
  }
  return recording;
}

}  // namespace

struct Study::State {
  explicit State(std::shared_ptr<const Recording> given)
      : recording(with_known_counts(std::move(given))),
        schedule(simulation::simulate_ideal(*recording)),
        times(schedule, recording->threads.size()),
        accounts(*recording, schedule) {}

  using Sums = std::shared_future<AccountSums>;
  // Computes what is not known yet, on as many threads as there are CPUs. What another thread is
  // computing is waited for where it is used.
  void prepare(std::span<const std::uint32_t> counts) const {
    std::vector<std::uint32_t> missing;
    std::vector<std::promise<AccountSums>> promises;
    {
      const std::scoped_lock lock(mutex);
      for (const std::uint32_t cpus : counts) {
        if (find(cpus) != recent.end())
          continue;
        missing.push_back(cpus);
        recent.emplace_front(cpus, promises.emplace_back().get_future().share());
      }
      while (recent.size() > std::max(most_recent, counts.size()))
        recent.pop_back();
    }
    const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1,
                                                        std::max<std::size_t>(missing.size(), 1));
    const auto compute = [&](std::size_t part) {
      const std::size_t begin = missing.size() * part / threads;
      const std::size_t end = missing.size() * (part + 1) / threads;
      try {
        std::vector<AccountSums> sums =
            accounts.sum(schedule, std::span(missing).subspan(begin, end - begin));
        for (std::size_t i = begin; i < end; ++i)
          promises[i].set_value(std::move(sums[i - begin]));
      } catch (...) {  // no memory: whoever asks for these is told
        for (std::size_t i = begin; i < end; ++i)
          promises[i].set_exception(std::current_exception());
      }
    };
    std::vector<std::future<void>> helpers;
    for (std::size_t part = 1; part < threads; ++part)
      helpers.push_back(std::async(std::launch::async, compute, part));
    compute(0);
  }
  [[nodiscard]] Sums sums(std::uint32_t cpus) const {
    prepare(std::span(&cpus, 1));
    const std::scoped_lock lock(mutex);
    const auto at = find(cpus);
    if (at != recent.end()) {
      recent.splice(recent.begin(), recent, at);
      return recent.front().second;
    }
    std::promise<AccountSums> promise;  // pushed out by others meanwhile
    promise.set_value(accounts.sum(schedule, cpus));
    return promise.get_future().share();
  }

  template <typename Row>
  [[nodiscard]] Table<Row> table(std::uint32_t cpus, const AccountSums& sums) const {
    return table<Row>(cpus, sums, times.on(sums.cpus));
  }
  template <typename Row>
  [[nodiscard]] static Table<Row> table(std::uint32_t cpus, const AccountSums& sums,
                                        double total_ns) {
    Table<Row> table;
    table.cpus = cpus;
    table.total_ns = total_ns;
    table.waiting_ns = static_cast<double>(sums.critical[Accounts::waiting]) / sums.cpus;
    return table;
  }

  // Of a run on a machine.
  template <typename Row>
  [[nodiscard]] Table<Row> table(const Execution& execution, const AccountSums& sums) const {
    auto made = table<Row>(execution.cpus(), sums, static_cast<double>(execution.total().count()));
    TimesCpus of_path = 0;
    for (const TimesCpus critical : sums.critical)
      of_path += critical;
    made.machine_ns = made.total_ns - static_cast<double>(of_path) / sums.cpus;
    add_rows(sums, made);
    return made;
  }

  // Without headroom.
  void add_rows(const AccountSums& sums, Table<FunctionRow>& table) const;
  void add_rows(const AccountSums& sums, Table<LineRow>& table) const;

  [[nodiscard]] std::string_view name(FunctionId function) const {
    return function.known() ? std::string_view(recording->functions[function.index()].name)
                            : std::string_view();
  }

  std::shared_ptr<const Recording> recording;
  Schedule schedule;
  CompletionTimes times;
  Accounts accounts;

  // The last few CPU counts that were asked for.
  static constexpr std::size_t most_recent = 80;
  using Recent = std::list<std::pair<std::uint32_t, Sums>>;
  [[nodiscard]] Recent::iterator find(std::uint32_t cpus) const {
    return std::find_if(recent.begin(), recent.end(),
                        [&](const auto& known) { return known.first == cpus; });
  }
  mutable std::mutex mutex;
  mutable Recent recent;
};

Study::Study(std::shared_ptr<const Recording> recording)
    : state_(std::make_unique<State>(std::move(recording))) {}
Study::~Study() = default;
Study::Study(Study&&) noexcept = default;
Study& Study::operator=(Study&&) noexcept = default;

const Recording& Study::recording() const {
  return *state_->recording;
}

const Schedule& Study::ideal() const {
  return state_->schedule;
}

Prediction Study::predict(std::uint32_t cpus, Scheduler scheduler) const {
  return state_->times.predict(cpus, scheduler);
}

void Study::State::add_rows(const AccountSums& sums, Table<FunctionRow>& table) const {
  const std::vector<FunctionTimes> all = accounts.functions(sums);
  for (std::size_t f = 0; f < all.size(); ++f) {
    FunctionRow row;
    row.self_ns = all[f].self;
    row.total_ns = all[f].total;
    row.critical_self_ns = all[f].critical_self;
    row.critical_total_ns = all[f].critical_total;
    row.critical_share = table.total_ns > 0 ? all[f].critical_self / table.total_ns : 0;
    row.normalized_self_ns = all[f].normalized_self;
    row.normalized_total_ns = all[f].normalized_total;
    if (f + 1 < all.size()) {
      row.function = FunctionId{static_cast<std::uint32_t>(f)};
      row.calls = accounts.calls()[f];
      if (row.calls)
        row.critical_calls = sums.critical_calls[f];
      row.samples = accounts.samples()[f];
      if (!accounts.is_shown(row.function))
        continue;
    }
    if (row.total_ns > 0 || row.normalized_total_ns > 0 || row.calls)
      table.rows.push_back(row);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    if (a.critical_self_ns != b.critical_self_ns)
      return a.critical_self_ns > b.critical_self_ns;
    return name(a.function) < name(b.function);
  });
}

Table<FunctionRow> Study::functions(const Execution& execution) const {
  AccountSums sums = state_->accounts.sum(state_->schedule, execution);
  state_->accounts.add_normalized(state_->schedule, execution, sums);
  return state_->table<FunctionRow>(execution, sums);
}

Table<LineRow> Study::lines(const Execution& execution) const {
  return state_->table<LineRow>(execution, state_->accounts.sum(state_->schedule, execution));
}

Table<FunctionRow> Study::functions(std::uint32_t cpus, Scheduler scheduler,
                                    WithHeadroom with_headroom) const {
  const auto sums = state_->sums(state_->times.useful(cpus, scheduler));
  auto table = state_->table<FunctionRow>(cpus, sums.get());
  state_->add_rows(sums.get(), table);
  if (with_headroom == WithHeadroom::no)
    return table;
  const auto leader = std::find_if(table.rows.begin(), table.rows.end(),
                                   [](const FunctionRow& row) { return row.function.known(); });
  for (auto row = table.rows.begin(); row != table.rows.end(); ++row) {
    if (row == leader && row->critical_self_ns > 0) {
      const auto headroom = headroom_of_leader(*state_->recording, state_->schedule,
                                               state_->accounts, row->function, sums.get().cpus);
      if (headroom) {
        row->headroom = headroom->reduction;
        row->next_leader = headroom->next;
      }
    } else {
      row->headroom = 0;
    }
  }
  return table;
}

void Study::prepare(std::span<const std::uint32_t> cpus) const {
  std::vector<std::uint32_t> counts;
  for (const std::uint32_t count : cpus)
    counts.push_back(state_->times.useful(count, Scheduler::shared));
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  state_->prepare(counts);
}

std::vector<Lead> Study::leads(std::uint32_t up_to_cpus) const {
  std::vector<std::uint32_t> counts(state_->times.useful(up_to_cpus, Scheduler::shared));
  std::iota(counts.begin(), counts.end(), 1);
  state_->prepare(counts);
  std::vector<Lead> leads;
  for (const std::uint32_t cpus : counts) {
    const auto sums = state_->sums(cpus);
    const std::vector<double> critical =
        state_->accounts.critical_self(sums.get(), FunctionId::none(), 0);
    FunctionId leader;
    for (std::uint32_t f = 0; f < recording().functions.size(); ++f) {
      const double lead = leader.known() ? critical[leader.index()] : 0;
      if (critical[f] > lead || (leader.known() && critical[f] == lead &&
                                 state_->name(FunctionId{f}) < state_->name(leader)))
        leader = FunctionId{f};
    }
    if (leads.empty() || leads.back().function != leader)
      leads.push_back({cpus, cpus, leader});
    leads.back().to_cpus = cpus;
  }
  if (!leads.empty())
    leads.back().to_cpus = up_to_cpus;
  return leads;
}

Table<LineRow> Study::lines(std::uint32_t cpus, Scheduler scheduler) const {
  const auto sums = state_->sums(state_->times.useful(cpus, scheduler));
  auto table = state_->table<LineRow>(cpus, sums.get());
  state_->add_rows(sums.get(), table);
  return table;
}

void Study::State::add_rows(const AccountSums& sums, Table<LineRow>& table) const {
  const std::vector<LineTimes> all = accounts.lines(sums);
  const std::vector<double> margins = accounts.line_margins(sums);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].self <= 0)
      continue;
    const LinePlace& place = accounts.line_places()[i];
    const double share = table.total_ns > 0 ? all[i].critical / table.total_ns : 0;
    table.rows.push_back({place.file, place.line, place.function, all[i].self, all[i].critical,
                          share, place.samples, margins[i], true});
  }
  std::sort(table.rows.begin(), table.rows.end(), [&](const LineRow& a, const LineRow& b) {
    if (a.critical_ns != b.critical_ns)
      return a.critical_ns > b.critical_ns;
    return std::tuple(a.file, a.line, name(a.function), a.function) <
           std::tuple(b.file, b.line, name(b.function), b.function);
  });
  for (std::size_t i = 1; i < table.rows.size(); ++i) {
    LineRow& above = table.rows[i - 1];
    const LineRow& below = table.rows[i];
    const double margins_together = above.margin_ns + below.margin_ns;
    above.distinct =
        margins_together == 0 || above.critical_ns - below.critical_ns > margins_together;
  }
}

Table<SegmentRow> Study::segments(std::uint32_t cpus, Scheduler scheduler) const {
  const Schedule& schedule = state_->schedule;
  const std::uint32_t useful = state_->times.useful(cpus, scheduler);
  const auto sums = state_->sums(useful);
  auto table = state_->table<SegmentRow>(cpus, sums.get());
  const Weights weights = extended_critical_path(schedule, useful);

  const std::vector<FunctionId> leading = state_->accounts.leading_functions();
  for (SegmentIndex s = 0; s < schedule.segments.size(); ++s) {
    const Segment& segment = schedule.segments[s];
    const Event& event = recording().threads[segment.thread.index()].events[segment.event];
    if (segment.start == segment.end && event.kind != EventKind::run)
      continue;
    SegmentRow row;
    row.thread = segment.thread;
    if (segment.running && event.profile.known())
      row.function = leading[event.profile.index()];
    row.start_ns = static_cast<double>(segment.start.count());
    row.end_ns = static_cast<double>(segment.end.count());
    row.weight = weights.weight(s);
    row.running = segment.running;
    table.rows.push_back(row);
  }
  return table;
}

Table<PathRow> Study::path(std::uint32_t cpus, Scheduler scheduler) const {
  const std::uint32_t useful = state_->times.useful(cpus, scheduler);
  auto table = state_->table<PathRow>(cpus, state_->sums(useful).get());
  const std::vector<FunctionId> leading = state_->accounts.leading_functions();
  for (const PathStep& step :
       heaviest_path(state_->schedule, extended_critical_path(state_->schedule, useful))) {
    const Event& event = recording().threads[step.thread.index()].events[step.event];
    PathRow row{step, {}};
    if (step.running && event.profile.known())
      row.function = leading[event.profile.index()];
    table.rows.push_back(row);
  }
  return table;
}

MachinePath path_of_machine(const Execution& run) {
  const Recording& recording = run.recording();
  const std::vector<StackId> leading = leading_places(recording);
  Table<PathRow> table;
  table.cpus = run.cpus();
  table.total_ns = static_cast<double>(run.total().count());
  for (const PathStep& step : machine_path(run)) {
    const Event& event = recording.threads[step.thread.index()].events[step.event];
    PathRow row{step, {}};
    if (step.running && event.profile.known())
      row.function = recording.stacks[leading[event.profile.index()].index()].function;
    table.waiting_ns += step.running ? 0 : static_cast<double>((step.end - step.start).count());
    table.rows.push_back(row);
  }
  return {std::move(table)};
}

ObjectTable Study::objects(std::uint32_t cpus, Scheduler scheduler) const {
  return contention(recording(), state_->schedule, cpus, scheduler);
}

ThreadTable Study::threads(std::uint32_t cpus, Scheduler scheduler) const {
  return thread_table(recording(), state_->schedule, cpus, scheduler);
}

}  // namespace longpole::analysis
