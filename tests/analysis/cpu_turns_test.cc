// Rows by CPU against the stretches of the simulated run, at every zoom: no turn that is there is
// missing, and no CPU looks busy that is not.
#include "analysis/cpu_turns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "analysis/timeline.h"
#include "programs.h"
#include "random_program.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

using Time = std::int64_t;

struct ExactTurn {
  Time start;
  Time end;
  std::uint32_t thread;
  bool moved;
  bool operator==(const ExactTurn&) const = default;
};
using ExactCpu = std::vector<ExactTurn>;

std::vector<ExactCpu> exact_of(const simulation::SimulatedRun& run, std::uint32_t cpus) {
  std::vector<ExactCpu> exact(cpus);
  std::map<std::uint32_t, std::pair<std::uint32_t, ExactTurn>> open;  // by thread: CPU and turn
  for (const simulation::Stretch& stretch : run.stretches) {
    if (!stretch.running() || stretch.end == stretch.start)
      continue;
    const ExactTurn turn{stretch.start.count(), stretch.end.count(), stretch.thread, false};
    const auto before = open.find(stretch.thread);
    if (before == open.end()) {
      open.insert({stretch.thread, {stretch.cpu, turn}});
      continue;
    }
    auto& [cpu, last] = before->second;
    if (cpu == stretch.cpu && last.end == turn.start) {
      last.end = turn.end;
      continue;
    }
    exact[cpu].push_back(last);
    last = turn;
    last.moved = cpu != stretch.cpu;
    cpu = stretch.cpu;
  }
  for (const auto& [thread, entry] : open)
    exact[entry.first].push_back(entry.second);
  return exact;
}

// By thread: the time that it has the CPU.
std::map<std::uint32_t, Time> times_in(const ExactCpu& turns, Time from, Time to) {
  std::map<std::uint32_t, Time> times;
  for (const ExactTurn& turn : turns) {
    const Time time = std::min(turn.end, to) - std::max(turn.start, from);
    if (time > 0)
      times[turn.thread] += time;
  }
  return times;
}
Time sum_of(const std::map<std::uint32_t, Time>& times) {
  Time sum = 0;
  for (const auto& [thread, time] : times)
    sum += time;
  return sum;
}

// A broken rule in words; empty: none.
std::string wrong_row(const ExactCpu& exact, const CpuRow& row, const TimelineView& view) {
  ExactCpu drawn;
  for (const CpuTurn& turn : row.turns) {
    drawn.push_back({turn.start.count(), turn.end.count(), turn.thread, turn.moved});
    if (std::find(exact.begin(), exact.end(), drawn.back()) == exact.end())
      return fmt::format("turn {}-{} is drawn and is not there", drawn.back().start,
                         drawn.back().end);
  }
  std::map<std::uint32_t, const CpuPixel*> told;
  for (const CpuPixel& pixel : row.pixels) {
    if (!told.emplace(pixel.pixel, &pixel).second)
      return fmt::format("pixel {} is told twice", pixel.pixel);
  }
  for (std::uint32_t i = 0; i < view.pixels; ++i) {
    const Time left = view.edge(i).count();
    const Time right = view.edge(i + 1).count();
    if (left == right)
      continue;
    const auto times = times_in(exact, left, right);
    const auto pixel = told.find(i);
    const bool is_crowded = std::any_of(exact.begin(), exact.end(), [&](const ExactTurn& turn) {
      return turn.start >= left && turn.end <= right && turn.end - turn.start < right - left;
    });
    if ((pixel != told.end()) != is_crowded)
      return fmt::format("pixel {} ({}-{}): {}", i, left, right,
                         is_crowded ? "a whole turn is not told" : "told for no reason");
    if (!is_crowded) {
      if (times_in(drawn, left, right) != times)
        return fmt::format("pixel {} ({}-{}) shows something else", i, left, right);
      continue;
    }
    const Time busy = sum_of(times);
    const double share =
        static_cast<double>(busy) / static_cast<double>(right - left) * whole_pixel;
    if ((pixel->second->busy == whole_pixel) != (busy == right - left) ||
        pixel->second->busy == 0 || std::abs(pixel->second->busy - share) > 1)
      return fmt::format("pixel {}: {} in place of {}", i, pixel->second->busy, share);
    if (pixel->second->threads != times.size())
      return fmt::format("pixel {}: {} threads in place of {}", i, pixel->second->threads,
                         times.size());
    if (!times.contains(pixel->second->thread))
      return fmt::format("pixel {}: the thread that is named does not have it", i);
    const auto moves = std::count_if(exact.begin(), exact.end(), [&](const ExactTurn& turn) {
      return turn.moved && turn.start >= left && turn.start < right;
    });
    if (pixel->second->moves != moves)
      return fmt::format("pixel {}: {} moves in place of {}", i, pixel->second->moves, moves);
  }
  const auto begun = [&](bool only_moved) {
    return static_cast<std::uint64_t>(
        std::count_if(exact.begin(), exact.end(), [&](const ExactTurn& turn) {
          return turn.start >= view.from.count() && turn.start < view.to.count() &&
                 (turn.moved || !only_moved);
        }));
  };
  const auto all = times_in(exact, view.from.count(), view.to.count());
  if (row.busy.count() != sum_of(all) || row.threads != all.size())
    return fmt::format("{} ns and {} threads in place of {} and {}", row.busy.count(), row.threads,
                       sum_of(all), all.size());
  if (row.begun != begun(false) || row.moves != begun(true))
    return fmt::format("{} turns and {} moves in place of {} and {}", row.begun, row.moves,
                       begun(false), begun(true));
  return {};
}

TEST(CpuTurns, AreTheExactPictureAtEveryZoomOnRandomPrograms) {
  std::uint64_t moves = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    std::mt19937_64 random(seed);
    const auto recording = std::make_shared<const Recording>(read_text(random_program(seed)));
    for (const auto kind :
         {simulation::SchedulerKind::linux_fair, simulation::SchedulerKind::fifo}) {
      simulation::Machine machine;
      machine.scheduler = kind;
      machine.cpus = static_cast<std::uint32_t>(seed % 3 + 1);
      auto run = simulation::simulate(*recording, machine);
      ASSERT_TRUE(run) << run.error().text();
      const auto exact = exact_of(*run, machine.cpus);
      const Execution execution(recording, *std::move(run), machine.cpus);
      const CpuTurns turns(execution);
      const Time total = execution.total().count();
      for (const std::uint32_t pixels : {1U, 5U, 64U, 700U}) {
        std::vector<TimelineView> views{
            {Nanoseconds{}, Nanoseconds{total + 1}, pixels},
            {Nanoseconds{total / 3}, Nanoseconds{2 * total + 9}, pixels}};
        for (Time width = total; width > 0; width /= 12) {
          const Time from = std::uniform_int_distribution<Time>(0, total)(random);
          views.push_back({Nanoseconds{from}, Nanoseconds{from + width}, pixels});
        }
        for (const TimelineView& view : views) {
          for (std::uint32_t cpu = 0; cpu < machine.cpus; ++cpu) {
            const CpuRow row = turns.row(cpu, view);
            moves += row.moves;
            ASSERT_EQ(wrong_row(exact[cpu], row, view), "")
                << fmt::format("seed {}, {}, CPU {} of {}, {}-{} in {} pixels", seed, name_of(kind),
                               cpu, machine.cpus, view.from.count(), view.to.count(), pixels);
          }
        }
      }
    }
  }
  EXPECT_GT(moves, 0U) << "no thread ever moves: half of this is not tested";
}

TEST(CpuTurns, OfMoreThanFourSecondsAreOne) {
  const auto recording = std::make_shared<const Recording>(
      read_text("thread A\n  run f 10s\nthread B\n  run g 1s\n  sleep 2s\n  run g 6s\n"));
  simulation::Machine machine;
  machine.scheduler = simulation::SchedulerKind::fifo;
  machine.cpus = 2;
  const Execution execution(recording, *simulation::simulate(*recording, machine), 2);
  const CpuTurns turns(execution);
  const TimelineView view{{}, Nanoseconds{10'000'000'000}, 1000};
  const CpuRow first = turns.row(0, view);
  ASSERT_EQ(first.turns.size(), 1U);
  EXPECT_EQ(first.turns[0].end.count(), 10'000'000'000);
  EXPECT_EQ(first.begun, 1U);
  const CpuRow second = turns.row(1, view);
  ASSERT_EQ(second.turns.size(), 2U);
  EXPECT_EQ(second.turns[1].end - second.turns[1].start, Nanoseconds{6'000'000'000});
  EXPECT_EQ(second.begun, 2U);
  EXPECT_EQ(second.busy.count(), 7'000'000'000);
}

TEST(CpuTurns, AreNotWhereThreadsShareTheCpus) {
  const auto recording = std::make_shared<const Recording>(
      read_text("thread A\n  run f 1\nthread B\n  run g 1\nthread C\n  run h 2\n"));
  const auto schedule =
      std::make_shared<const simulation::Schedule>(simulation::simulate_ideal(*recording));
  const Timeline timeline(
      std::make_shared<const Execution>(recording, schedule, 2, Scheduler::shared));
  const CpuRow row = timeline.cpu_turns().row(1, {{}, timeline.execution().total(), 3});
  EXPECT_TRUE(row.turns.empty());
  EXPECT_TRUE(row.pixels.empty());
}

}  // namespace
}  // namespace longpole::analysis
