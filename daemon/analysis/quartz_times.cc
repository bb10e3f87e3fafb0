#include "analysis/quartz_times.h"

#include <algorithm>
#include <cmath>

namespace longpole::analysis {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;

namespace {

void add_to(std::vector<double>& to, const std::vector<double>& from, double factor) {
  if (to.size() < from.size())
    to.resize(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i)
    to[i] += factor * from[i];
}

StateTime& at(QuartzTimes& times, ThreadState state) {
  return times.states.at(static_cast<std::size_t>(state));
}

bool is_empty(const Segment& segment) {
  return segment.start == segment.end;
}

}  // namespace

void SpentTimes::add(const SpentTimes& other, double factor) {
  for (std::size_t spent = 0; spent < spent_count; ++spent) {
    add_to(by.at(spent).levels, other.by.at(spent).levels, factor);
    by.at(spent).top.add(other.by.at(spent).top, factor);
  }
  add_to(terms, other.terms, factor);
}

QuartzMachine::QuartzMachine(std::uint32_t cpus, bool shares, std::uint32_t most_running,
                             std::uint32_t exact)
    : cpus_(cpus),
      shares_(shares),
      width_(std::min(most_running, exact) + 1),
      has_top_(most_running >= exact) {}

double QuartzMachine::stretch(std::size_t running) const {
  return shares_ ? std::max(static_cast<double>(running) / cpus_, 1.0) : 1;
}

std::size_t QuartzMachine::term_count() const {
  return std::min<std::size_t>(cpus_, width_ - 1);
}

double QuartzMachine::term(const SpentTimes::ByRunning& computed, std::size_t level) const {
  return is_top(level)
             ? computed.top.normalized
             : computed.levels[level] / static_cast<double>(std::min<std::size_t>(level, cpus_));
}

double QuartzMachine::normalized(const SpentTimes& times) const {
  double sum = 0;
  for (const double one : times.terms)
    sum += one;
  if (!times.terms.empty())
    return sum;
  const SpentTimes::ByRunning& computed = times.of(Spent::computing);
  for (std::size_t level = 1; level < computed.levels.size(); ++level)
    sum += term(computed, level);
  return sum;
}

std::vector<double> QuartzMachine::terms(const SpentTimes& times) const {
  if (!times.terms.empty())
    return times.terms;
  const SpentTimes::ByRunning& computed = times.of(Spent::computing);
  std::vector<double> terms(term_count(), 0);
  for (std::size_t level = 1; level < computed.levels.size(); ++level)
    terms[std::min<std::size_t>(level, terms.size()) - 1] += term(computed, level);
  return terms;
}

// It takes longer where the threads that run share the CPUs.
double QuartzMachine::waited(const SpentTimes::ByRunning& times) const {
  double sum = 0;
  for (std::size_t level = 0; level < times.levels.size(); ++level)
    sum += is_top(level) ? times.top.elapsed : times.levels[level] * stretch(level);
  return sum;
}

double QuartzMachine::blocked(const SpentTimes& times) const {
  return waited(times.of(Spent::waiting));
}

double QuartzMachine::spinning(const SpentTimes& times) const {
  double sum = waited(times.of(Spent::waiting_spinning));
  for (const double computed : times.of(Spent::spinning).levels)
    sum += computed;
  return sum;
}

QuartzTimes QuartzMachine::all(const SpentTimes& times) const {
  QuartzTimes all;
  all.normalized_ns = normalized(times);
  all.terms_ns = terms(times);
  add_computed(times.of(Spent::computing), at(all, ThreadState::busy), at(all, ThreadState::ready));
  add_computed(times.of(Spent::spinning), at(all, ThreadState::spinning),
               at(all, ThreadState::ready));
  add_waited(times.of(Spent::waiting_spinning), at(all, ThreadState::spinning));
  add_waited(times.of(Spent::waiting), at(all, ThreadState::blocked));
  for (StateTime& state : all.states) {
    state.average_runnable = state.time_ns > 0 ? state.average_runnable / state.time_ns : 0;
    while (!state.at_runnable.empty() && state.at_runnable.back() == 0)
      state.at_runnable.pop_back();
  }
  return all;
}

void QuartzMachine::add_computed(const SpentTimes::ByRunning& computed, StateTime& state,
                                 StateTime& ready) const {
  for (std::size_t level = 0; level < computed.levels.size(); ++level) {
    const double time = computed.levels[level];
    const TopSums& top = computed.top;
    const auto threads = static_cast<double>(level);
    const double elapsed = is_top(level) ? top.elapsed : time * stretch(level);
    const double weighed = is_top(level) ? top.threads : time * threads;
    add(state, level, time, weighed);
    add(ready, level, elapsed - time,
        (is_top(level) ? top.threads_elapsed : elapsed * threads) - weighed);
  }
}

void QuartzMachine::add_waited(const SpentTimes::ByRunning& waited, StateTime& state) const {
  for (std::size_t level = 0; level < waited.levels.size(); ++level) {
    const double elapsed =
        is_top(level) ? waited.top.elapsed : waited.levels[level] * stretch(level);
    add(state, level, elapsed,
        is_top(level) ? waited.top.threads_elapsed : elapsed * static_cast<double>(level));
  }
}

void QuartzMachine::add(StateTime& state, std::size_t level, double time, double weighed) const {
  if (time <= 0)
    return;
  state.at_runnable.resize(width_, 0);
  state.at_runnable[level] += time;
  state.time_ns += time;
  state.average_runnable += weighed;
}

QuartzSweep::QuartzSweep(const Schedule& schedule, const WorkTree& tree,
                         const std::vector<SegmentIndex>& late, std::uint32_t most_running,
                         std::uint32_t exact, const QuartzMachine& machine)
    : schedule_(schedule),
      tree_(tree),
      machine_(machine),
      threads_(schedule.thread_begin.size() - 1),
      rows_(tree.row_count()),
      times_(rows_ + spent_count * threads_, most_running, exact, machine.cpus()),
      terms_(tree.spins() ? rows_ + spent_count * threads_ : 0, machine.term_count()) {
  run(late);
}

void QuartzSweep::Terms::pass(double elapsed, double cpus_busy, std::uint32_t threads) {
  const auto whole = static_cast<std::size_t>(std::lround(cpus_busy));
  clocks_[std::clamp<std::size_t>(whole, 1, columns_) - 1] += elapsed / threads;
}

void QuartzSweep::Terms::add(std::size_t row, double factor) {
  for (std::size_t column = 0; column < columns_; ++column)
    times_[row * columns_ + column] += factor * clocks_[column];
}

std::vector<double> QuartzSweep::Terms::of(std::size_t row) const {
  const auto begin = times_.begin() + static_cast<std::ptrdiff_t>(row * columns_);
  return {begin, begin + static_cast<std::ptrdiff_t>(columns_)};
}

SpentTimes QuartzSweep::of_all() const {
  SpentTimes times;
  SpentTimes::ByRunning& waited = times.of(Spent::waiting);
  for (std::size_t level = 0; level < times_.width(); ++level)
    waited.levels.push_back(static_cast<double>(times_.time(level)));
  waited.top = times_.top();
  return times;
}

SpentTimes QuartzSweep::of_row(std::uint32_t row) const {
  SpentTimes times;
  read(row, tree_.spent(row), times);
  return times;
}

SpentTimes QuartzSweep::of_thread(std::size_t thread) const {
  SpentTimes times;
  for (const Spent spent :
       {Spent::computing, Spent::spinning, Spent::waiting, Spent::waiting_spinning})
    read(thread_row(thread, spent), spent, times);
  return times;
}

void QuartzSweep::read(std::size_t row, Spent spent, SpentTimes& times) const {
  SpentTimes::ByRunning& read = times.of(spent);
  read.levels.resize(times_.width());
  for (std::size_t level = 0; level < read.levels.size(); ++level)
    read.levels[level] = static_cast<double>(times_.time(row, level));
  read.top = times_.top(row);
  if (spent == Spent::computing && tree_.spins())
    times.terms = terms_.of(row);
}

void QuartzSweep::run(const std::vector<SegmentIndex>& late) {
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
      pass((segment.end - now).count(), running);
      now = segment.end;
      begin_late();
    }
    end_segment(s);
    running = segment.running_after;
  }
}

void QuartzSweep::pass(std::int64_t time, std::uint32_t running) {
  times_.pass(time, running);
  if (!tree_.spins() || running <= spinning_)
    return;
  const double stretch = machine_.stretch(running);
  const std::uint32_t busy = running - spinning_;
  terms_.pass(static_cast<double>(time) * stretch, busy / stretch, busy);
}

void QuartzSweep::begin(std::size_t row, Spent spent) {
  times_.begin(row);
  if (spent == Spent::computing && tree_.spins())
    terms_.begin(row);
}

void QuartzSweep::end(std::size_t row, Spent spent) {
  times_.end(row);
  if (spent == Spent::computing && tree_.spins())
    terms_.end(row);
}

void QuartzSweep::end_segment(SegmentIndex s) {
  const Segment& segment = schedule_.segments[s];
  const std::size_t thread = segment.thread.index();
  const bool is_last = s + 1 == schedule_.thread_begin[thread + 1];
  const bool goes_on = !is_last && schedule_.segments[s + 1].start == segment.end;
  if (!is_empty(segment)) {
    const std::uint32_t row = tree_.row_of(s);
    const Spent spent = tree_.spent(row);
    if (goes_on && !is_empty(schedule_.segments[s + 1])) {
      const std::uint32_t next = tree_.row_of(s + 1);
      if (tree_.spent(next) == spent) {
        if (next != row) {
          end(row, spent);
          begin(next, spent);
        }
        return;
      }
    }
    end(row, spent);
    end(thread_row(thread, spent), spent);
    spinning_ -= spent == Spent::spinning ? 1U : 0U;
  }
  if (goes_on) {
    begin_segment(s + 1);
  } else if (!is_last) {
    const std::uint32_t gap = tree_.gap_row_of(s + 1);
    begin(gap, tree_.spent(gap));
    begin(thread_row(thread, tree_.spent(gap)), tree_.spent(gap));
  }
}

void QuartzSweep::begin_segment(SegmentIndex s) {
  const Segment& segment = schedule_.segments[s];
  if (is_empty(segment))
    return;
  const std::uint32_t row = tree_.row_of(s);
  const Spent spent = tree_.spent(row);
  begin(row, spent);
  begin(thread_row(segment.thread.index(), spent), spent);
  spinning_ += spent == Spent::spinning ? 1U : 0U;
}

void QuartzSweep::begin_after_wait(SegmentIndex s) {
  const Segment& segment = schedule_.segments[s];
  if (s > schedule_.thread_begin[segment.thread.index()]) {
    const std::uint32_t gap = tree_.gap_row_of(s);
    end(gap, tree_.spent(gap));
    end(thread_row(segment.thread.index(), tree_.spent(gap)), tree_.spent(gap));
  }
  begin_segment(s);
}

}  // namespace longpole::analysis
