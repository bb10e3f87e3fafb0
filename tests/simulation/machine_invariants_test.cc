// What must hold for every program on every machine, whoever schedules it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "../analysis/random_program.h"
#include "schedule_rules.h"
#include "simulation/simulate.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

constexpr std::uint64_t programs = 5000;

Recording program(std::uint64_t seed) {
  return with_known_condition_counts(*read_program(analysis::random_program(seed), "random"));
}

SimulatedRun run_on(const Recording& recording, const Machine& machine) {
  auto run = simulate(recording, machine);
  EXPECT_TRUE(run) << run.error().text();
  return *std::move(run);
}

// Whose waits do not depend on who comes first.
bool is_ordered(const Recording& recording) {
  return std::all_of(recording.threads.begin(), recording.threads.end(), [](const Thread& thread) {
    return std::all_of(thread.events.begin(), thread.events.end(), [](const Event& event) {
      return event.kind == EventKind::run || event.kind == EventKind::enter ||
             event.kind == EventKind::leave || event.kind == EventKind::thread_create ||
             event.kind == EventKind::thread_join || event.kind == EventKind::thread_detach ||
             event.kind == EventKind::thread_end || event.kind == EventKind::barrier_wait ||
             event.kind == EventKind::yield || event.kind == EventKind::sleep ||
             event.kind == EventKind::external_wait || event.outcome != Outcome::ok;
    });
  });
}

// Leaves out the calls that would make it otherwise.
Recording ordered(Recording recording) {
  for (Thread& thread : recording.threads) {
    thread.events.erase(std::remove_if(thread.events.begin(), thread.events.end(),
                                       [](const Event& event) {
                                         return event.kind != EventKind::thread_create &&
                                                event.kind != EventKind::thread_join &&
                                                event.kind != EventKind::thread_end &&
                                                event.kind != EventKind::barrier_wait &&
                                                event.kind != EventKind::sleep &&
                                                event.kind != EventKind::run;
                                       }),
                        thread.events.end());
  }
  return recording;
}

// With mutexes turned into spin locks, but for those that conditions have.
Recording spinning(Recording recording) {
  const Survey survey(recording);
  for (Thread& thread : recording.threads) {
    for (Event& event : thread.events) {
      const bool is_of_condition =
          std::find(survey.condition_mutex.begin(), survey.condition_mutex.end(), event.subject) !=
          survey.condition_mutex.end();
      if (event.kind == EventKind::mutex_lock && !is_of_condition)
        event.other = Event::burns_cpu;
    }
  }
  return recording;
}

// Short as on computers, and so long that a thread comes while a CPU wakes up for another.
Nanoseconds wake_up(std::uint64_t seed) {
  return seed % 4 == 1 ? std::chrono::microseconds(3) : std::chrono::milliseconds(20);
}

// What takes longest is a test for each, so that they run beside each other.
class EveryScheduler : public testing::TestWithParam<SchedulerKind> {};

std::string name_of_test(const testing::TestParamInfo<SchedulerKind>& scheduler) {
  std::string name(name_of(scheduler.param));
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Machine, EveryScheduler, testing::ValuesIn(all_schedulers), name_of_test);

TEST_P(EveryScheduler, KeepsTheRules) {
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const Recording recording = seed % 3 == 2 ? spinning(program(seed)) : program(seed);
    for (const std::uint32_t cpus : {1U, 2U, 3U, 8U}) {
      Machine machine;
      machine.scheduler = GetParam();
      machine.cpus = cpus;
      if (seed % 2 == 1)
        machine.wake_up = wake_up(seed);
      if (seed % 10 == 1)
        machine.interrupt = std::chrono::microseconds(seed % 20 == 1 ? 2 : 5000);
      if (seed % 6 == 1)
        machine.packed_use = std::chrono::milliseconds(700);
      const SimulatedRun run = run_on(recording, machine);
      ASSERT_EQ(broken_rule(recording, machine, run), "")
          << fmt::format("seed {}, {}, {} CPUs", seed, name_of(GetParam()), cpus);
    }
  }
}

// A thread that could run waits while a CPU that it may use has one of lower priority, or none.
bool waits_beside_lower(const Recording& recording, const Stretch& waits,
                        const LargeArray<Stretch>& stretches) {
  const auto priority = [&](const Stretch& stretch) {
    return recording.threads[stretch.thread].priority.value_or(0);
  };
  return std::any_of(stretches.begin(), stretches.end(), [&](const Stretch& other) {
    const auto& bound_to = recording.threads[waits.thread].bound_to;
    return other.running() && (!bound_to || *bound_to == other.cpu) &&
           priority(other) < priority(waits) &&
           std::max(other.start, waits.ready) < std::min(other.end, waits.start);
  });
}

TEST(Fifo, RunsTheHighestPriorities) {
  std::uint64_t waited = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    Recording recording = program(seed);
    for (std::size_t t = 0; t < recording.threads.size(); ++t) {
      recording.threads[t].priority = static_cast<std::int32_t>(seed / (t + 1) % 4);
      recording.threads[t].bound_to.reset();
    }
    for (const std::uint32_t cpus : {1U, 2U, 3U}) {
      Machine machine;
      machine.scheduler = SchedulerKind::fifo;
      machine.cpus = cpus;
      const SimulatedRun run = run_on(recording, machine);
      for (const Stretch& stretch : run.stretches) {
        waited += stretch.ready < stretch.start ? 1U : 0U;
        ASSERT_FALSE(stretch.running() && stretch.ready < stretch.start &&
                     waits_beside_lower(recording, stretch, run.stretches))
            << fmt::format("seed {}, {} CPUs, {} from {} ns", seed, cpus,
                           recording.threads[stretch.thread].name, stretch.ready.count());
      }
    }
  }
  EXPECT_GT(waited, programs);
}

TEST(Machine, IsTheIdealOneWithACpuForEachThread) {
  std::uint64_t finished = 0;
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    Recording recording = seed % 3 == 2 ? spinning(program(seed)) : program(seed);
    for (Thread& thread : recording.threads)
      thread.bound_to.reset();
    const Schedule ideal = simulate_ideal(recording, nullptr);
    finished += ideal.deadlock ? 0U : 1U;
    for (const SchedulerKind scheduler : all_schedulers) {
      Machine machine;
      machine.scheduler = scheduler;
      machine.cpus = static_cast<std::uint32_t>(recording.threads.size());
      machine.hand_off = HandOff::ordered;
      const SimulatedRun run = run_on(recording, machine);
      const std::string where = fmt::format("seed {}, {}", seed, name_of(scheduler));
      ASSERT_EQ(run.end.total, ideal.total) << where;
      const auto spun = std::count_if(run.stretches.begin(), run.stretches.end(),
                                      [](const Stretch& stretch) { return stretch.spins != 0; });
      ASSERT_EQ(run.stretches.size() - static_cast<std::size_t>(spun), ideal.segments.size())
          << where;
      ASSERT_EQ(run.end.preemptions, 0) << where;
      ASSERT_EQ(run.end.deadlock.has_value(), ideal.deadlock.has_value()) << where;
    }
  }
  EXPECT_GT(finished, programs / 2);
}

// Not where threads race for locks: whoever comes later there may let the whole program end sooner.
TEST_P(EveryScheduler, IsNeverFasterThanTheIdealOneNorThanItsCpus) {
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const Recording recording = ordered(program(seed));
    ASSERT_TRUE(is_ordered(recording));
    const Schedule ideal = simulate_ideal(recording);
    Nanoseconds work{};
    for (const Segment& segment : ideal.segments)
      work += segment.running ? segment.end - segment.start : Nanoseconds{};
    for (const std::uint32_t cpus : {1U, 2U, 3U}) {
      Machine machine;
      machine.scheduler = GetParam();
      machine.cpus = cpus;
      const SimulatedRun run = run_on(recording, machine);
      const std::string where =
          fmt::format("seed {}, {}, {} CPUs", seed, name_of(GetParam()), cpus);
      ASSERT_EQ(run.end.deadlock.has_value(), ideal.deadlock.has_value()) << where;
      ASSERT_GE(run.end.total, ideal.total) << where;
      ASSERT_GE(run.end.total * cpus, work) << where;
    }
  }
}

// A machine with costs, latency and unlike CPUs only slows programs down, and all of them end.
TEST(Machine, OnlySlowsDownWithCosts) {
  for (std::uint64_t seed = 0; seed < programs / 4; ++seed) {
    const Recording recording = ordered(program(seed));
    const Schedule ideal = simulate_ideal(recording);
    for (const SchedulerKind scheduler : all_schedulers) {
      Machine machine;
      machine.scheduler = scheduler;
      machine.cpus = 3;
      machine.speeds = {1000, 900, 700};
      machine.latency = std::chrono::milliseconds(2);
      machine.switch_cost = std::chrono::microseconds(20);
      machine.migration_cost = std::chrono::microseconds(50);
      machine.wake_up = std::chrono::microseconds(70);
      machine.deep_sleep = std::chrono::microseconds(500);
      machine.deep_wake_up = std::chrono::microseconds(200);
      machine.deep_release_cost = std::chrono::microseconds(100);
      machine.interrupt = std::chrono::microseconds(25);
      machine.interruption = std::chrono::microseconds(12);
      machine.block_cost = std::chrono::microseconds(15);
      machine.release_afar_cost = std::chrono::microseconds(10);
      machine.lock_afar_cost = std::chrono::microseconds(5);
      machine.primitive_cost.fill(std::chrono::microseconds(30));
      machine.lwps = scheduler == SchedulerKind::solaris ? 2 : 0;
      const SimulatedRun run = run_on(recording, machine);
      const std::string where = fmt::format("seed {}, {}", seed, name_of(scheduler));
      ASSERT_EQ(run.end.deadlock.has_value(), ideal.deadlock.has_value()) << where;
      ASSERT_GT(run.end.total, ideal.total) << where;
    }
  }
}

TEST_P(EveryScheduler, IsNotIdleBesideAWaitingThreadWithCostsEither) {
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const bool spins = seed % 3 == 2;
    const Recording recording = spins ? spinning(program(seed)) : program(seed);
    for (const std::uint32_t cpus : {2U, 3U}) {
      Machine machine;
      machine.scheduler = GetParam();
      machine.cpus = cpus;
      machine.speeds.assign(cpus, 1000);
      machine.speeds.back() = 700;
      // Who spins keeps its CPU until the signal has come, but no longer counts as running.
      if (!spins)
        machine.latency = std::chrono::milliseconds(2);
      machine.switch_cost = std::chrono::microseconds(20);
      machine.migration_cost = std::chrono::microseconds(50);
      machine.wake_up = wake_up(seed);
      machine.interrupt = std::chrono::microseconds(40);
      machine.interruption = std::chrono::microseconds(seed % 2 == 0 ? 25 : 50);
      machine.block_cost = std::chrono::microseconds(300);
      machine.release_cost = std::chrono::microseconds(20);
      machine.release_afar_cost = std::chrono::microseconds(100);
      machine.lock_afar_cost = std::chrono::microseconds(60);
      machine.primitive_cost.fill(std::chrono::microseconds(30));
      const SimulatedRun run = run_on(recording, machine);
      ASSERT_EQ(idle_beside_waiting(recording, machine, run), "")
          << fmt::format("seed {}, {}, {} CPUs", seed, name_of(GetParam()), cpus);
    }
  }
}

TEST(Machine, GivesTheSameBytesAgain) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Recording recording = program(seed);
    for (const SchedulerKind scheduler : all_schedulers) {
      Machine machine;
      machine.scheduler = scheduler;
      machine.cpus = 2;
      const SimulatedRun one = run_on(recording, machine);
      const SimulatedRun other = run_on(recording, machine);
      ASSERT_TRUE(std::equal(one.stretches.begin(), one.stretches.end(), other.stretches.begin(),
                             other.stretches.end()));
    }
  }
}

struct Refusal {
  std::string name;
  void (*change)(Machine&);
  std::string why;
};
void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.name;
}
class RefusedMachine : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedMachine, SaysWhy) {
  const Recording recording =
      *read_program("thread A\n  run f 10s\nthread B\n  run f 10s\n", "test");
  Machine machine;
  GetParam().change(machine);
  const auto run = simulate(recording, machine);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().why, testing::HasSubstr(GetParam().why));
}

std::string name_of_refusal(const testing::TestParamInfo<Refusal>& refused) {
  return refused.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Machines, RefusedMachine,
    testing::Values(
        Refusal{"NoCpus", [](Machine& machine) { machine.cpus = 0; }, "0 CPUs"},
        Refusal{"TooManyCpus", [](Machine& machine) { machine.cpus = 1025; }, "1025 CPUs"},
        Refusal{"SpeedsOfOthers",
                [](Machine& machine) {
                  machine.speeds = {1000, 1000};
                },
                "2 speeds for 1 CPUs"},
        Refusal{"NoSpeed", [](Machine& machine) { machine.speeds = {0}; }, "speed"},
        Refusal{"NegativeLatency", [](Machine& machine) { machine.latency = Nanoseconds{-1}; },
                "latency"},
        Refusal{"NegativePackedUse", [](Machine& machine) { machine.packed_use = Nanoseconds{-1}; },
                "cost"},
        Refusal{"NegativeDeepWakeUp",
                [](Machine& machine) { machine.deep_wake_up = Nanoseconds{-1}; }, "cost"},
        Refusal{"NegativeWakeUp", [](Machine& machine) { machine.wake_up = Nanoseconds{-1}; },
                "cost"},
        Refusal{"NegativeCostOfBlocking",
                [](Machine& machine) { machine.block_cost = Nanoseconds{-1}; }, "cost"},
        Refusal{"NegativeRelease", [](Machine& machine) { machine.release_cost = Nanoseconds{-1}; },
                "cost"},
        Refusal{"NegativeReleaseAfar",
                [](Machine& machine) { machine.release_afar_cost = Nanoseconds{-1}; }, "cost"},
        Refusal{"NegativeLockAfar",
                [](Machine& machine) { machine.lock_afar_cost = Nanoseconds{-1}; }, "cost"},
        Refusal{"NegativeInterrupt", [](Machine& machine) { machine.interrupt = Nanoseconds{-1}; },
                "cost"},
        Refusal{"NegativeInterruption",
                [](Machine& machine) { machine.interruption = Nanoseconds{-1}; }, "cost"},
        Refusal{"LooksMoreOftenThanAlways",
                [](Machine& machine) { machine.newly_idle_share = 1025; }, "newly idle"},
        Refusal{"CpuThatIsNotThere",
                [](Machine& machine) {
                  machine.threads = {{}, {.cpu = 1}};
                },
                "thread B is bound to CPU 1 of 1"},
        Refusal{"NiceOutOfRange", [](Machine& machine) { machine.threads = {{.nice = 20}}; },
                "nice value 20"},
        Refusal{"LwpsElsewhere", [](Machine& machine) { machine.lwps = 2; }, "LWPs under linux"},
        Refusal{"TooLongASlice", [](Machine& machine) { machine.slice = std::chrono::seconds(2); },
                "slice"},
        Refusal{"NoTick", [](Machine& machine) { machine.tick = Nanoseconds{}; }, "tick"},
        Refusal{"TooManyPreemptions", [](Machine& machine) { machine.most_preemptions = 100; },
                "more than 100 times, which is the most that is simulated"}),
    name_of_refusal);

}  // namespace
}  // namespace longpole::simulation
