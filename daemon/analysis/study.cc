#include "analysis/study.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/accounts.h"
#include "analysis/execution.h"
#include "analysis/headroom.h"
#include "analysis/leading_places.h"
#include "analysis/sums_by_cpus.h"
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
        accounts(*recording, schedule),
        all(accounts, schedule) {}

  [[nodiscard]] SumsByCpus::Sums sums(std::uint32_t cpus) const { return all.at(cpus); }
  [[nodiscard]] std::vector<std::uint32_t> useful(std::span<const std::uint32_t> cpus) const;

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
  [[nodiscard]] Table<Row> table(const Execution& execution, const AccountSums& sums,
                                 const SumsByCpus& of) const {
    auto made = table<Row>(execution.cpus(), sums, static_cast<double>(execution.total().count()));
    if (of.of_all()) {
      TimesCpus of_path = 0;
      for (const TimesCpus critical : sums.critical)
        of_path += critical;
      made.machine_ns = made.total_ns - static_cast<double>(of_path) / sums.cpus;
    }
    add_rows(sums, of, made);
    return made;
  }

  [[nodiscard]] Table<FunctionRow> functions(const Execution& execution,
                                             const SumsByCpus& of) const;
  [[nodiscard]] Table<LineRow> lines(const Execution& execution, const SumsByCpus& of) const;

  // Without headroom. The sums are those `of` these threads.
  void add_rows(const AccountSums& sums, const SumsByCpus& of, Table<FunctionRow>& table) const;
  void add_rows(const AccountSums& sums, const SumsByCpus& of, Table<LineRow>& table) const;

  [[nodiscard]] std::string_view name(FunctionId function) const {
    return function.known() ? std::string_view(recording->functions[function.index()].name)
                            : std::string_view();
  }

  std::shared_ptr<const Recording> recording;
  Schedule schedule;
  CompletionTimes times;
  Accounts accounts;
  SumsByCpus all;
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

void Study::State::add_rows(const AccountSums& sums, const SumsByCpus& of,
                            Table<FunctionRow>& table) const {
  const std::vector<FunctionTimes> times_of = accounts.functions(sums, of.selection());
  const std::vector<double> margins = accounts.function_margins(sums);
  for (std::size_t f = 0; f < times_of.size(); ++f) {
    FunctionRow row;
    row.self_ns = times_of[f].self;
    row.total_ns = times_of[f].total;
    row.critical_self_ns = times_of[f].critical_self;
    row.critical_total_ns = times_of[f].critical_total;
    row.critical_share = table.total_ns > 0 ? times_of[f].critical_self / table.total_ns : 0;
    row.normalized_self_ns = times_of[f].normalized_self;
    row.normalized_total_ns = times_of[f].normalized_total;
    row.margin_ns = margins[f];
    if (f + 1 < times_of.size()) {
      row.function = FunctionId{static_cast<std::uint32_t>(f)};
      if (of.of_all())
        row.calls = accounts.calls()[f];
      if (row.calls)
        row.critical_calls = sums.critical_calls[f];
      row.samples = accounts.samples()[f];
      if (!accounts.is_shown(row.function))
        continue;
    }
    if (row.total_ns > 0 || row.normalized_total_ns > 0 || row.critical_total_ns != 0 || row.calls)
      table.rows.push_back(row);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    if (a.critical_self_ns != b.critical_self_ns)
      return a.critical_self_ns > b.critical_self_ns;
    return name(a.function) < name(b.function);
  });
}

std::vector<std::uint32_t> Study::State::useful(std::span<const std::uint32_t> cpus) const {
  std::vector<std::uint32_t> counts;
  for (const std::uint32_t count : cpus)
    counts.push_back(times.useful(count, Scheduler::shared));
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

Table<FunctionRow> Study::State::functions(const Execution& execution, const SumsByCpus& of) const {
  AccountSums sums = accounts.sum(schedule, execution, of.selection());
  accounts.add_normalized(schedule, execution, of.selection(), sums);
  return table<FunctionRow>(execution, sums, of);
}

Table<LineRow> Study::State::lines(const Execution& execution, const SumsByCpus& of) const {
  return table<LineRow>(execution, accounts.sum(schedule, execution, of.selection()), of);
}

Table<FunctionRow> Study::functions(const Execution& execution) const {
  return state_->functions(execution, state_->all);
}

Table<LineRow> Study::lines(const Execution& execution) const {
  return state_->lines(execution, state_->all);
}

std::shared_ptr<const SumsByCpus> Study::choose(std::span<const ThreadId> threads) const {
  std::vector<bool> is_chosen(recording().threads.size(), false);
  for (const ThreadId thread : threads)
    is_chosen[thread.index()] = true;
  return std::make_shared<const SumsByCpus>(state_->accounts, state_->schedule,
                                            state_->accounts.select(state_->schedule, is_chosen));
}

const SumsByCpus& Study::all_threads() const {
  return state_->all;
}

Table<FunctionRow> Study::functions(std::uint32_t cpus, Scheduler scheduler,
                                    const SumsByCpus& chosen) const {
  const auto sums = chosen.at(state_->times.useful(cpus, scheduler));
  auto table = state_->table<FunctionRow>(cpus, sums.get());
  state_->add_rows(sums.get(), chosen, table);
  return table;
}

Table<FunctionRow> Study::functions(const Execution& execution, const SumsByCpus& chosen) const {
  return state_->functions(execution, chosen);
}

Table<LineRow> Study::lines(std::uint32_t cpus, Scheduler scheduler,
                            const SumsByCpus& chosen) const {
  const auto sums = chosen.at(state_->times.useful(cpus, scheduler));
  auto table = state_->table<LineRow>(cpus, sums.get());
  state_->add_rows(sums.get(), chosen, table);
  return table;
}

Table<LineRow> Study::lines(const Execution& execution, const SumsByCpus& chosen) const {
  return state_->lines(execution, chosen);
}

void Study::prepare(std::span<const std::uint32_t> cpus, const SumsByCpus& chosen) const {
  chosen.prepare(state_->useful(cpus));
}

Table<FunctionRow> Study::functions(std::uint32_t cpus, Scheduler scheduler,
                                    WithHeadroom with_headroom) const {
  auto table = functions(cpus, scheduler, state_->all);
  if (with_headroom == WithHeadroom::no)
    return table;
  const auto leader = std::find_if(table.rows.begin(), table.rows.end(),
                                   [](const FunctionRow& row) { return row.function.known(); });
  for (auto row = table.rows.begin(); row != table.rows.end(); ++row) {
    if (row == leader && row->critical_self_ns > 0) {
      const auto headroom =
          headroom_of_leader(*state_->recording, state_->schedule, state_->accounts, row->function,
                             state_->times.useful(cpus, scheduler));
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
  prepare(cpus, state_->all);
}

std::vector<Lead> Study::leads(std::uint32_t up_to_cpus) const {
  std::vector<std::uint32_t> counts(state_->times.useful(up_to_cpus, Scheduler::shared));
  std::iota(counts.begin(), counts.end(), 1);
  state_->all.prepare(counts);
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
  return lines(cpus, scheduler, state_->all);
}

void Study::State::add_rows(const AccountSums& sums, const SumsByCpus& of,
                            Table<LineRow>& table) const {
  const std::vector<LineTimes> times_of = accounts.lines(sums, of.selection());
  const std::vector<double> margins = accounts.line_margins(sums);
  for (std::size_t i = 0; i < times_of.size(); ++i) {
    if (times_of[i].self <= 0 && times_of[i].critical == 0)
      continue;
    const LinePlace& place = accounts.line_places()[i];
    const double share = table.total_ns > 0 ? times_of[i].critical / table.total_ns : 0;
    table.rows.push_back({place.file, place.line, place.function, times_of[i].self,
                          times_of[i].critical, share, place.samples, margins[i], true});
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

// That of input or output has a descriptor.
bool is_unexplained_wait(const Event& event) {
  return event.kind == EventKind::external_wait && event.subject == unknown_count;
}

double Study::unexplained_waiting_ns(std::uint32_t cpus, Scheduler scheduler) const {
  const Schedule& schedule = state_->schedule;
  const Weights weights = extended_critical_path(schedule, state_->times.useful(cpus, scheduler));
  simulation::TimesCpus critical = 0;
  for (SegmentIndex s = 0; s < schedule.segments.size(); ++s) {
    const Segment& segment = schedule.segments[s];
    const Event& event = recording().threads[segment.thread.index()].events[segment.event];
    if (!segment.running && is_unexplained_wait(event))
      critical += simulation::TimesCpus{weights.scaled[s]} * (segment.end - segment.start).count();
  }
  return static_cast<double>(critical) / weights.cpus;
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
