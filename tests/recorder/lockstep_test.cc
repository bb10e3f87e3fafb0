// How threads in lockstep take turns, as their records have it.
#include <gmock/gmock.h>

#include <algorithm>

#include "specimen.h"

namespace longpole::test {
namespace {

// A thread that looks whether another one is further behind, and finds none, has its turn again without having given it away.
TEST(Lockstep, ThreadsLookWhoIsBehindHardlyMoreThanOnceATurn) {
  RunDirectory directory;
  directory.control().cpu_clock = LONGPOLE_CPU_CLOCK_THREAD;
  directory.control().lockstep_cpus = 2;
  run_recorded({"measured_locks", {"2"}}, directory);
  std::ptrdiff_t given = 0;
  std::ptrdiff_t had = 0;
  for (const RawThread& thread : directory.threads()) {
    const auto turns_that = [&](unsigned flag) {
      return std::count_if(thread.records.begin(), thread.records.end(),
                           [flag](const longpole_record& record) {
                             return kind_of(record) == LONGPOLE_TURN && flags_of(record) == flag;
                           });
    };
    given += turns_that(LONGPOLE_BEGINS);
    had += turns_that(LONGPOLE_RETURNS);
  }
  EXPECT_GT(given, 100);
  EXPECT_LT(had, 2 * given);
}

}  // namespace
}  // namespace longpole::test
