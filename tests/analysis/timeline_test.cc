// Timelines against what the schedule says, looked at one nanosecond after the other: at every zoom,
// nothing that is there may be missing, and nothing may be there that is not.
#include "analysis/timeline.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "analysis/forecast.h"
#include "analysis/timeline_find.h"
#include "analysis/timeline_item.h"
#include "exact_timeline.h"
#include "programs.h"
#include "random_program.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

std::array<Time, span_state_count> times_in(const std::vector<ExactSpan>& spans, Time from,
                                            Time to) {
  std::array<Time, span_state_count> times{};
  for (const ExactSpan& span : spans) {
    const Time time = std::min(span.end, to) - std::max(span.start, from);
    if (time > 0)
      times[static_cast<std::size_t>(span.state)] += time;
  }
  return times;
}

bool waits(SpanState state) {
  return state == SpanState::blocked || state == SpanState::io || state == SpanState::sleeping;
}

// Whether a pixel is named by something that is in it; `of`: what a span of it may be named by.
template <typename Name, typename Of>
bool is_named_by(const Name& name, const std::vector<ExactSpan>& spans, Time left, Time right,
                 const Of& of) {
  bool is_empty = true;
  for (const ExactSpan& span : spans) {
    const std::optional<Name> here =
        span.start < right && span.end > left ? of(span) : std::nullopt;
    if (here == name)
      return true;
    is_empty &= !here;
  }
  return is_empty && name == Name{};
}

std::string wrong_names(const PixelSummary& summary, const ExactThread& thread,
                        const Execution& execution, std::uint32_t t, Time left, Time right) {
  const std::vector<Event>& events = execution.recording().threads[t].events;
  const auto run_of = [&](const ExactSpan& span) -> std::optional<ProfileId> {
    if (span.state != SpanState::running)
      return std::nullopt;
    return events[span.event].profile;
  };
  if (!is_named_by(summary.run, thread.spans, left, right, run_of))
    return "what is named does not run in it";
  const auto wait_of = [&](const ExactSpan& span) -> std::optional<SubjectKey> {
    if (!waits(span.state))
      return std::nullopt;
    return execution.subject_keys().of(events[span.event]);
  };
  if (!is_named_by(summary.wait, thread.spans, left, right, wait_of))
    return "what is named is not waited for in it";
  return {};
}

// A mean over what runs in the pixel. Blocks have sums of few digits, of which a pixel is a difference.
std::string wrong_weight(const PixelSummary& summary, const Execution& execution, std::uint32_t t,
                         Time left, Time right) {
  constexpr double digits = 3e-5;
  double weighted = 0;
  double all = 0;
  double ran = 0;
  execution.spans(t, Nanoseconds{0}, [&](const Span& span) {
    if (span.state != SpanState::running)
      return true;
    const double weight = execution.weight(span.part);
    const Time time = std::min(span.end.count(), right) - std::max(span.start.count(), left);
    all += std::abs(weight) * static_cast<double>((span.end - span.start).count());
    if (time > 0) {
      weighted += weight * static_cast<double>(time);
      ran += static_cast<double>(time);
    }
    return true;
  });
  const double expected = ran > 0 ? weighted / ran : 0;
  const auto told = static_cast<double>(summary.weight);
  if (std::abs(told - expected) <= digits * all / std::max(ran, 1.0))
    return {};
  return fmt::format("weight {} in place of {}", told, expected);
}

constexpr SummaryContent everything{.weight = true, .run = true, .wait = true};

// A broken rule in words; empty: none.
std::string wrong_row(const Exact& exact, std::uint32_t t, const Timeline& timeline,
                      const TimelineView& view) {
  const TimelineRow row = timeline.row(t, view, everything);
  const ExactThread& thread = exact.threads[t];
  std::vector<ExactSpan> drawn;
  for (const Span& span : row.spans) {
    const ExactSpan as_drawn{span.start.count(), span.end.count(), span.state, span.event};
    if (std::find(thread.spans.begin(), thread.spans.end(), as_drawn) == thread.spans.end())
      return fmt::format("span {}-{} is drawn and is not there", as_drawn.start, as_drawn.end);
    drawn.push_back(as_drawn);
  }
  std::map<std::uint32_t, const PixelSummary*> summaries;
  for (const PixelSummary& summary : row.summaries) {
    if (!summaries.emplace(summary.pixel, &summary).second)
      return fmt::format("pixel {} is told twice", summary.pixel);
  }
  for (std::uint32_t pixel = 0; pixel < view.pixels; ++pixel) {
    const Time left = view.edge(pixel).count();
    const Time right = view.edge(pixel + 1).count();
    if (left == right)
      continue;
    const auto there = times_in(thread.spans, left, right);
    const auto summary = summaries.find(pixel);
    if (summary == summaries.end()) {
      if (times_in(drawn, left, right) != there)
        return fmt::format("pixel {} ({}-{}) shows something else", pixel, left, right);
      continue;
    }
    Time all = 0;
    std::uint32_t sum = 0;
    for (std::size_t s = 0; s < span_state_count; ++s) {
      const std::uint32_t share = summary->second->shares[s];
      all += there[s];
      sum += share;
      if ((share > 0) != (there[s] > 0))
        return fmt::format("pixel {}: state {} has share {} and time {}", pixel, s, share,
                           there[s]);
      const double true_share =
          static_cast<double>(there[s]) / static_cast<double>(right - left) * whole_pixel;
      if (std::abs(share - true_share) > span_state_count)
        return fmt::format("pixel {}: state {} has share {} in place of {}", pixel, s, share,
                           true_share);
    }
    if ((sum == whole_pixel) != (all == right - left))
      return fmt::format("pixel {}: shares add up to {}", pixel, sum);
    if (const auto wrong = wrong_weight(*summary->second, timeline.execution(), t, left, right);
        !wrong.empty())
      return fmt::format("pixel {}: {}", pixel, wrong);
    if (const auto wrong =
            wrong_names(*summary->second, thread, timeline.execution(), t, left, right);
        !wrong.empty())
      return fmt::format("pixel {}: {}", pixel, wrong);
  }

  std::map<std::pair<std::uint32_t, EventKind>, std::uint32_t> calls;
  for (const ExactCall& call : thread.calls) {
    if (call.time < view.from.count() || call.time > view.to.count() ||
        (call.time == view.to.count() && call.time != exact.total))
      continue;
    ++calls[{view.pixel(Nanoseconds{call.time}) / cell_pixels, call.kind}];
  }
  std::map<std::pair<std::uint32_t, EventKind>, std::uint32_t> shown;
  for (const TimelineCall& call : row.calls) {
    const EventKind kind = timeline.execution().recording().threads[t].events[call.event].kind;
    ++shown[{view.pixel(call.time) / cell_pixels, kind}];
    if (std::none_of(thread.calls.begin(), thread.calls.end(), [&](const ExactCall& other) {
          return other.event == call.event && other.time == call.time.count();
        }))
      return fmt::format("call {} is not made at {}", call.event, call.time.count());
  }
  for (const CallCount& count : row.counts)
    shown[{count.cell, count.kind}] += count.count;
  if (shown != calls)
    return fmt::format("{} kinds of calls in place of {}", shown.size(), calls.size());

  const TimelineThread told = timeline.thread(t, view);
  const auto all = times_in(thread.spans, view.from.count(), view.to.count());
  for (std::size_t s = 0; s < span_state_count; ++s) {
    if (told.times[s].count() != all[s])
      return fmt::format("{} ns in state {} in place of {}", told.times[s].count(), s, all[s]);
  }
  std::uint64_t all_calls = 0;
  for (const auto& [cell, count] : calls)
    all_calls += count;
  if (told.calls != all_calls)
    return fmt::format("{} calls in place of {}", told.calls, all_calls);
  if (told.active != timeline.is_active(t, view))
    return "active in one place only";
  return {};
}

std::string wrong_parallelism(const Exact& exact, const Timeline& timeline,
                              const TimelineView& view) {
  std::map<Time, std::pair<int, int>> changes;
  for (const ExactThread& thread : exact.threads) {
    for (const ExactSpan& span : thread.spans) {
      if (span.state == SpanState::running) {
        ++changes[span.start].first;
        --changes[span.end].first;
      } else if (span.state == SpanState::runnable) {
        ++changes[span.start].second;
        --changes[span.end].second;
      }
    }
  }
  const std::vector<ParallelismPixel> pixels = timeline.parallelism(view);
  std::map<std::pair<std::uint32_t, std::uint32_t>, Time> levels;
  for (std::uint32_t i = 0; i < view.pixels; ++i) {
    const Time left = view.edge(i).count();
    const Time right = view.edge(i + 1).count();
    if (left == right)
      continue;
    std::uint32_t least = 0xffffffffU;
    std::uint32_t most = 0;
    double sum = 0;
    int running = 0;
    int runnable = 0;
    Time at = left;
    const auto pass = [&](Time until) {
      if (until <= at)
        return;
      auto runs = static_cast<std::uint32_t>(running);
      auto waits = static_cast<std::uint32_t>(runnable);
      if (exact.shared_cpus != 0) {
        runs = std::min(runs, exact.shared_cpus);
        waits = static_cast<std::uint32_t>(running) - runs;
      }
      least = std::min(least, runs);
      most = std::max(most, runs);
      sum += static_cast<double>(until - at) * runs;
      const Time within = std::min(until, exact.total) - at;
      if (within > 0)
        levels[{runs, waits}] += within;
      at = until;
    };
    for (const auto& [time, change] : changes) {
      if (time > left)
        pass(std::min(time, right));
      running += change.first;
      runnable += change.second;
    }
    pass(right);
    const double mean = sum / static_cast<double>(right - left);
    if (pixels[i].least.running != least || pixels[i].most.running != most ||
        std::abs(pixels[i].mean_running - mean) > 1e-6)
      return fmt::format("pixel {}: {}…{} run, {} on average, in place of {}…{}, {}", i,
                         pixels[i].least.running, pixels[i].most.running, pixels[i].mean_running,
                         least, most, mean);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, Time> told;
  for (const TimelineLevel& level : timeline.levels(view).levels)
    told[{level.running, level.runnable}] = level.time.count();
  return told == levels ? "" : "the levels differ";
}

std::string wrong_path(const Timeline& timeline, const TimelineView& view) {
  std::vector<PathPiece> expected;
  std::optional<std::uint32_t> shared;  // the pixel that the last of them lies in
  Nanoseconds longest{};
  for (const PathPart& part : timeline.execution().path().parts()) {
    if (part.end <= view.from || part.start >= view.to)
      continue;
    const std::uint32_t pixel = part.start < view.from ? 0 : view.pixel(part.start);
    const bool within = part.start >= view.from && part.end <= view.edge(pixel + 1);
    const Nanoseconds length = part.end - part.start;
    if (within && shared == pixel) {
      PathPiece& piece = expected.back();
      ++piece.parts;
      piece.end = part.end;
      if (length > longest)
        piece.thread = part.thread;
      longest = std::max(longest, length);
      continue;
    }
    expected.push_back({part.thread, part.start, part.end, 1, part.arrival});
    shared = within ? std::optional(pixel) : std::nullopt;
    longest = length;
  }
  const std::vector<PathPiece> pieces = timeline.path(view);
  const auto equal = [](const PathPiece& a, const PathPiece& b) {
    return a.thread == b.thread && a.start == b.start && a.end == b.end && a.parts == b.parts &&
           a.arrival == b.arrival;
  };
  const auto [found, wanted] =
      std::mismatch(pieces.begin(), pieces.end(), expected.begin(), expected.end(), equal);
  if (found == pieces.end() && wanted == expected.end())
    return {};
  return fmt::format("piece {} of {} (should be {}) of the path differs", found - pieces.begin(),
                     pieces.size(), expected.size());
}

std::vector<TimelineView> views_of(Time total, std::mt19937_64& random) {
  std::vector<TimelineView> views;
  for (const std::uint32_t pixels : {1U, 5U, 64U, 700U}) {
    views.push_back({Nanoseconds{}, Nanoseconds{std::max<Time>(total, 1)}, pixels});
    views.push_back({Nanoseconds{total / 3}, Nanoseconds{total * 2 + 10}, pixels});
    for (Time width = total; width > 0; width /= 12) {
      const Time from = std::uniform_int_distribution<Time>(0, total)(random);
      views.push_back({Nanoseconds{from}, Nanoseconds{from + width}, pixels});
    }
  }
  return views;
}

void compare(const Exact& exact, const std::shared_ptr<const Execution>& execution,
             std::mt19937_64& random, const std::string& what) {
  const Timeline timeline(execution);
  ASSERT_EQ(execution->total().count(), exact.total) << what;
  for (const TimelineView& view : views_of(exact.total, random)) {
    const std::string where = fmt::format("{}, {}-{} in {} pixels", what, view.from.count(),
                                          view.to.count(), view.pixels);
    for (std::uint32_t t = 0; t < exact.threads.size(); ++t)
      ASSERT_EQ(wrong_row(exact, t, timeline, view), "") << where << ", thread " << t;
    ASSERT_EQ(wrong_parallelism(exact, timeline, view), "") << where;
    ASSERT_EQ(wrong_path(timeline, view), "") << where;
  }
}

// Three threads with hundreds of short stretches, for many spans a pixel.
std::string long_program(std::uint64_t seed, const char* unit = "ns") {
  std::mt19937_64 random(seed);
  const auto length = [&] { return std::uniform_int_distribution(1, 5000)(random); };
  std::string text;
  for (int t = 0; t < 3; ++t) {
    text += fmt::format("thread T{}\n", t);
    for (int i = 0; i < 150; ++i) {
      text += fmt::format("  run f{} {}{}\n  lock M\n  run g {}{}\n  unlock M\n", i % 7, length(),
                          unit, length(), unit);
      if (random() % 8 == 0)
        text += fmt::format("  sleep {}us\n", length() % 40 + 1);
      if (random() % 16 == 0)
        text += fmt::format("  io disk {}us\n", length() % 30 + 1);
    }
  }
  return text;
}

void compare_all(const std::string& program, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto recording = std::make_shared<const Recording>(read_text(program));
  const auto schedule =
      std::make_shared<const simulation::Schedule>(simulation::simulate_ideal(*recording));
  compare(exact_of(*recording, *schedule, 0),
          std::make_shared<const Execution>(recording, schedule, 2, Scheduler::ideal), random,
          fmt::format("seed {}, ideal", seed));
  for (const std::uint32_t cpus : {1U, 2U, 3U})
    compare(exact_of(*recording, *schedule, cpus),
            std::make_shared<const Execution>(recording, schedule, cpus, Scheduler::shared), random,
            fmt::format("seed {}, shared on {}", seed, cpus));
  for (const auto kind : {simulation::SchedulerKind::linux_fair, simulation::SchedulerKind::fifo}) {
    simulation::Machine machine;
    machine.scheduler = kind;
    machine.cpus = 2;
    machine.switch_cost = Nanoseconds{static_cast<Time>(seed % 3 * 700)};
    auto run = simulation::simulate(*recording, machine);
    ASSERT_TRUE(run) << run.error().text();
    const Exact exact = exact_of(*recording, *run);
    compare(exact, std::make_shared<const Execution>(recording, *std::move(run), 2), random,
            fmt::format("seed {}, {}", seed, name_of(kind)));
  }
}

TEST(Timeline, IsTheExactPictureAtEveryZoomOnRandomPrograms) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed)
    ASSERT_NO_FATAL_FAILURE(compare_all(random_program(seed), seed));
}

TEST(Timeline, IsTheExactPictureWhereManyStretchesShareAPixel) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed)
    ASSERT_NO_FATAL_FAILURE(compare_all(long_program(seed), seed));
}

// Some take a block of the index each.
TEST(Timeline, IsTheExactPictureOfStretchesOfSeconds) {
  std::mt19937_64 random(1);
  const auto recording = std::make_shared<const Recording>(read_text(long_program(1, "ms")));
  const auto schedule =
      std::make_shared<const simulation::Schedule>(simulation::simulate_ideal(*recording));
  compare(exact_of(*recording, *schedule, 0),
          std::make_shared<const Execution>(recording, schedule, 2, Scheduler::ideal), random,
          "ideal");
}

// More functions and locks than the blocks of a thread can name.
TEST(Timeline, NamesWhatIsThereWhereAThreadHasThousandsOfNames) {
  std::string owner = "thread owner\n";
  std::string other = "thread other\n";
  for (int i = 0; i < 1500; ++i) {
    for (int again = 0; again < 16; ++again) {
      owner += fmt::format("  run f{} 10ns\n  post S{}\n", i, i);
      other += fmt::format("  run g{} 3ns\n  wait S{}\n", i, i);
    }
  }
  const auto recording = std::make_shared<const Recording>(read_text(owner + other));
  const auto schedule =
      std::make_shared<const simulation::Schedule>(simulation::simulate_ideal(*recording));
  const Exact exact = exact_of(*recording, *schedule, 0);
  const Timeline timeline(
      std::make_shared<const Execution>(recording, schedule, 2, Scheduler::ideal));
  for (const std::uint32_t pixels : {10U, 150U}) {
    const TimelineView view{{}, schedule->total, pixels};
    for (std::uint32_t t = 0; t < 2; ++t)
      ASSERT_EQ(wrong_row(exact, t, timeline, view), "") << pixels << " pixels, thread " << t;
  }
}

}  // namespace
}  // namespace longpole::analysis
