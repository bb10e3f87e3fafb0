// What stands in the recording of the specimens of each kind of call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <set>

#include "specimen.h"

namespace longpole::test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST(RecordedCalls, HasWhatReadWriteLocksAnswer) {
  const auto threads = record({"rwlocks"});
  const auto reads = of_kind(threads, LONGPOLE_RWLOCK_READ);
  EXPECT_THAT(results(with_flags(reads, 0)), UnorderedElementsAre(0, 0, 0, EBUSY, 0));
  EXPECT_THAT(results(with_flags(reads, LONGPOLE_RETURNS)),
              UnorderedElementsAre(EDEADLK, ETIMEDOUT, ETIMEDOUT, 0));
  const auto writes = of_kind(threads, LONGPOLE_RWLOCK_WRITE);
  EXPECT_THAT(results(with_flags(writes, 0)), UnorderedElementsAre(EBUSY, 0, EBUSY, 0));
  EXPECT_THAT(results(with_flags(writes, LONGPOLE_RETURNS)),
              UnorderedElementsAre(ETIMEDOUT, ETIMEDOUT, 0, EDEADLK));
  EXPECT_THAT(results(of_kind(threads, LONGPOLE_RWLOCK_UNLOCK)), AllOf(SizeIs(8), Each(0)));
}

TEST(RecordedCalls, HasSpinLocks) {
  const auto threads = record({"spin_locks"});
  const auto locks = of_kind(threads, LONGPOLE_SPIN_LOCK);
  EXPECT_THAT(results(with_flags(locks, 0)), ElementsAre(0));
  EXPECT_THAT(results(with_flags(locks, LONGPOLE_RETURNS)), ElementsAre(0));
  EXPECT_THAT(results(of_kind(threads, LONGPOLE_MUTEX_TRYLOCK)), ElementsAre(EBUSY, 0));
  EXPECT_EQ(of_kind(threads, LONGPOLE_MUTEX_UNLOCK).size(), 3U);
}

TEST(RecordedCalls, HasInitializingOnceAsAMutex) {
  const auto threads = record({"once"});
  const auto locks = of_kind(threads, LONGPOLE_MUTEX_LOCK);
  std::map<std::uint64_t, std::size_t> acquired;
  std::map<std::uint64_t, std::size_t> released;
  for (const auto& lock : with_flags(locks, LONGPOLE_RETURNS)) {
    ++acquired[lock.object];
  }
  for (const auto& unlock : of_kind(threads, LONGPOLE_MUTEX_UNLOCK)) {
    ++released[unlock.object];
  }
  EXPECT_EQ(with_flags(locks, LONGPOLE_BEGINS).size(), with_flags(locks, LONGPOLE_RETURNS).size());
  EXPECT_EQ(acquired, released) << "also where the routine throws";
  std::vector<std::size_t> counts;
  for (const auto& [object, count] : acquired) {
    counts.push_back(count);
  }
  // A thread that comes late finds the outer one done.
  EXPECT_THAT(counts, IsSupersetOf({1, 1, 3})) << "inner, C11, throwing";
}

TEST(RecordedCalls, HasSleepsWithTheTimeAskedForAndYields) {
  const auto threads = record({"pauses"});
  const auto sleeps = with_flags(of_kind(threads, LONGPOLE_SLEEP), LONGPOLE_RETURNS);
  std::vector<std::uint64_t> asked_for;
  std::transform(sleeps.begin(), sleeps.end(), std::back_inserter(asked_for),
                 [](const longpole_record& sleep) { return sleep.object; });
  constexpr std::uint64_t kMoment = 10'000'000;
  EXPECT_THAT(asked_for, ElementsAre(kMoment, kMoment, 0, 0, kMoment, 0, kMoment, 0));
  EXPECT_EQ(of_kind(threads, LONGPOLE_YIELD).size(), 2U);
}

TEST(RecordedCalls, HasC11CallsAsTheirPosixCounterparts) {
  const auto threads = record({"c11_threads"});
  ASSERT_EQ(threads.size(), 5U);
  EXPECT_THAT(results(of_kind(threads, LONGPOLE_CREATE)), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(results(with_flags(of_kind(threads, LONGPOLE_JOIN), LONGPOLE_RETURNS)),
              ElementsAre(0, 0, 0, EINVAL));
  EXPECT_THAT(results(of_kind(threads, LONGPOLE_DETACH)), ElementsAre(0));
  EXPECT_THAT(results(of_kind(threads, LONGPOLE_MUTEX_TRYLOCK)), UnorderedElementsAre(0, EBUSY));
  EXPECT_THAT(results(with_flags(of_kind(threads, LONGPOLE_MUTEX_TIMEDLOCK), LONGPOLE_RETURNS)),
              ElementsAre(ETIMEDOUT));
  EXPECT_THAT(results(with_flags(of_kind(threads, LONGPOLE_CONDITION_TIMEDWAIT), LONGPOLE_RETURNS)),
              ElementsAre(ETIMEDOUT));
  EXPECT_THAT(results(with_flags(of_kind(threads, LONGPOLE_CONDITION_WAIT), LONGPOLE_RETURNS)),
              Each(0));
  EXPECT_EQ(of_kind(threads, LONGPOLE_CONDITION_SIGNAL).size(), 1U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_CONDITION_BROADCAST).size(), 1U);
  for (const RawThread& thread : threads) {
    EXPECT_EQ(kind_of(thread.records.back()), LONGPOLE_THREAD_END);
  }
  EXPECT_NE(threads[2].records.back().site, 0U) << "it left by thrd_exit";
}

TEST(RecordedCalls, HasCancellations) {
  const auto threads = record({"cancellations"});
  const auto cancels = of_kind(threads, LONGPOLE_CANCEL);
  EXPECT_THAT(results(cancels), ElementsAre(0, 0, 0));
  EXPECT_EQ(cancels.at(1).object, threads.at(2).handle);
  EXPECT_EQ(of_kind(threads, LONGPOLE_THREAD_END).size(), threads.size());
}

TEST(RecordedCalls, HasWaitsForSignalsAndWhoSentThem) {
  const auto threads = record({"signal_waits"});
  ASSERT_EQ(threads.size(), 8U);
  const auto number = [](const longpole_record& send) { return other_of(send) & 0xffffU; };
  const auto sends = of_kind(threads.at(0), LONGPOLE_SIGNAL_SEND);
  // By pthread_kill, kill, pthread_sigqueue, sigqueue, tgkill, to sigsuspend, to pause, by raise; two fail.
  ASSERT_EQ(sends.size(), 10U);
  const std::uint64_t real_time = number(sends[2]);
  EXPECT_GT(real_time, 32U);
  const std::vector<std::uint64_t> sent = {SIGUSR1, SIGUSR1, real_time, real_time, SIGUSR1,
                                           SIGUSR2, SIGUSR2, SIGUSR1,   99,        99};
  for (std::size_t i = 0; i < sends.size(); ++i) {
    EXPECT_EQ(number(sends[i]), sent[i]) << i;
    EXPECT_EQ((other_of(sends[i]) & LONGPOLE_TO_PROCESS) != 0, i == 1 || i == 3 || i == 8) << i;
  }
  EXPECT_THAT(results(sends), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, EINVAL, EINVAL));
  for (const std::size_t i : {0U, 2U, 5U, 6U}) {
    EXPECT_EQ(sends[i].object, threads.at(i + 1).handle) << i;
  }
  EXPECT_NE(other_of(sends[4]) & LONGPOLE_BY_THREAD_ID, 0U);
  EXPECT_EQ(sends[4].object, static_cast<std::uint64_t>(threads.at(5).tid));

  std::vector<std::uint64_t> taken;
  for (std::size_t i = 1; i < threads.size(); ++i) {
    const auto waits = of_kind(threads.at(i), LONGPOLE_SIGNAL_WAIT);
    ASSERT_EQ(waits.size(), 2U) << i;
    EXPECT_NE(waits[0].object & std::uint64_t{1} << (sent[i - 1] - 1), 0U) << i;
    EXPECT_EQ(waits[1].result, 0) << i;
    taken.push_back(waits[1].object);
  }
  EXPECT_THAT(taken, ElementsAre(SIGUSR1, SIGUSR1, real_time, real_time, SIGUSR1, 0, 0));
  const auto own = with_flags(of_kind(threads.at(0), LONGPOLE_SIGNAL_WAIT), LONGPOLE_RETURNS);
  EXPECT_THAT(results(own), ElementsAre(0, EAGAIN));
}

TEST(RecordedCalls, HasInputAndOutputWithDescriptorsAndBytes) {
  const auto threads = record({"io"});
  const auto calls = of_kind(threads.at(0), LONGPOLE_IO);
  const auto begins = with_flags(calls, LONGPOLE_BEGINS);
  const auto returns = with_flags(calls, LONGPOLE_RETURNS);
  ASSERT_EQ(begins.size(), returns.size());
  EXPECT_GE(begins.size(), 48U);
  // The first write of the program's own follows the close of what mkstemp made and an open. (Descriptors may be of any
  // number: the test has some from whoever started it.)
  const std::vector<int> purposes = results(begins);
  const auto write = std::find(purposes.begin(), purposes.end(), LONGPOLE_IO_WRITES);
  ASSERT_NE(write, purposes.end());
  const auto index = static_cast<std::size_t>(write - purposes.begin());
  EXPECT_EQ(begins.at(index).object, returns.at(index - 1).object) << "the descriptor of the open";
  EXPECT_EQ(returns.at(index).object, 5U);
  EXPECT_EQ(begins.at(index).site, returns.at(index).site);
  const auto failed = results(returns);
  EXPECT_THAT(std::set<int>(failed.begin(), failed.end()),
              UnorderedElementsAre(0, EBADF, EEXIST, ENOENT, EAGAIN));
}

TEST(RecordedCalls, HasChannelsAndWhatIsDoneToTheirDescriptors) {
  const auto threads = record({"channels"});
  const auto channels = of_kind(threads.at(0), LONGPOLE_CHANNEL);
  ASSERT_EQ(channels.size(), 5U) << "two pipes, a pair of sockets both ways, a counter";
  const auto low = [](const longpole_record& record) { return record.object & 0xffffffffU; };
  const auto high = [](const longpole_record& record) { return record.object >> 32U; };
  EXPECT_GE(other_of(channels[0]), 4096U) << "what fits in";
  EXPECT_EQ(low(channels[1]), high(channels[2]));
  EXPECT_EQ(high(channels[1]), low(channels[2]));
  EXPECT_EQ(low(channels[3]), high(channels[3]));
  const auto duplicates = of_kind(threads.at(0), LONGPOLE_DUPLICATE);
  ASSERT_EQ(duplicates.size(), 4U);
  EXPECT_EQ(low(duplicates[0]), high(channels[1]));
  EXPECT_EQ(high(duplicates[1]), low(channels[1]));
  EXPECT_EQ(low(duplicates[2]), high(channels[0]));
  EXPECT_EQ(low(duplicates[3]), high(channels[4])) << "by fcntl";
  EXPECT_EQ(high(duplicates[3]), 40U);
  const auto io = of_kind(threads.at(1), LONGPOLE_IO);
  ASSERT_EQ(io.size(), 2U);
  EXPECT_EQ(io[0].object, low(channels[0]));
  EXPECT_THAT(results(io), ElementsAre(LONGPOLE_IO_READS, 0));
  EXPECT_EQ(io[1].object, 5U);
}

TEST(RecordedCalls, HasBothEndsOfConnectionsOfTheProgramWithItself) {
  const auto threads = record({"connections"});
  const auto connected = of_kind(threads.at(0), LONGPOLE_CONNECTION);
  ASSERT_GE(connected.size(), 2U) << "one of them made without waiting";
  for (std::size_t i = 0; i < connected.size(); ++i) {
    const auto accepted = of_kind(threads.at(i + 1), LONGPOLE_CONNECTION);
    ASSERT_EQ(accepted.size(), 1U);
    const auto own_port = [](const longpole_record& record) { return record.object >> 32U; };
    const auto other_port = [](const longpole_record& record) {
      return other_of(record) & 0xffffU;
    };
    EXPECT_EQ(own_port(connected[i]), other_port(accepted[0]));
    EXPECT_EQ(own_port(accepted[0]), other_port(connected[i]));
    EXPECT_EQ(other_of(connected[i]) >> 16U, other_of(accepted[0]) >> 16U);
    const auto descriptor = [](const longpole_record& record) {
      return record.object & 0xffffffffU;
    };
    EXPECT_NE(descriptor(connected[i]), descriptor(accepted[0]));
    EXPECT_EQ(of_kind(threads.at(i + 1), LONGPOLE_IO).at(2).object, descriptor(accepted[0]));
  }
}

TEST(RecordedCalls, HasWaitsByTheProgramsOwnSystemCalls) {
  const auto threads = record({"own_futexes"});
  const auto waits = of_kind(threads.at(1), LONGPOLE_FUTEX_WAIT);
  EXPECT_GE(with_flags(waits, LONGPOLE_RETURNS).size(), 3U);
  EXPECT_EQ(of_kind(threads.at(0), LONGPOLE_FUTEX_WAIT).size(), 0U);
  const auto wakes = of_kind(threads.at(0), LONGPOLE_FUTEX_WAKE);
  EXPECT_EQ(std::ranges::count(results(wakes), 1), 3) << "each ended a wait";
}

TEST(RecordedCalls, HasWhatTheProgramSaysOfItsThreads) {
  RunDirectory directory;
  directory.control().told_cpus = 4;
  const Outcome outcome = run_recorded({"thread_attributes"}, directory);
  EXPECT_THAT(outcome.output, testing::HasSubstr("syscall of sched_getaffinity 1 4\n"));
  const auto threads = directory.threads();
  std::vector<std::string> names;
  for (const longpole_record& record : of_kind(threads, LONGPOLE_THREAD_NAME)) {
    EXPECT_EQ(other_of(record), threads.at(1).handle);
    std::string name(16, '\0');
    std::memcpy(name.data(), &record.object, 8);
    std::memcpy(name.data() + 8, &record.site, 8);
    names.emplace_back(name.c_str());
  }
  EXPECT_THAT(names, UnorderedElementsAre("itself", "fifteen letters"));
  const auto priorities = of_kind(threads.at(1), LONGPOLE_PRIORITY);
  ASSERT_EQ(priorities.size(), 1U);
  EXPECT_EQ(static_cast<std::int32_t>(other_of(priorities[0])), -5);
  const auto affinities = of_kind(threads, LONGPOLE_AFFINITY);
  ASSERT_EQ(affinities.size(), 2U);
  for (const longpole_record& affinity : affinities) {
    EXPECT_EQ(affinity.object, threads.at(1).handle);
    EXPECT_EQ(other_of(affinity), 0U);
  }
}

TEST(RecordedCalls, HaveWhatTheHeaderForCpp20Tells) {
  const auto threads = record({"synchronized"});
  ASSERT_EQ(threads.size(), 3U);
  std::vector<std::uint64_t> values;
  for (const longpole_record& init : of_kind(threads, LONGPOLE_SEMAPHORE_INIT)) {
    values.push_back(other_of(init));
  }
  EXPECT_THAT(values, ElementsAre(1, 0)) << "the semaphore, the latch";
  EXPECT_EQ(other_of(of_kind(threads, LONGPOLE_BARRIER_INIT).at(0)), 3U);
  EXPECT_THAT(results(of_kind(threads, LONGPOLE_SEMAPHORE_TRYWAIT)), ElementsAre(EAGAIN));
  EXPECT_THAT(results(with_flags(of_kind(threads, LONGPOLE_SEMAPHORE_TIMEDWAIT), LONGPOLE_RETURNS)),
              ElementsAre(ETIMEDOUT));
  // Two of the semaphore; one of the latch by its last, and one by each that has passed it.
  EXPECT_EQ(of_kind(threads, LONGPOLE_SEMAPHORE_POST).size(), 6U);
  const auto waits = of_kind(threads, LONGPOLE_SEMAPHORE_WAIT);
  EXPECT_EQ(waits.size() - with_flags(waits, LONGPOLE_BEGINS).size(), 6U);
  EXPECT_EQ(with_flags(of_kind(threads, LONGPOLE_BARRIER_WAIT), LONGPOLE_RETURNS).size(), 3U);
  const auto atomic_waits = of_kind(threads, LONGPOLE_CONDITION_WAIT);
  EXPECT_EQ(with_flags(atomic_waits, LONGPOLE_RETURNS).size(), 2U);
  EXPECT_EQ(atomic_waits.at(0).object, other_of(atomic_waits.at(0)));
  EXPECT_EQ(of_kind(threads, LONGPOLE_CONDITION_BROADCAST).size(), 1U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_CONDITION_SIGNAL).size(), 1U);
}

}  // namespace
}  // namespace longpole::test
