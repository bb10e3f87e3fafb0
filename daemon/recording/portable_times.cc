#include "recording/portable_times.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace longpole::recording {
namespace {

// Under the thread clock, what the record says of it; none where its `other` means something else.
std::optional<std::int64_t> reading_of(const longpole_record& record) {
  std::uint64_t cpu = 0;
  switch (LONGPOLE_KIND(record.kind_and_flags)) {
    case LONGPOLE_CPU_CLOCK:
      cpu = record.object;
      break;
    case LONGPOLE_CONDITION_WAIT:
    case LONGPOLE_CONDITION_TIMEDWAIT:
    case LONGPOLE_SEMAPHORE_INIT:
    case LONGPOLE_BARRIER_INIT:
    case LONGPOLE_TEAM_BARRIER:
    case LONGPOLE_SAMPLE:
    case LONGPOLE_FRAMES:
    case LONGPOLE_THREAD_NAME:
    case LONGPOLE_PRIORITY:
    case LONGPOLE_AFFINITY:
    case LONGPOLE_SIGNAL_SEND:
    case LONGPOLE_CHANNEL:
    case LONGPOLE_DUPLICATE:
    case LONGPOLE_CONNECTION:
      break;
    default:
      cpu = other_of(record);
  }
  if (cpu == 0)
    return std::nullopt;
  return static_cast<std::int64_t>(cpu);
}

// How much of `all` there is enough for, from 0 to 1.
double part_of(std::int64_t there, std::int64_t all) {
  return there > 0 && all > 0 ? std::min(static_cast<double>(there) / static_cast<double>(all), 1.0)
                              : 0;
}

class Builder {
 public:
  Builder(MergeContext& context, std::uint32_t sample_hz, PathTable& paths,
          std::int64_t cpu_before_ns)
      : context_(context),
        period_ns_(sample_hz != 0 ? 1'000'000'000 / sample_hz : 0),
        paths_(paths),
        cpu_before_ns_(cpu_before_ns) {}

  void visit(const longpole_record& record) {
    const std::int64_t before = last_time_;
    const std::uint64_t stamp_before =
        std::exchange(last_stamp_, std::max(last_stamp_, record.tsc));
    last_time_ = std::max(last_time_, context_.time_of(record.tsc));
    const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
    const unsigned flags = LONGPOLE_FLAGS(record.kind_and_flags);
    Stretch stretch{before, last_time_, 0, 0, 0, in_call_};
    const std::int64_t length = last_time_ - before;
    if (kind == LONGPOLE_SAMPLE) {
      const std::uint64_t weight = std::clamp<std::uint64_t>(record.site, 1, 1'000'000);
      take_sample(record, static_cast<std::uint32_t>(weight));
      stretch.known = known_by_sample(length, static_cast<std::int64_t>(weight) * period_ns_);
      stretch.possible = length - stretch.known;
    } else if (waiting_) {
      stretch.in_wait = length;
    } else if (last_stamp_ - stamp_before <= LONGPOLE_LONG_STRETCH) {
      stretch.known = length;
    } else {
      stretch.possible = length;
    }
    stretches_.push_back(stretch);
    if (kind == LONGPOLE_SAMPLE) {
      since_sample_ = 0;
      first_since_sample_ = stretches_.size();
    }
    if (const std::optional<std::int64_t> cpu = reading_of(record); cpu == LONGPOLE_HAD_CPU)
      had_cpu();
    else if (cpu)
      take_reading(std::max<std::int64_t>(*cpu - cpu_before_ns_, 0));
    ended_ = kind == LONGPOLE_THREAD_END;
    if (kind == LONGPOLE_TASK)  // done in the middle of a wait
      waiting_ = (flags & LONGPOLE_RETURNS) != 0;
    else if ((flags & (LONGPOLE_BEGINS | LONGPOLE_RETURNS)) != 0) {
      in_call_ = (flags & LONGPOLE_BEGINS) != 0 && waits_for_nobody_known(kind);
      waiting_ = (flags & LONGPOLE_BEGINS) != 0 && !in_call_;
    }
  }

  ThreadTimes finish() {
    // Cut short: what is known of the stretches since the last reading is left to go by.
    std::int64_t cpu = times_.cpu.total();
    for (const Stretch& stretch : stretches_)
      times_.cpu.add(stretch.until, cpu += stretch.known);
    times_.died = ended_ ? last_time_ : std::max(last_time_, context_.end_ns);
    return std::move(times_);
  }

 private:
  // Between two records: CPU time that it must have had, as they are so close to each other or a
  // sample says so, that it may have had besides, and that it may have had on its way into a wait and
  // out of it: what all others leave.
  struct Stretch {
    std::int64_t from;
    std::int64_t until;
    std::int64_t known;
    std::int64_t possible;
    std::int64_t in_wait;
    bool in_call;  // that waits for nobody known
  };

  void take_sample(const longpole_record& record, std::uint32_t weight) {
    std::vector<std::uint64_t> addresses = {record.object};
    if (const std::uint64_t caller = other_of(record); caller != 0)
      addresses.push_back(caller);
    times_.samples.push_back({last_time_, paths_.add(addresses), weight});
  }

  // Of a stretch that ends with a sample, which comes after so much CPU time since the one before it: what the stretches
  // between the two leave. A thread that loses its CPU at the very tick at which a sample is due gets to it when it has a CPU
  // again, so that the longest stretch may be all others' time.
  std::int64_t known_by_sample(std::int64_t length, std::int64_t between_samples) const {
    std::int64_t rest = between_samples - since_sample_;
    for (std::size_t i = first_since_sample_; i < stretches_.size(); ++i) {
      rest -= stretches_[i].known;
      if (length > between_samples)  // it was off its CPU here; it need not have been there
        rest -= stretches_[i].possible;
    }
    return std::clamp<std::int64_t>(rest, 0, length);
  }

  // In all of them since it last asked.
  void had_cpu() {
    for (; sure_ < stretches_.size(); ++sure_) {
      Stretch& stretch = stretches_[sure_];
      stretch.known += std::exchange(stretch.possible, 0);
    }
  }

  // Shares out what was used since the last reading.
  void take_reading(std::int64_t cpu) {
    if (times_.cpu.empty()) {
      times_.born = std::max<std::int64_t>(last_time_ - cpu, 0);
      times_.cpu.add(times_.born, 0);
      times_.cpu.add(last_time_, cpu);
      forget_stretches();
      return;
    }
    std::int64_t known = 0;
    std::int64_t possible = 0;
    std::int64_t in_wait = 0;
    for (const Stretch& stretch : stretches_) {
      known += stretch.known;
      possible += stretch.possible;
      in_wait += stretch.in_wait;
    }
    std::int64_t at = times_.cpu.total();
    const std::int64_t used = std::max<std::int64_t>(cpu - at, 0);
    const double of_known = part_of(used, known);
    const double of_possible = part_of(used - known, possible);
    const double of_wait = part_of(used - known - possible, in_wait);
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      const Stretch& stretch = stretches_[i];
      const auto had =
          static_cast<std::int64_t>(of_known * static_cast<double>(stretch.known) +
                                    of_possible * static_cast<double>(stretch.possible) +
                                    of_wait * static_cast<double>(stretch.in_wait));
      times_.cpu.add(stretch.until, at += had);
      if (i >= first_since_sample_)
        since_sample_ += had;
      const std::int64_t off = stretch.until - stretch.from - had;
      if (stretch.possible > 0 && off >= shortest_portable_wait_ns)
        times_.gaps.push_back({stretch.from, stretch.from + off, stretch.until, no_path, 0, no_path,
                               stretch.in_call});
    }
    times_.cpu.add(last_time_, cpu);
    forget_stretches();
  }

  void forget_stretches() {
    stretches_.clear();
    sure_ = 0;
    first_since_sample_ = 0;
  }

  MergeContext& context_;
  std::int64_t period_ns_;
  PathTable& paths_;
  std::int64_t cpu_before_ns_;
  ThreadTimes times_;
  std::int64_t last_time_ = 0;
  std::uint64_t last_stamp_ = 0;
  std::vector<Stretch> stretches_;      // since the last reading
  std::size_t sure_ = 0;                // so many of them have been told from others
  std::int64_t since_sample_ = 0;       // CPU time from the last sample to the last reading
  std::size_t first_since_sample_ = 0;  // of the stretches
  bool waiting_ = false;
  bool in_call_ = false;
  bool ended_ = false;
};

// CPU time of all threads together.
CpuCurve sum_of(const std::vector<ThreadTimes>& threads) {
  std::vector<std::pair<std::int64_t, double>> slopes;  // changes of the slope
  for (const ThreadTimes& thread : threads) {
    const std::vector<CpuCurve::Point>& points = thread.cpu.points();
    for (std::size_t i = 1; i < points.size(); ++i) {
      const std::int64_t length = points[i].time - points[i - 1].time;
      if (length == 0 || points[i].cpu == points[i - 1].cpu)
        continue;
      const double slope =
          static_cast<double>(points[i].cpu - points[i - 1].cpu) / static_cast<double>(length);
      slopes.emplace_back(points[i - 1].time, slope);
      slopes.emplace_back(points[i].time, -slope);
    }
  }
  std::sort(slopes.begin(), slopes.end());
  CpuCurve sum;
  double slope = 0;
  double cpu = 0;
  std::int64_t time = slopes.empty() ? 0 : slopes.front().first;
  for (const auto& [next, change] : slopes) {
    cpu += slope * static_cast<double>(next - time);
    time = next;
    slope += change;
    sum.add(time, static_cast<std::int64_t>(cpu));
  }
  return sum;
}

// What a thread waited for a CPU, to be taken out of its gaps. A wait counts when it is over, and after the last look all may
// be waiting.
//
// What a look finds anew lies first in gaps outside calls that wait: a thread seldom sleeps there, and loses its CPU wherever
// others want it. How long it ran in each is known by samples alone: where such a gap lies across a look, what is on both sides
// belongs together. A call sleeps first, and waits for a CPU at its end.
class RunDelays {
 public:
  // `run_delay`: at least one look.
  explicit RunDelays(const CpuCurve& run_delay) : looks_(run_delay.points()) {
    for (std::size_t look = 1; look < looks_.size(); ++look)
      found_.push_back(looks_[look].cpu - looks_[look - 1].cpu);
  }

  // Of a thread, in order of time.
  void take_out_of(std::vector<Gap>& gaps) {
    std::vector<Gap*> outside;
    std::vector<Gap*> in_calls;
    for (Gap& gap : gaps)
      (gap.in_call ? in_calls : outside).push_back(&gap);
    for (Gaps left(outside); !left.empty();)
      left = left.subspan(take_out_of_those_together(left));
    for (Gaps left(in_calls); !left.empty();)
      left = left.subspan(take_out_of_those_that_end_together(left));
  }

 private:
  using Gaps = std::span<Gap* const>;

  // Which look is the last before; what is behind the last of all has the number of those that found anything.
  [[nodiscard]] std::size_t begin_of(const Gap& gap) const { return last_before(gap.from + 1); }
  [[nodiscard]] std::size_t end_of(const Gap& gap) const { return last_before(gap.until); }
  [[nodiscard]] std::size_t last_before(std::int64_t time) const {
    const auto behind = std::ranges::lower_bound(looks_, time, {}, &CpuCurve::Point::time);
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - looks_.begin() - 1, 0));
  }

  static std::int64_t off_in(const Gap& gap) { return gap.ready - gap.from; }
  static void shorten(Gap& gap, double share) {
    gap.ready -= static_cast<std::int64_t>(share * static_cast<double>(off_in(gap)));
  }

  // The first gap and those that belong together with it: returns how many.
  std::size_t take_out_of_those_together(Gaps gaps) {
    const std::size_t begin = begin_of(*gaps.front());
    std::size_t end = begin;
    std::size_t count = 0;
    std::int64_t off = 0;
    for (; count < gaps.size() && begin_of(*gaps[count]) <= end; ++count) {
      off += off_in(*gaps[count]);
      end = std::max(end, end_of(*gaps[count]));
    }
    const bool may_wait_still = end == found_.size();
    const std::span<std::int64_t> found =
        std::span(found_).subspan(begin, std::min(end + 1, found_.size()) - begin);
    const std::int64_t waited = std::accumulate(found.begin(), found.end(), std::int64_t{0});
    const double share = may_wait_still ? 1 : part_of(waited, off);
    for (Gap* gap : gaps.first(count))
      shorten(*gap, share);
    const double given = part_of(off, waited);
    for (std::int64_t& of_look : found)
      of_look -= static_cast<std::int64_t>(given * static_cast<double>(of_look));
    return count;
  }

  // The first gap and those that end between the same two looks: returns how many.
  std::size_t take_out_of_those_that_end_together(Gaps gaps) {
    const std::size_t end = end_of(*gaps.front());
    if (end == found_.size()) {
      for (Gap* gap : gaps)
        gap->ready -= std::min(off_in(*gap), gap->until - std::max(gap->from, looks_.back().time));
      return gaps.size();
    }
    std::int64_t waited = found_[end];
    std::int64_t off = 0;
    std::size_t count = 0;
    for (; count < gaps.size() && end_of(*gaps[count]) == end; ++count) {
      off += off_in(*gaps[count]);
      for (std::size_t i = begin_of(*gaps[count]) + 1; i < end; ++i)
        waited += found_[i];  // while it was in this call all the time
    }
    const double share = part_of(waited, off);
    for (Gap* gap : gaps.first(count))
      shorten(*gap, share);
    return count;
  }

  const std::vector<CpuCurve::Point>& looks_;
  // By all looks but the first, and not given to a gap so far.
  std::vector<std::int64_t> found_;
};

// What the other threads had of the one CPU meanwhile.
void take_out_others(ThreadTimes& thread, CpuCurve& all) {
  for (Gap& gap : thread.gaps) {
    const std::int64_t own = thread.cpu.at(gap.until) - thread.cpu.at(gap.from);
    const std::int64_t others = all.at(gap.until) - all.at(gap.from) - own;
    gap.ready -= std::clamp<std::int64_t>(others, 0, gap.ready - gap.from);
  }
}

}  // namespace

PathTable::PathTable(std::vector<std::vector<std::uint64_t>> paths) : paths_(std::move(paths)) {
  for (std::uint32_t i = 0; i < paths_.size(); ++i)
    ids_.emplace(paths_[i], i);
}

std::uint32_t PathTable::add(const std::vector<std::uint64_t>& addresses) {
  const auto [place, is_new] =
      ids_.try_emplace(addresses, static_cast<std::uint32_t>(paths_.size()));
  if (is_new)
    paths_.push_back(addresses);
  return place->second;
}

ThreadTimes portable_times(const RawThread& raw, MergeContext& context, std::uint32_t sample_hz,
                           PathTable& paths, std::int64_t cpu_before_ns) {
  Builder builder(context, sample_hz, paths, cpu_before_ns);
  raw.for_each_record([&](const longpole_record& record) { builder.visit(record); });
  return builder.finish();
}

void find_portable_gaps(std::vector<ThreadTimes>& threads, bool one_cpu, const StolenTime& stolen) {
  CpuCurve all = one_cpu ? sum_of(threads) : CpuCurve{};
  for (ThreadTimes& thread : threads) {
    if (!thread.run_delay.empty())
      RunDelays(thread.run_delay).take_out_of(thread.gaps);
    else if (one_cpu)
      take_out_others(thread, all);
    for (Gap& gap : thread.gaps)
      gap.ready -= std::min(stolen.most_between(gap.from, gap.until), gap.ready - gap.from);
    std::erase_if(thread.gaps,
                  [](const Gap& gap) { return gap.ready - gap.from < shortest_portable_wait_ns; });
  }
}

}  // namespace longpole::recording
