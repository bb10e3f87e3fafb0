// What stands in the recording of each specimen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <tuple>

#include "specimen.h"

namespace longpole::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::UnorderedElementsAre;

bool stamps_ascend(const RawThread& thread) {
  return std::is_sorted(
      thread.records.begin(), thread.records.end(),
      [](const longpole_record& a, const longpole_record& b) { return a.tsc < b.tsc; });
}

TEST(Recording, HasOneRecordForACallThatDoesNotWait) {
  const auto threads = record({"many_locks", {"50000"}});
  ASSERT_EQ(threads.size(), 1U);
  // Some are written once more, each behind itself; those mean nothing.
  auto records = threads[0].records;
  const std::size_t again =
      std::erase_if(records, [](const longpole_record& r) { return kind_of(r) == LONGPOLE_AGAIN; });
  constexpr std::size_t in_a_chunk =
      (LONGPOLE_PAGE_BYTES - LONGPOLE_FIRST_SLOT) / sizeof(longpole_record) / 2;
  const std::size_t whole_rounds = (threads[0].chunks - 1) / LONGPOLE_CHUNKS_PER_AGAIN;
  EXPECT_GE(again, whole_rounds * (in_a_chunk - 1));
  EXPECT_LE(again, (whole_rounds + 1) * in_a_chunk);
  ASSERT_EQ(records.size(), 100002U);
  EXPECT_EQ(kind_of(records.front()), LONGPOLE_THREAD_START);
  EXPECT_EQ(kind_of(records.back()), LONGPOLE_THREAD_END);
  for (std::size_t i = 1; i + 1 < records.size(); ++i) {
    ASSERT_EQ(kind_of(records[i]), i % 2 == 1 ? LONGPOLE_MUTEX_LOCK : LONGPOLE_MUTEX_UNLOCK);
    ASSERT_EQ(flags_of(records[i]), 0U);
    ASSERT_EQ(records[i].object, records[1].object);
    ASSERT_EQ(records[i].site, records[2 - i % 2].site);
    ASSERT_EQ(records[i].result, 0);
  }
  EXPECT_NE(records[1].site, records[2].site);
  EXPECT_TRUE(stamps_ascend(threads[0]));
  EXPECT_GT(threads[0].chunks, 2 * LONGPOLE_CHUNKS_PER_AGAIN);
  EXPECT_GT(threads[0].tid, 0);
}

TEST(Recording, HasWhatMutexesAnswer) {
  const auto threads = record({"mutexes"});
  EXPECT_THAT(results(of_kind(threads, LONGPOLE_MUTEX_TRYLOCK)),
              UnorderedElementsAre(0, EBUSY, EBUSY));
  EXPECT_THAT(results(with_flags(of_kind(threads, LONGPOLE_MUTEX_TIMEDLOCK), 0)),
              ElementsAre(0, 0));
  EXPECT_THAT(results(with_flags(of_kind(threads, LONGPOLE_MUTEX_TIMEDLOCK), LONGPOLE_RETURNS)),
              ElementsAre(ETIMEDOUT, ETIMEDOUT));
  EXPECT_THAT(results(with_flags(of_kind(threads, LONGPOLE_MUTEX_LOCK), LONGPOLE_RETURNS)),
              UnorderedElementsAre(0, EDEADLK));
  EXPECT_THAT(results(with_flags(of_kind(threads, LONGPOLE_MUTEX_LOCK), 0)),
              UnorderedElementsAre(0, 0, 0, 0, 0, 0, 0, EOWNERDEAD, ENOTRECOVERABLE));
  const auto unlocks = results(of_kind(threads, LONGPOLE_MUTEX_UNLOCK));
  EXPECT_EQ(std::count(unlocks.begin(), unlocks.end(), EPERM), 2);
  EXPECT_EQ(std::count(unlocks.begin(), unlocks.end(), 0), 11);
}

TEST(Recording, HasWhatConditionsAnswer) {
  const auto threads = record({"conditions"});
  const auto mutex = of_kind(threads[0], LONGPOLE_MUTEX_LOCK).at(0).object;
  const auto timed = of_kind(threads, LONGPOLE_CONDITION_TIMEDWAIT);
  EXPECT_THAT(results(with_flags(timed, LONGPOLE_RETURNS)),
              ElementsAre(ETIMEDOUT, ETIMEDOUT, EINVAL, EINVAL));
  EXPECT_EQ(with_flags(timed, LONGPOLE_BEGINS).size(), 4U);
  const auto waits = of_kind(threads, LONGPOLE_CONDITION_WAIT);
  EXPECT_THAT(waits.size(), Ge(6U));
  EXPECT_EQ(with_flags(waits, LONGPOLE_BEGINS).size(), with_flags(waits, LONGPOLE_RETURNS).size());
  for (const auto& wait : waits) {
    EXPECT_EQ(other_of(wait), mutex);
  }
  EXPECT_EQ(of_kind(threads, LONGPOLE_CONDITION_SIGNAL).size(), 4U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_CONDITION_BROADCAST).size(), 1U);
}

TEST(Recording, HasWhatSemaphoresAnswer) {
  const auto threads = record({"semaphores"});
  std::vector<std::uint64_t> values;
  const auto inits = of_kind(threads, LONGPOLE_SEMAPHORE_INIT);
  std::transform(inits.begin(), inits.end(), std::back_inserter(values), other_of);
  EXPECT_THAT(values, ElementsAre(2, std::uint64_t{SEM_VALUE_MAX} + 1, SEM_VALUE_MAX, 5, 5));
  EXPECT_THAT(results(inits), ElementsAre(0, EINVAL, 0, 0, 0));
  EXPECT_THAT(results(of_kind(threads, LONGPOLE_SEMAPHORE_TRYWAIT)), ElementsAre(0, EAGAIN));
  const auto timed = of_kind(threads, LONGPOLE_SEMAPHORE_TIMEDWAIT);
  EXPECT_THAT(results(with_flags(timed, LONGPOLE_RETURNS)), ElementsAre(ETIMEDOUT, ETIMEDOUT));
  EXPECT_THAT(results(with_flags(timed, 0)), ElementsAre(0));
  const auto waits = of_kind(threads, LONGPOLE_SEMAPHORE_WAIT);
  EXPECT_THAT(results(with_flags(waits, LONGPOLE_RETURNS)), ElementsAre(0));
  EXPECT_THAT(results(with_flags(waits, 0)), ElementsAre(0, 0));
  EXPECT_THAT(results(of_kind(threads, LONGPOLE_SEMAPHORE_POST)), ElementsAre(0, EOVERFLOW, 0));
}

TEST(Recording, HasBothEndsOfEveryBarrierWait) {
  const auto threads = record({"barriers"});
  const auto inits = of_kind(threads, LONGPOLE_BARRIER_INIT);
  EXPECT_THAT(results(inits), ElementsAre(EINVAL, 0));
  EXPECT_EQ(other_of(inits.at(1)), 3U);
  const auto waits = of_kind(threads, LONGPOLE_BARRIER_WAIT);
  EXPECT_EQ(with_flags(waits, LONGPOLE_BEGINS).size(), 12U);
  EXPECT_EQ(with_flags(waits, LONGPOLE_RETURNS).size(), 12U);
  EXPECT_THAT(results(waits), Each(0));
  // Nobody returns before the last has come.
  std::vector<std::uint64_t> begins;
  std::vector<std::uint64_t> returns;
  for (const RawThread& thread : threads) {
    const auto own = of_kind(thread, LONGPOLE_BARRIER_WAIT);
    begins.push_back(own.at(0).tsc);
    returns.push_back(own.at(1).tsc);
  }
  EXPECT_GT(*std::min_element(returns.begin(), returns.end()),
            *std::max_element(begins.begin(), begins.end()));
}

TEST(Recording, NumbersThreadsAndKnowsTheirCreatorsAndEnds) {
  const auto threads = record({"threads"});
  const auto creates = of_kind(threads[0], LONGPOLE_CREATE);
  EXPECT_THAT(results(creates), ElementsAre(0, 0, 0, 0, EINVAL, EINVAL, 0));
  ASSERT_EQ(threads.size(), 6U);
  EXPECT_EQ(threads[0].creator, UINT32_MAX);
  std::vector<RawThread> created;
  for (const auto& create : creates) {
    if (create.result == 0) {
      created.push_back(threads.at(create.object));
    }
  }
  const auto joins = of_kind(threads[0], LONGPOLE_JOIN);
  EXPECT_THAT(results(joins), ElementsAre(0, 0, 0, 0, EBUSY, 0, ETIMEDOUT, 0, 0, 0, EDEADLK, 0, 0));
  EXPECT_EQ(joins.at(1).object, created.at(0).handle);
  EXPECT_EQ(joins.at(3).object, created.at(1).handle);
  EXPECT_EQ(joins.at(8).object, created.at(2).handle);
  EXPECT_EQ(of_kind(threads[0], LONGPOLE_DETACH).at(0).object, created.at(3).handle);
  for (const RawThread& thread : created) {
    EXPECT_EQ(thread.creator, 0U);
    EXPECT_EQ(kind_of(thread.records.front()), LONGPOLE_THREAD_START);
    EXPECT_EQ(thread.records.front().object, thread.start_function);
    EXPECT_TRUE(stamps_ascend(thread));
  }
  for (const std::size_t joined : {0U, 1U, 2U, 4U}) {
    EXPECT_EQ(kind_of(created[joined].records.back()), LONGPOLE_THREAD_END);
    EXPECT_EQ(created[joined].records.back().site != 0, joined == 1) << "only the second exits";
  }
  EXPECT_LT(creates.at(0).tsc, created.at(0).records.front().tsc);
  EXPECT_LT(created.at(0).records.back().tsc, joins.at(1).tsc);
}

TEST(Recording, LeadsFromLibstdcxxToTheUsersFrames) {
  const RunDirectory directory;
  const Outcome outcome = run_recorded({"standard_threads", {"addresses"}}, directory);
  std::istringstream output(outcome.output);
  std::uint64_t start_two = 0;
  std::uint64_t join_all = 0;
  output >> std::hex >> start_two >> join_all;
  const auto threads = directory.threads();
  const auto& records = threads.at(0).records;
  std::map<unsigned, int> found;
  bool in_start = false;
  bool in_join = false;
  constexpr std::uint64_t kLongestFunction = 1200;
  for (const longpole_record& record : records) {
    if (kind_of(record) == LONGPOLE_FRAMES) {
      for (const std::uint64_t address : {record.object, other_of(record)}) {
        in_start |= address - start_two < kLongestFunction;
        in_join |= address - join_all < kLongestFunction;
      }
      continue;
    }
    if (kind_of(record) == LONGPOLE_CREATE || flags_of(record) == LONGPOLE_BEGINS) {
      const bool is_meant = kind_of(record) == LONGPOLE_CREATE ? in_start : in_join;
      found[kind_of(record)] += is_meant ? 1 : 0;
    }
    in_start = in_join = false;
  }
  EXPECT_EQ(found[LONGPOLE_CREATE], 2);
  EXPECT_EQ(found[LONGPOLE_JOIN], 2);
}

TEST(Recording, HoldsThousandsOfShortThreadsInLittleSpace) {
  const RunDirectory directory;
  EXPECT_EQ(run_recorded({"many_threads"}, directory).output, "2300 threads\n");
  const auto threads = directory.threads();
  ASSERT_EQ(threads.size(), 2301U);
  for (const RawThread& thread : threads) {
    EXPECT_EQ(kind_of(thread.records.front()), LONGPOLE_THREAD_START);
    EXPECT_EQ(kind_of(thread.records.back()), LONGPOLE_THREAD_END);
  }
  const auto waits = of_kind(threads, LONGPOLE_BARRIER_WAIT);
  EXPECT_EQ(waits.size(), 600U);
  // No more chunks than threads at once, or kept for others; what a thread leaves behind is little.
  EXPECT_LE(std::filesystem::file_size(directory.path() / "events"),
            (waits.size() + 64) * LONGPOLE_PAGE_BYTES + threads.size() * LONGPOLE_UNIT_BYTES +
                20 * LONGPOLE_CHUNK_BYTES);
}

// Or whoever counts the records as they come would look at all behind the first such unit again and again.
TEST(Recording, LeavesNoUnitToWaitFor) {
  RunDirectory directory;
  run_recorded({"many_threads"}, directory);
  std::ifstream events(directory.path() / "events", std::ios::binary);
  const std::size_t claimed = std::size_t{directory.control().next_unit} * LONGPOLE_UNIT_BYTES;
  for (std::size_t at = 0; at < claimed;) {
    longpole_chunk header{};
    events.seekg(static_cast<std::streamoff>(at));
    events.read(reinterpret_cast<char*>(&header), sizeof(header));
    ASSERT_TRUE(events) << at;
    ASSERT_NE(header.bytes, 0U) << at;
    at += header.bytes;
  }
}

TEST(Recording, LeavesOutForkedChildren) {
  RunDirectory directory;
  run_recorded({"forks"}, directory);
  const auto threads = directory.threads();
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(threads[0].tid, directory.control().pid);
  EXPECT_EQ(of_kind(threads, LONGPOLE_MUTEX_LOCK).size(), 2000U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_MUTEX_UNLOCK).size(), 2000U);
}

TEST(Recording, KeepsWhatSignalHandlersDo) {
  RunDirectory directory;
  EXPECT_EQ(run_recorded({"signal_handlers"}, directory).output, "500 posts\n");
  auto threads = directory.threads();
  // A signal may come before the thread has its log: one number is then used for nobody.
  std::erase_if(threads, [](const RawThread& thread) { return thread.tid == 0; });
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(of_kind(threads[0], LONGPOLE_CREATE).at(0).object, threads[1].number);
  EXPECT_EQ(threads[1].creator, 0U);
  EXPECT_EQ(threads[1].records.at(0).object, threads[1].start_function);
  EXPECT_EQ(of_kind(threads[1], LONGPOLE_SEMAPHORE_POST).size(), 500U);
  EXPECT_THAT(of_kind(threads[1], LONGPOLE_MUTEX_LOCK).size(), Ge(100000U));
  EXPECT_EQ(of_kind(threads[1], LONGPOLE_MUTEX_LOCK).size(),
            of_kind(threads[1], LONGPOLE_MUTEX_UNLOCK).size());
  EXPECT_EQ(directory.control().dropped, 0U);
}

TEST(Recording, KnowsThreadsWhoseFirstOwnCodeIsASignalHandler) {
  const RunDirectory directory;
  EXPECT_EQ(run_recorded({"early_signals"}, directory).output, "100 posts\n");
  const auto all = directory.threads();
  const auto creates = of_kind(all.at(0), LONGPOLE_CREATE);
  ASSERT_EQ(creates.size(), 100U);
  for (const longpole_record& create : creates) {
    const RawThread& created = all.at(create.object);
    EXPECT_GT(created.tid, 0);
    EXPECT_EQ(created.creator, 0U);
    EXPECT_EQ(created.records.at(0).object, created.start_function);
    EXPECT_EQ(of_kind(created, LONGPOLE_SEMAPHORE_POST).size(), 1U);
    EXPECT_EQ(of_kind(created, LONGPOLE_THREAD_END).size(), 1U);
  }
}

TEST(Recording, KeepsWhatThreadLocalDestructorsDo) {
  RunDirectory directory;
  EXPECT_EQ(run_recorded({"thread_local_destructors"}, directory).output, "20 locks\n");
  const auto threads = directory.threads();
  ASSERT_EQ(threads.size(), 6U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_MUTEX_LOCK).size(), 20U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_THREAD_END).size(), 6U);
  for (const RawThread& thread : threads) {
    EXPECT_EQ(kind_of(thread.records.back()), LONGPOLE_THREAD_END);
  }
  EXPECT_EQ(directory.control().dropped, 0U);
}

TEST(Recording, ShowsACallThatWasLeftAsOneWithoutReturn) {
  const auto threads = record({"unwinding"});
  const auto unreturned = [&](longpole_kind kind) {
    const auto records = of_kind(threads, kind);
    return with_flags(records, LONGPOLE_BEGINS).size() -
           with_flags(records, LONGPOLE_RETURNS).size();
  };
  EXPECT_EQ(unreturned(LONGPOLE_CONDITION_WAIT), 1U);
  EXPECT_EQ(unreturned(LONGPOLE_SEMAPHORE_WAIT), 3U) << "two cancelled, one jumped out of";
  EXPECT_EQ(unreturned(LONGPOLE_JOIN), 1U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_THREAD_END).size(), threads.size());
}

TEST(Recording, FollowsLibrariesThatAreLoadedLater) {
  const auto threads = record({"plugins"});
  EXPECT_EQ(threads.size(), 7U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_MUTEX_LOCK).size(), 60U);
}

TEST(Recording, SurvivesAProgramThatClosesEveryDescriptor) {
  const auto threads = record({"closed_descriptors"});
  EXPECT_EQ(of_kind(threads, LONGPOLE_MUTEX_LOCK).size(), 20000U);
}

TEST(Recording, IsRefusedToAnotherVersionAndToASecondProcess) {
  const auto is_silent = [](RunDirectory& directory) {
    const Specimen specimen{"many_locks", {"10"}};
    EXPECT_EQ(run_recorded(specimen, directory), run_bare(specimen));
    return directory.control().next_unit == 0 && !exists(directory.path() / "events");
  };
  RunDirectory newer;
  newer.control().version = LONGPOLE_RAW_VERSION + 1;
  EXPECT_TRUE(is_silent(newer));
  EXPECT_EQ(newer.control().version, LONGPOLE_RAW_VERSION);
  RunDirectory foreign;
  foreign.control().magic = 0;
  EXPECT_TRUE(is_silent(foreign));
  RunDirectory claimed;
  claimed.control().pid = 1;
  EXPECT_TRUE(is_silent(claimed));
  RunDirectory truncated;
  std::filesystem::resize_file(truncated.path() / "control", 8);
  const Specimen specimen{"many_locks", {"10"}};
  EXPECT_EQ(run_recorded(specimen, truncated), run_bare(specimen));
  std::filesystem::resize_file(truncated.path() / "control", sizeof(longpole_control));
}

TEST(Recording, MeasuresWhatARecordCostsBesideWorkAgainWhileTheProgramRuns) {
  const auto times_for = [](const char* locks, longpole_cpu_clock clock, std::uint32_t lockstep) {
    RunDirectory directory;
    directory.control().cpu_clock = clock;
    directory.control().lockstep_cpus = lockstep;
    run_recorded({"many_locks", {locks}}, directory);
    return directory.control().exposed_times;
  };
  constexpr std::uint64_t at_the_start = 9;
  EXPECT_THAT(times_for("10", LONGPOLE_CPU_CLOCK_KERNEL, 0),
              testing::AllOf(testing::Gt(0U), testing::Le(at_the_start)));
  EXPECT_GT(times_for("1000000", LONGPOLE_CPU_CLOCK_KERNEL, 0), at_the_start);
  EXPECT_GT(times_for("1000000", LONGPOLE_CPU_CLOCK_THREAD, 0), at_the_start);
  EXPECT_LE(times_for("1000000", LONGPOLE_CPU_CLOCK_THREAD, 2), at_the_start) << "in lockstep";
}

TEST(Recording, SaysWhatARecordCostsAndWhenItBegan) {
  RunDirectory directory;
  run_recorded({"many_locks", {"10"}}, directory);
  const longpole_control& control = directory.control();
  EXPECT_GT(control.cost_ps, 0U);
  EXPECT_LE(control.hidden_ps, control.cost_ps);
  EXPECT_GT(control.wait_cost_ps, 0U);
  EXPECT_EQ(control.interruptible_cost_ps, 0U);  // no samples are taken
  EXPECT_GT(control.start.monotonic_ns, 0);
  EXPECT_LE(control.start.tsc, directory.threads().at(0).records.at(0).tsc);
}

// What it calls for a wait beside what the program would takes 20 us here.
TEST(Recording, SaysWhatACallCostsThatEntersTheKernel) {
  RunDirectory directory;
  run_recorded({"many_locks", {"10"}, std::nullopt, "slow_cancellation.so"}, directory);
  EXPECT_GE(directory.control().kernel_entry_cost_ps, 10'000'000U);
}

TEST(Recording, AsksForCpuTimeBetweenCallsOnlyWhereTheThreadHasLostItsCpu) {
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  const std::uint64_t changes =
      std::stoull(run_recorded({"spaced_locks", {"200"}}, directory).output);
  std::uint64_t sure = 0;
  std::uint64_t readings = 0;
  const auto threads = directory.threads();
  const std::vector<longpole_record>& records = threads.at(0).records;
  for (const longpole_record& record : records) {
    const bool lock = kind_of(record) == LONGPOLE_MUTEX_LOCK;
    sure += lock && other_of(record) == LONGPOLE_HAD_CPU ? 1U : 0U;
    readings += lock && other_of(record) > LONGPOLE_HAD_CPU ? 1U : 0U;
  }
  EXPECT_EQ(sure + readings, 200U);
  const std::uint64_t length = records.back().tsc - records.front().tsc;
  EXPECT_LE(readings, 1 + changes + length / LONGPOLE_LATEST_CLOCK);
}

// All that happens before the program's own code does, as far as the library is concerned.
TEST(Recording, CountsItsOwnBeginningAmongWhatRecordingCosts) {
  RunDirectory directory;
  run_recorded({"many_locks", {"10"}}, directory);
  const auto threads = directory.threads();
  const longpole_record& first = threads.at(0).records.at(0);
  EXPECT_GT(threads[0].overheads.at(0).object, first.tsc - directory.control().start.tsc);
}

TEST(Recording, CountsBeginningAndEndingThreadsAmongWhatRecordingCosts) {
  RunDirectory directory;
  run_recorded({"brief_threads"}, directory);
  const auto threads = directory.threads();
  ASSERT_EQ(threads.size(), 101U);
  // Its own beginning, and the first chunk of each thread that it creates; its end is that of the process.
  EXPECT_GE(threads[0].overheads.size(), threads.size());
  for (const RawThread& thread : std::span(threads).subspan(1)) {
    ASSERT_EQ(thread.overheads.size(), 2U) << "thread " << thread.number;
    const auto& [begins, ends] = std::tie(thread.overheads[0], thread.overheads[1]);
    const std::uint64_t first = thread.records.front().tsc;
    EXPECT_LE(begins.tsc - begins.object, first);
    EXPECT_GE(begins.tsc, first);
    EXPECT_EQ(kind_of(thread.records.back()), LONGPOLE_THREAD_END);
    EXPECT_GE(ends.tsc - ends.object, begins.tsc);
    EXPECT_LE(ends.tsc, thread.records.back().tsc);
  }
}

TEST(PinnedProgram, IsToldTheCpusItWouldHaveHad) {
  RunDirectory directory;
  directory.control().told_cpus = 6;
  EXPECT_EQ(run_recorded({"cpu_counts"}, directory).output,
            "online 6, configured 6\n"
            "get_nprocs 6, get_nprocs_conf 6\n"
            "sched_getaffinity 6\n"
            "pthread_getaffinity_np 6\n"
            "page size 1\n"
            "sched_setaffinity 0\n"
            "pthread_setaffinity_np 0\n"
            "sched_setaffinity of none -1, Invalid argument\n"
            "pthread_setaffinity_np of none 22\n");
}

TEST(PortableRecording, CarriesCpuTimeAndSamples) {
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  directory.control().sample_hz = 250;
  run_recorded({"interrupted"}, directory);
  const auto threads = directory.threads();
  std::uint64_t cpu_time = 0;
  for (const longpole_record& record : threads.at(0).records) {
    if (kind_of(record) == LONGPOLE_SEMAPHORE_TIMEDWAIT && other_of(record) != 0) {
      EXPECT_GE(other_of(record), cpu_time);
      cpu_time = other_of(record);
    }
  }
  EXPECT_GT(cpu_time, 0U);
  EXPECT_LT(cpu_time, 60'000'000'000U);
  EXPECT_GT(directory.control().interruptible_cost_ps, 0U);
  std::uint64_t ticks = 0;
  for (const longpole_record& record : threads.at(0).records) {
    if (kind_of(record) == LONGPOLE_SAMPLE) {
      EXPECT_NE(record.object, 0U);
      ticks += record.site;
    }
  }
  EXPECT_GT(ticks, 0U);
  EXPECT_LE(ticks, cpu_time / 4'000'000 + 1);
}

// Each of the threads ends long before it has run for a whole period.
TEST(PortableRecording, SamplesThreadsInTheirFirstPeriod) {
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  directory.control().sample_hz = 100;
  EXPECT_EQ(run_recorded({"brief_threads"}, directory).output, "100 threads\n");
  std::vector<RawThread> threads = directory.threads();
  ASSERT_EQ(threads.size(), 101U);
  threads.erase(threads.begin());
  EXPECT_FALSE(of_kind(threads, LONGPOLE_SAMPLE).empty());
}

// The signals that it is created with are the program's choice, but for ours.
TEST(PortableRecording, SamplesAThreadThatIsCreatedWithAllSignalsBlocked) {
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  directory.control().sample_hz = 1000;
  run_recorded({"signal_sets"}, directory);
  const auto threads = directory.threads();
  ASSERT_EQ(threads.size(), 3U);
  EXPECT_GT(of_kind(threads[2], LONGPOLE_SAMPLE).size(), 10U);
}

TEST(PortableRecording, PutsCpuTimeBeforeRecordsThatHaveNoPlaceForIt) {
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  run_recorded({"conditions"}, directory);
  int checked = 0;
  for (const RawThread& thread : directory.threads()) {
    for (std::size_t i = 1; i < thread.records.size(); ++i) {
      // Where the wait begins; on its return the clock is not read.
      if (kind_of(thread.records[i]) == LONGPOLE_CONDITION_WAIT &&
          (LONGPOLE_FLAGS(thread.records[i].kind_and_flags) & LONGPOLE_BEGINS) != 0) {
        EXPECT_EQ(kind_of(thread.records[i - 1]), LONGPOLE_CPU_CLOCK);
        EXPECT_GT(thread.records[i - 1].object, 0U);
        ++checked;
      }
    }
  }
  EXPECT_GE(checked, 3);
}

}  // namespace
}  // namespace longpole::test
