// How recordings end: with the program, however that ends, and where the recorder gives up before it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "specimen.h"

namespace longpole::test {
namespace {

using testing::Ge;

class Endings : public testing::TestWithParam<const char*> {};

TEST_P(Endings, LeaveARecordingThatIsCompleteToTheLastCall) {
  const RunDirectory directory;
  const std::string counter_path = directory.path() / "counter";
  run_recorded({"endings", {GetParam(), counter_path}}, directory);
  std::uint64_t counted = 0;
  std::ifstream(counter_path, std::ios::binary).read(reinterpret_cast<char*>(&counted), 8);
  ASSERT_GT(counted, 0U);

  const auto threads = directory.threads();
  ASSERT_EQ(threads.size(), 3U);
  std::uint64_t acquired = 0;
  for (const RawThread& thread : threads) {
    const auto locks = of_kind(thread, LONGPOLE_MUTEX_LOCK);
    acquired += locks.size() - with_flags(locks, LONGPOLE_BEGINS).size();
  }
  // Counted between lock and unlock: at most one thread is ahead of the counter.
  EXPECT_GE(acquired, counted);
  EXPECT_LE(acquired, counted + 1);
  EXPECT_EQ(of_kind(threads[0], LONGPOLE_THREAD_END).size(),
            std::string(GetParam()) == "exit" ? 1U : 0U);
}

INSTANTIATE_TEST_SUITE_P(Specimens, Endings,
                         testing::Values("_exit", "exit", "abort", "fault", "kill"),
                         [](const testing::TestParamInfo<const char*>& tested) {
                           const std::string name = tested.param;
                           return name == "_exit" ? std::string("underscore_exit") : name;
                         });

TEST(Recording, EndsWithTheProgramThatWasStarted) {
  const auto threads = record({"execs"});
  ASSERT_EQ(threads.size(), 1U);
  EXPECT_EQ(of_kind(threads, LONGPOLE_MUTEX_LOCK).size(), 100U);
}

TEST(Recording, GoesOnWhenMainHasLeft) {
  const auto threads = record({"main_exits"});
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_EQ(kind_of(threads[0].records.back()), LONGPOLE_THREAD_END);
  EXPECT_NE(threads[0].records.back().site, 0U);
  EXPECT_EQ(of_kind(threads[1], LONGPOLE_MUTEX_LOCK).size(), 1000U);
  EXPECT_GT(threads[1].records.back().tsc, threads[0].records.back().tsc);
}

TEST(Recording, StopsAtAFileSizeLimitAndLeavesTheProgramAlone) {
  struct Limit {
    unsigned chunks;
    std::size_t fewest_records;
  };
  for (const Limit& limit : {Limit{2, 1000}, Limit{3, 2500}}) {
    RunDirectory directory;
    const Specimen specimen{"many_locks", {"50000"}, limit.chunks * LONGPOLE_CHUNK_BYTES};
    EXPECT_EQ(run_recorded(specimen, directory), run_bare(specimen));
    EXPECT_EQ(directory.control().stop_reason, LONGPOLE_STOP_NO_SPACE);
    EXPECT_EQ(directory.control().stop_errno, static_cast<unsigned>(EFBIG));
    EXPECT_THAT(directory.threads().at(0).records.size(), Ge(limit.fewest_records));
  }
}

TEST(Recording, StopsOnAFullDiskAndLeavesTheProgramAlone) {
  const RunDirectory parent;
  const std::filesystem::path small = parent.path() / "small";
  std::filesystem::create_directory(small);
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=128k") != 0) {
    GTEST_SKIP() << "a small file system cannot be mounted here";
  }
  {
    RunDirectory directory(small);
    const Specimen specimen{"many_locks", {"50000"}};
    EXPECT_EQ(run_recorded(specimen, directory), run_bare(specimen));
    EXPECT_EQ(directory.control().stop_reason, LONGPOLE_STOP_NO_SPACE);
    EXPECT_EQ(directory.control().stop_errno, static_cast<unsigned>(ENOSPC));
    EXPECT_THAT(directory.threads().at(0).records.size(), Ge(2500U));
  }
  EXPECT_EQ(umount(small.c_str()), 0);
}

TEST(Recording, StopsAtTheUnitsItMayHave) {
  RunDirectory directory;
  constexpr std::uint32_t units = 4 * LONGPOLE_CHUNK_BYTES / LONGPOLE_UNIT_BYTES;
  directory.control().max_units = units;
  const Specimen specimen{"many_threads"};
  EXPECT_EQ(run_recorded(specimen, directory), run_bare(specimen));
  EXPECT_EQ(directory.control().stop_reason, LONGPOLE_STOP_TOO_MANY_UNITS);
  // As many as leave no room for another chunk.
  const std::uintmax_t size = file_size(directory.path() / "events");
  EXPECT_LE(size, units * LONGPOLE_UNIT_BYTES);
  EXPECT_GT(size, units * LONGPOLE_UNIT_BYTES - LONGPOLE_CHUNK_BYTES);
  // Where one starts just as another ends, whose records have been copied and whose chunk is not free yet, three.
  EXPECT_GE(directory.threads().size(), 3U);
}

}  // namespace
}  // namespace longpole::test
