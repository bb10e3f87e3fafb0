// What stands in the recording of programs that behave badly, or that are treated so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "specimen.h"

namespace longpole::test {
namespace {

TEST(Manners, ChildrenAreNotRecorded) {
  const RunDirectory directory;
  EXPECT_EQ(
      run_recorded({"children"}, directory).output,
      "child\nposix_spawn 0, status 21\nposix_spawn of nothing 2\nsystem 3\npiped\npclose 0\n");
  const auto threads = directory.threads();
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_MUTEX_LOCK).size(), 2000U);
}

TEST(Manners, TenThousandShortThreadsAreAllThere) {
  RunDirectory directory;
  EXPECT_EQ(run_recorded({"many_short_threads"}, directory).output, "10000 threads\n");
  const auto threads = directory.threads();
  ASSERT_EQ(threads.size(), 10001U);
  for (const RawThread& thread : threads) {
    ASSERT_EQ(kind_of(thread.records.front()), LONGPOLE_THREAD_START);
  }
  EXPECT_EQ(of_kind(threads, LONGPOLE_SEMAPHORE_POST).size(), 10000U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_DETACH).size(), 2000U);
  EXPECT_EQ(directory.control().dropped, 0U);
}

TEST(Manners, TwoThousandThreadsAtOnceAreAllThere) {
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  directory.control().sample_hz = 1000;
  EXPECT_EQ(run_recorded({"threads_at_once"}, directory).output, "2000 alive\n");
  const auto threads = directory.threads();
  ASSERT_EQ(threads.size(), 2001U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_THREAD_END).size(), 2001U);
  EXPECT_EQ(directory.control().dropped, 0U);
}

TEST(Manners, AQuickExitKeepsWhatItsHandlersDo) {
  const auto threads = record({"quick_exits"});
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(of_kind(threads[0], LONGPOLE_MUTEX_LOCK).size(), 1U);
  EXPECT_EQ(of_kind(threads[1], LONGPOLE_SEMAPHORE_WAIT).size(), 1U) << "it never returned";
}

TEST(Manners, AFaultLeavesWhatEveryThreadWasDoing) {
  for (const char* how : {"fault", "abort", "handled"}) {
    const auto threads = record({"faults", {how}});
    ASSERT_EQ(threads.size(), 3U) << how;
    EXPECT_EQ(of_kind(threads[1], LONGPOLE_MUTEX_LOCK).size(), 1U) << how;
    const auto waiting = of_kind(threads[2], LONGPOLE_MUTEX_LOCK);
    ASSERT_EQ(waiting.size(), 1U) << how;
    EXPECT_EQ(flags_of(waiting[0]), LONGPOLE_BEGINS) << how;
  }
}

TEST(Manners, AnotherPreloadedLibraryIsSeenThrough) {
  const auto threads = record({"preloads", {}, std::nullopt, "preloaded.so"});
  ASSERT_EQ(threads.size(), 2U);
  const auto locks = of_kind(threads, LONGPOLE_MUTEX_LOCK);
  EXPECT_EQ(locks.size(), 400U) << "none of them by an attempt, which that library would not see";
}

TEST(Manners, ARunDirectoryThatCannotBeWrittenStopsTheRecordingAlone) {
  RunDirectory directory;
  const Specimen specimen{"many_locks", {"1000"}};
  if (geteuid() == 0) {
    // Permissions do not hold for root: a folder in the place of the file does.
    std::filesystem::create_directory(directory.path() / "events");
  } else {
    chmod(directory.path().c_str(), 0500);
  }
  EXPECT_EQ(run_recorded(specimen, directory), run_bare(specimen));
  EXPECT_EQ(directory.control().stop_reason, LONGPOLE_STOP_NO_MAPPING);
  EXPECT_NE(directory.control().stop_errno, 0U);
  chmod(directory.path().c_str(), 0700);
}

}  // namespace
}  // namespace longpole::test
