#include "analysis/study.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/accounts.h"
#include "analysis/headroom.h"
#include "analysis/sweep.h"
#include "simulation/simulate.h"

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

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

  // The last few CPU counts that were asked for.
  struct Sums {
    explicit Sums(std::uint32_t on_cpus) : cpus(on_cpus) {}
    std::uint32_t cpus;
    std::once_flag once;
    AccountSums sums;
  };
  std::shared_ptr<const Sums> sums(std::uint32_t cpus) const {
    std::shared_ptr<Sums> found;
    {
      const std::scoped_lock lock(mutex);
      const auto at = std::find_if(recent.begin(), recent.end(),
                                   [&](const auto& known) { return known->cpus == cpus; });
      if (at != recent.end())
        recent.splice(recent.begin(), recent, at);
      else
        recent.push_front(std::make_shared<Sums>(cpus));
      if (recent.size() > most_recent)
        recent.pop_back();
      found = recent.front();
    }
    // Outside the lock: others may ask about other CPU counts meanwhile.
    std::call_once(found->once, [&] { found->sums = accounts.sum(schedule, cpus); });
    return found;
  }

  template <typename Row>
  [[nodiscard]] Table<Row> table(std::uint32_t cpus, const AccountSums& sums) const {
    Table<Row> table;
    table.cpus = cpus;
    table.total_ns = times.on(sums.cpus);
    table.waiting_ns = static_cast<double>(sums.critical[Accounts::waiting]) / sums.cpus;
    return table;
  }

  [[nodiscard]] std::string_view name(FunctionId function) const {
    return function.known() ? std::string_view(recording->functions[function.index()].name)
                            : std::string_view();
  }

  std::shared_ptr<const Recording> recording;
  Schedule schedule;
  CompletionTimes times;
  Accounts accounts;

  static constexpr std::size_t most_recent = 64;
  mutable std::mutex mutex;
  mutable std::list<std::shared_ptr<Sums>> recent;
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

Table<FunctionRow> Study::functions(std::uint32_t cpus, Scheduler scheduler,
                                    WithHeadroom with_headroom) const {
  const auto sums = state_->sums(state_->times.useful(cpus, scheduler));
  const std::vector<FunctionTimes> times = state_->accounts.functions(sums->sums);
  auto table = state_->table<FunctionRow>(cpus, sums->sums);
  for (std::size_t f = 0; f < times.size(); ++f) {
    FunctionRow row;
    row.self_ns = times[f].self;
    row.total_ns = times[f].total;
    row.critical_self_ns = times[f].critical_self;
    row.critical_total_ns = times[f].critical_total;
    row.critical_share = table.total_ns > 0 ? times[f].critical_self / table.total_ns : 0;
    row.normalized_self_ns = times[f].normalized_self;
    row.normalized_total_ns = times[f].normalized_total;
    if (f + 1 < times.size()) {
      row.function = FunctionId{static_cast<std::uint32_t>(f)};
      row.calls = state_->accounts.calls()[f];
      if (row.calls)
        row.critical_calls = sums->sums.critical_calls[f];
      row.samples = state_->accounts.samples()[f];
      if (!state_->accounts.is_shown(row.function))
        continue;
    }
    if (row.total_ns > 0 || row.normalized_total_ns > 0 || row.calls)
      table.rows.push_back(row);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    if (a.critical_self_ns != b.critical_self_ns)
      return a.critical_self_ns > b.critical_self_ns;
    return state_->name(a.function) < state_->name(b.function);
  });
  if (with_headroom == WithHeadroom::no)
    return table;
  const auto leader = std::find_if(table.rows.begin(), table.rows.end(),
                                   [](const FunctionRow& row) { return row.function.known(); });
  for (auto row = table.rows.begin(); row != table.rows.end(); ++row) {
    if (row == leader && row->critical_self_ns > 0)
      row->headroom = headroom_of_leader(*state_->recording, state_->schedule, state_->accounts,
                                         row->function, sums->sums.cpus);
    else
      row->headroom = 0;
  }
  return table;
}

Table<LineRow> Study::lines(std::uint32_t cpus, Scheduler scheduler) const {
  const auto sums = state_->sums(state_->times.useful(cpus, scheduler));
  const std::vector<LineTimes> times = state_->accounts.lines(sums->sums);
  auto table = state_->table<LineRow>(cpus, sums->sums);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i].self <= 0)
      continue;
    const LinePlace& place = state_->accounts.line_places()[i];
    const double share = table.total_ns > 0 ? times[i].critical / table.total_ns : 0;
    table.rows.push_back({place.file, place.line, place.function, times[i].self, times[i].critical,
                          share, place.samples});
  }
  std::sort(table.rows.begin(), table.rows.end(), [&](const LineRow& a, const LineRow& b) {
    if (a.critical_ns != b.critical_ns)
      return a.critical_ns > b.critical_ns;
    return std::tuple(a.file, a.line, state_->name(a.function), a.function) <
           std::tuple(b.file, b.line, state_->name(b.function), b.function);
  });
  return table;
}

Table<SegmentRow> Study::segments(std::uint32_t cpus, Scheduler scheduler) const {
  const Schedule& schedule = state_->schedule;
  const std::uint32_t useful = state_->times.useful(cpus, scheduler);
  const auto sums = state_->sums(useful);
  auto table = state_->table<SegmentRow>(cpus, sums->sums);
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

}  // namespace longpole::analysis
