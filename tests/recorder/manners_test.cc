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

struct Followed {
  RunDirectory directory;
  std::vector<std::unique_ptr<RunDirectory>> children;
};

Followed& follow(Followed& followed, const Specimen& specimen) {
  followed.directory.control().follow = 1;
  EXPECT_EQ(run_recorded(specimen, followed.directory), run_bare(specimen));
  followed.children = followed.directory.children();
  return followed;
}

TEST(Manners, AForkedChildGoesOnInARecordingOfItsOwn) {
  Followed followed;
  follow(followed, {"family", {"forked", "3"}});
  EXPECT_EQ(followed.directory.threads().size(), 2U);
  EXPECT_EQ(followed.directory.control().ending, LONGPOLE_ENDING_EXIT);
  ASSERT_EQ(followed.children.size(), 4U);
  for (const auto& child : followed.children) {
    EXPECT_EQ(child->control().beginning, LONGPOLE_BEGINNING_FORK);
    EXPECT_EQ(child->control().ending, LONGPOLE_ENDING_EXIT) << "by exit as by _exit";
    EXPECT_GT(child->control().end.monotonic_ns, child->control().start.monotonic_ns);
    const auto threads = child->threads();
    ASSERT_EQ(threads.size(), 2U);
    EXPECT_EQ(threads[0].tid, child->control().pid);
    EXPECT_EQ(of_kind(threads, LONGPOLE_MUTEX_LOCK).size(), 30U);
  }
  EXPECT_EQ(followed.children[0]->control().parent, followed.directory.control().pid);
  EXPECT_EQ(followed.children[1]->control().parent, followed.children[0]->control().pid);
}

TEST(Manners, AChildThatIsKilledOrNeverSynchronisesIsFollowed) {
  Followed killed;
  follow(killed, {"family", {"killed"}});
  ASSERT_EQ(killed.children.size(), 1U);
  EXPECT_EQ(killed.children[0]->control().ending, LONGPOLE_ENDING_UNKNOWN);
  EXPECT_EQ(of_kind(killed.children[0]->threads(), LONGPOLE_MUTEX_LOCK).size(), 30U);
  Followed quiet;
  follow(quiet, {"family", {"quiet"}});
  ASSERT_EQ(quiet.children.size(), 1U);
  EXPECT_EQ(quiet.children[0]->threads().size(), 1U);
  EXPECT_EQ(quiet.children[0]->control().ending, LONGPOLE_ENDING_EXIT);
}

TEST(Manners, ProgramsThatAreStartedAreFollowed) {
  for (const char* how : {"spawned", "vforked"}) {
    Followed followed;
    follow(followed, {"family", {how, path_of("family")}});
    ASSERT_EQ(followed.children.size(), 1U) << how;
    EXPECT_EQ(followed.children[0]->control().beginning, LONGPOLE_BEGINNING_EXEC);
    EXPECT_EQ(followed.children[0]->threads().size(), 2U) << how;
    EXPECT_EQ(followed.directory.threads().size(), 2U) << how;
    EXPECT_EQ(followed.directory.control().ending, LONGPOLE_ENDING_EXIT) << how;
  }
}

TEST(Manners, AProgramThatAProcessBecomesIsARecordingOfItsOwn) {
  Followed followed;
  follow(followed, {"family", {"replaced"}});
  ASSERT_EQ(followed.children.size(), 1U);
  longpole_control& before = followed.directory.control();
  longpole_control& after = followed.children[0]->control();
  EXPECT_EQ(before.ending, LONGPOLE_ENDING_EXEC);
  EXPECT_EQ(before.pid, after.pid);
  EXPECT_LE(before.end.monotonic_ns, after.start.monotonic_ns);
  EXPECT_EQ(after.ending, LONGPOLE_ENDING_EXIT);
  EXPECT_EQ(followed.children[0]->threads().size(), 2U);
}

TEST(Manners, AThreadOfALibrarysConstructorIsThereAndIsNotMain) {
  for (const char* how : {"locks", "asks"}) {
    for (int round = 0; round < 20; ++round) {
      RunDirectory directory;
      run_recorded({"early_threads", {how}}, directory);
      const auto threads = directory.threads();
      ASSERT_EQ(threads.size(), 2U) << how;
      const auto main = std::find_if(threads.begin(), threads.end(), [&](const RawThread& thread) {
        return thread.tid == directory.control().pid;
      });
      ASSERT_NE(main, threads.end()) << how;
      EXPECT_EQ(of_kind(*main, LONGPOLE_MUTEX_LOCK).size(), 10U) << how;
      EXPECT_EQ(of_kind(*main, LONGPOLE_THREAD_END).size(), 1U) << how;
      EXPECT_EQ(directory.control().next_thread, 2U) << how;
      if (std::string(how) == "locks") {
        EXPECT_EQ(main->number, 0U) << "nobody else records before the recording has begun";
      }
    }
  }
}

TEST(Manners, AHundredChildrenAreFollowed) {
  Followed followed;
  follow(followed, {"family", {"forked", "100"}});
  ASSERT_EQ(followed.children.size(), 101U);
  for (const auto& child : followed.children) {
    EXPECT_EQ(of_kind(child->threads(), LONGPOLE_MUTEX_LOCK).size(), 30U);
  }
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
  // Each leaves its few records behind, and its chunk to the next.
  constexpr std::size_t most_chunks = 64;
  constexpr std::size_t most_bytes_of_a_record = 35;
  EXPECT_LE(std::size_t{directory.control().next_unit} * LONGPOLE_UNIT_BYTES,
            threads.size() * LONGPOLE_UNIT_BYTES + most_chunks * LONGPOLE_PAGE_BYTES +
                threads[0].records.size() * most_bytes_of_a_record);
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
