#include "analysis/what_if.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/accounts.h"
#include "programs.h"
#include "random_program.h"
#include "trace/recording.h"

namespace longpole::analysis {
namespace {

using simulation::Schedule;
using simulation::SegmentIndex;
using simulation::TimesCpus;

constexpr std::int64_t per_cent = whole / 100;

Speed speed(const Recording& recording, const std::string& part, std::int64_t less) {
  const auto found = find_part(recording, part, false);
  EXPECT_TRUE(found) << part;
  return {found.value_or(Part{}), less};
}

double total_ms(const Recording& recording, const Changes& changes, std::uint32_t cpus) {
  const auto program = WhatIf::of(recording, changes);
  EXPECT_TRUE(program);
  return program ? program->predict(cpus, Scheduler::shared).total_ns / 1e6 : 0;
}

TEST(WhatIf, TwoThreadsAtABarrier) {
  const Recording recording = read_golden("two-at-a-barrier.prog");
  const auto with = [&](const char* part, std::int64_t percent) {
    return total_ms(recording, {{speed(recording, part, percent * per_cent)}, {}, {}}, 2);
  };
  EXPECT_EQ(with("slow", 0), 300);
  EXPECT_EQ(with("slow", 10), 270);
  EXPECT_EQ(with("slow", 20), 240);
  EXPECT_EQ(with("slow", 30), 240);
  EXPECT_EQ(with("fast", 30), 300);
  EXPECT_EQ(with("thread:A", 10), 270);
  EXPECT_EQ(
      total_ms(recording,
               {{speed(recording, "slow", 30 * per_cent), speed(recording, "fast", 50 * per_cent)},
                {},
                {}},
               2),
      210);
  // Where two changes meet, each takes its part of what the other leaves.
  EXPECT_EQ(total_ms(recording,
                     {{speed(recording, "slow", 10 * per_cent),
                       speed(recording, "thread:A", 10 * per_cent)},
                      {},
                      {}},
                     2),
            243);
}

// By the definition of a weight: where no two events change places, a little less of a function is
// worth its weight, to the last nanosecond.
TEST(WhatIf, TheSlopeAtNothingIsTheWeight) {
  constexpr std::int64_t scale = 1'000'000;
  std::size_t checked = 0;
  std::size_t with_weight = 0;
  for (std::uint64_t seed = 0; checked < 600; ++seed) {
    ASSERT_LT(seed, 3000U) << "only " << checked << " programs keep the order of their events";
    const std::string text = random_program(seed);
    Recording recording = read_text(text);
    // Lengths of which a millionth is whole.
    for (Thread& thread : recording.threads) {
      for (Event& event : thread.events) {
        event.cpu *= scale;
        event.duration *= scale;
      }
    }
    const Schedule schedule = simulation::simulate_ideal(recording);
    const Accounts accounts(recording, schedule);
    for (const char* name : {"f0", "f1", "f2", "thread:T0", "thread:T1", "lock:M0"}) {
      const auto part = find_part(recording, name, false);
      if (!part)
        continue;
      const auto program = changed(recording, {{{*part, whole / scale}}, {}, {}});
      ASSERT_TRUE(program);
      const Schedule after = simulation::simulate_ideal(*program);
      if (after.by_end != schedule.by_end || after.thread_begin != schedule.thread_begin)
        continue;
      ++checked;
      for (const std::uint32_t cpus : {1U, 2U, 3U, 7U}) {
        const Weights weights = extended_critical_path(schedule, cpus);
        TimesCpus critical = 0;
        for (SegmentIndex s = 0; s < schedule.segments.size(); ++s)
          critical += TimesCpus{weights.scaled[s]} *
                      ((schedule.segments[s].end - schedule.segments[s].start) -
                       (after.segments[s].end - after.segments[s].start))
                          .count();
        const TimesCpus saved =
            simulation::shared_completion_times_cpus(simulation::concurrency(schedule), cpus) -
            simulation::shared_completion_times_cpus(simulation::concurrency(after), cpus);
        ASSERT_TRUE(saved == critical) << name << " on " << cpus << " CPUs:\n" << text;
        if (part->kind == Part::Kind::function) {
          const auto times = accounts.functions(accounts.sum(schedule, cpus));
          ASSERT_DOUBLE_EQ(static_cast<double>(saved) / cpus * scale,
                           times[part->functions[0].index()].critical_self)
              << name << " on " << cpus << " CPUs:\n"
              << text;
        }
        with_weight += saved != 0 ? 1U : 0U;
      }
    }
  }
  EXPECT_GT(with_weight, 600U);
}

// A thousand stretches of 7 ns, a third of each: no nanosecond is lost to rounding.
TEST(WhatIf, LengthsComeOutExact) {
  std::string text = "thread A\n";
  for (int i = 0; i < 1000; ++i)
    text += "  run f 7ns\n  run g 5ns\n";
  const Recording recording = read_text(text);
  const auto sum = [](const Recording& of) {
    Nanoseconds cpu{};
    for (const Event& event : of.threads[0].events)
      cpu += event.cpu;
    return cpu.count();
  };
  const std::pair<std::int64_t, std::int64_t> table[] = {
      {0, 12'000}, {per_cent, 11'930}, {whole / 3, 9'666}, {whole, 5'000}};
  for (const auto& [less, expected] : table) {
    const auto program = changed(recording, {{speed(recording, "f", less)}, {}, {}});
    ASSERT_TRUE(program);
    EXPECT_EQ(sum(*program), expected) << less;
  }
}

// A sampled stretch: only the part of its samples gets shorter.
TEST(WhatIf, SampledStretchesGetShorterByTheShareOfTheirSamples) {
  Recording recording;
  recording.run.source = Source::kernel;
  recording.files = {{"/src/a.cc", "", false}, {"/src/b/a.cc", "", false}};
  recording.functions = {{"ns::work<int>(int)", FileId{0}, 1, 9, {}},
                         {"ns::rest(int)", FileId{0}, 10, 19, {}},
                         {"caller()", FileId{0}, 20, 29, {}}};
  recording.stacks = {{StackId::none(), FunctionId{2}, FileId{0}, 22, false},
                      {StackId{0}, FunctionId{0}, FileId{0}, 5, false},
                      {StackId{0}, FunctionId{1}, FileId{0}, 15, false}};
  recording.profiles = {{false, {{StackId{0}, 1}, {StackId{1}, 3}, {StackId{2}, 4}}}};
  recording.threads = {Thread{
      .name = "main",
      .events = {
          {.cpu = Nanoseconds{800}, .profile = ProfileId{0}, .kind = EventKind::thread_end}}}};
  const auto left = [&](const char* part, bool with_callees) {
    const auto found = find_part(recording, part, with_callees);
    EXPECT_TRUE(found) << part;
    const auto program = changed(recording, {{{*found, whole / 2}}, {}, {}});
    return program->threads[0].events[0].cpu.count();
  };
  EXPECT_EQ(left("work", false), 800 - 150);
  EXPECT_EQ(left("ns::rest(int)", false), 800 - 200);
  EXPECT_EQ(left("function:rest", false), 800 - 200);
  EXPECT_EQ(left("caller", false), 800 - 50);
  EXPECT_EQ(left("caller", true), 400);
  EXPECT_EQ(left("/src/a.cc:15", false), 800 - 200);
  EXPECT_EQ(left("line:src/a.cc:5", false), 800 - 150);
  EXPECT_EQ(left("thread:main", false), 400);
  for (const char* wrong : {"nobody", "a.cc:15", "/src/a.cc:16", "thread:none", "lock:none", "wor"})
    EXPECT_FALSE(find_part(recording, wrong, false)) << wrong;
}

// Else the changed program's report would show the functions as they were.
TEST(WhatIf, WhatIsLeftOfAStretchHasOtherShares) {
  Recording recording;
  recording.run.source = Source::kernel;
  recording.functions = {{.name = "fast"}, {.name = "slow"}};
  recording.stacks = {{StackId::none(), FunctionId{0}, {}, 0, false},
                      {StackId::none(), FunctionId{1}, {}, 0, false},
                      {StackId::none(), FunctionId{1}, {}, 1, false}};
  const std::vector<ProfileEntry> mixed = {{StackId{0}, 40}, {StackId{1}, 59}, {StackId{2}, 1}};
  recording.profiles = {
      {false, mixed}, {false, {{StackId{1}, 3}}}, {false, {{StackId{1}, 0}}}, {true, mixed}};
  const auto left = [&](const char* part, std::int64_t less) {
    return changed(recording, {{{*find_part(recording, part, false), less}}, {}, {}})->profiles;
  };
  using Entries = std::vector<ProfileEntry>;
  const std::vector<Profile> quartered = left("slow", 75 * per_cent);
  EXPECT_EQ(quartered[0].entries, (Entries{{StackId{0}, 40}, {StackId{1}, 15}}))
      << "15 of 60 in all";
  EXPECT_EQ(quartered[2], recording.profiles[2]) << "a guess without samples stays";
  EXPECT_EQ(quartered[3], recording.profiles[3]) << "exact times have no shares";
  EXPECT_EQ(left("slow", whole)[0].entries, (Entries{{StackId{0}, 40}}));
  EXPECT_EQ(left("slow", whole)[1], recording.profiles[1]) << "never empty";
  EXPECT_EQ(left("fast", 0)[0].entries, mixed);
}

TEST(WhatIf, FunctionsGoByWhatTheirSourceCallsThem) {
  Recording recording;
  for (const char* name : {"ns::compute[abi:cxx11](int)", "ns::list<int>::merge<2>(int) const"})
    recording.functions.push_back({name, FileId::none(), 0, 0, {}});
  for (const char* name :
       {"ns::compute[abi:cxx11](int)", "ns::compute[abi:cxx11]", "compute[abi:cxx11]",
        "ns::compute(int)", "ns::compute", "compute", "function:compute"}) {
    const auto found = find_part(recording, name, false);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->functions, std::vector{FunctionId{0}}) << name;
  }
  EXPECT_TRUE(find_part(recording, "ns::list<int>::merge<2>", false));
  EXPECT_TRUE(find_part(recording, "merge", false));
  recording.functions.push_back({"compute(long)", FileId::none(), 0, 0, {}});
  EXPECT_FALSE(find_part(recording, "compute", false)) << "which of the two?";
  EXPECT_TRUE(find_part(recording, "ns::compute", false));
}

const char* const one_lock = R"(
thread A
  lock M
  run f 2
  sleep 2
  unlock M
  run g 1
  lock M
  run f 4
  unlock M
thread B
  lock M
  run f 4
  unlock M
  run g 1
  lock M
  run f 4
  unlock M
)";

TEST(WhatIf, HoldTimesSplitsAndFreedLocks) {
  const Recording recording = read_text(one_lock);
  EXPECT_EQ(total_ms(recording, {}, 2), 16);
  EXPECT_EQ(total_ms(recording, {{speed(recording, "lock:M", whole / 2)}, {}, {}}, 2), 8);
  const auto lock = find_lock(recording, "M");
  ASSERT_TRUE(lock);
  // A: M 0-4, M.2 5-9; B: M.2 0-4, M 5-9.
  EXPECT_EQ(total_ms(recording, {{}, {{*lock, 2}}, {}}, 2), 9);
  EXPECT_EQ(total_ms(recording, {{}, {{*lock, 1}}, {}}, 2), 16);
  EXPECT_EQ(total_ms(recording, {{}, {}, {*lock}}, 2), 9);
  const auto split = changed(recording, {{}, {{*lock, 3}}, {}});
  ASSERT_TRUE(split);
  ASSERT_EQ(split->objects.size(), 3U);
  EXPECT_EQ(split->objects[2].name, "M.3");
  EXPECT_TRUE(validate(*split));
}

TEST(WhatIf, ASemaphoreUsedAsALockIsOne) {
  const Recording recording = read_text(R"(
semaphore S = 1
semaphore signal = 1
thread A
  wait S
  run f 4
  post S
  post signal
thread B
  wait S
  run f 4
  post S
  wait signal
)");
  EXPECT_EQ(total_ms(recording, {}, 2), 8);
  const auto lock = find_lock(recording, "S");
  ASSERT_TRUE(lock);
  EXPECT_EQ(total_ms(recording, {{}, {{*lock, 2}}, {}}, 2), 4);
  EXPECT_EQ(total_ms(recording, {{speed(recording, "lock:S", whole / 4)}, {}, {}}, 2), 6);
  EXPECT_FALSE(find_lock(recording, "signal"));
}

TEST(WhatIf, RefusesSplitsThatCannotBe) {
  const Recording with_condition = read_text(R"(
thread A
  lock M
  cwait C M
  unlock M
thread B
  run f 1
  lock M
  signal C
  unlock M
)");
  const auto split = [](const Recording& recording, const char* name, std::uint32_t into) {
    const auto object = find_object(recording, name);
    EXPECT_TRUE(object) << name;
    return changed(recording, {{}, {{*object, into}}, {}});
  };
  EXPECT_THAT(split(with_condition, "M", 2).error().text(), testing::HasSubstr("condition C"));
  EXPECT_THAT(split(with_condition, "C", 2).error().text(),
              testing::HasSubstr("not used as a lock"));
  EXPECT_FALSE(split(read_text(one_lock), "M", 0));
  EXPECT_FALSE(split(read_text(one_lock), "M", most_parts_of_a_lock + 1));
}

// Whatever is changed in whatever program, it stays one.
TEST(WhatIf, ChangedProgramsAreValid) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Recording recording = read_text(random_program(seed));
    for (std::uint32_t o = 0; o < recording.objects.size(); ++o) {
      Changes changes{{speed(recording, "thread:T0", whole / 3)}, {}, {ObjectId{o}}};
      const auto freed = changed(recording, changes);
      ASSERT_TRUE(freed);
      EXPECT_TRUE(validate(*freed)) << validate(*freed).error().text();
      static_cast<void>(simulation::simulate_ideal(*freed));
      const auto split = changed(recording, {{}, {{ObjectId{o}, 3}}, {}});
      EXPECT_TRUE(!split || validate(*split)) << validate(*split).error().text();
    }
  }
}

}  // namespace
}  // namespace longpole::analysis
