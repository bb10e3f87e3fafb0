#include "calibration/host_costs.h"

#include <gtest/gtest.h>

#include <array>

#include "calibration/measure.h"

namespace longpole::calibration {
namespace {

using std::chrono::nanoseconds;

Calibration with(nanoseconds wake_up, nanoseconds lock, double others) {
  Calibration one;
  one.costs.wake_up = wake_up;
  one.costs.call[static_cast<std::size_t>(EventKind::mutex_lock)] = lock;
  one.others = others;
  return one;
}

TEST(HostCosts, OfSeveralMomentsTheMiddleOfEachCounts) {
  const auto at = [](int wake_up, int lock) {
    return with(nanoseconds(wake_up), nanoseconds(lock), 0).costs;
  };
  EXPECT_EQ(middle_of(std::array{at(9, 20), at(90, 10), at(8, 30)}), at(9, 20));
  EXPECT_EQ(middle_of(std::array{at(9, 20)}), at(9, 20));
}

// Those that were measured as it was recorded stay.
TEST(HostCosts, ARecordingGetsThoseThatItHasNot) {
  Recording recording;
  recording.run.costs.wake_up = nanoseconds(7);
  put_into(recording, with(nanoseconds(9), nanoseconds(20), 0));
  EXPECT_EQ(recording.run.costs, with(nanoseconds(7), nanoseconds(20), 0).costs);
  EXPECT_TRUE(recording.notices.empty());
}

TEST(HostCosts, ARecordingSaysThatTheyWereDisturbed) {
  Recording recording;
  put_into(recording, with(nanoseconds(9), nanoseconds(20), 0.5));
  ASSERT_EQ(recording.notices.size(), 1U);
  EXPECT_EQ(recording.notices.front().code, "disturbed-calibration");
}

}  // namespace
}  // namespace longpole::calibration
