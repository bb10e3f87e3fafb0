// What a record costs in the program itself, from the records that were written twice.
#include "recording/record_costs.h"

#include <gmock/gmock.h>

#include <limits>

#include "hand_made_run.h"

namespace longpole::recording {
namespace {

constexpr std::uint64_t lock_site = 0x5000 + LONGPOLE_MUTEX_LOCK;
constexpr std::uint64_t unlock_site = 0x5000 + LONGPOLE_MUTEX_UNLOCK;
constexpr std::int64_t in_empty_loop_ps = 20'000;
constexpr double ps_per_stamp = 500;

RecordCosts costs_of(const std::vector<RecordFields>& records, std::uint64_t hidden_ps = 0,
                     std::uint32_t threads = 1, std::uint64_t exposed_ps = 0) {
  EventsFile events;
  for (std::uint32_t thread = 0; thread < threads; ++thread)
    events.add_thread(thread, 100, records);
  return RecordCosts::measure(read_raw_events(events.bytes(), events.units()).threads,
                              RecordCosts(in_empty_loop_ps, hidden_ps, exposed_ps), ps_per_stamp);
}

// A chunk of locks and unlocks, a hundred stamps from each to the next; from the 500th on `twice` of them are
// written twice, which takes `cost` stamps of a lock and none of an unlock. `change` is added to each stretch.
RecordCosts costs_of(std::size_t twice, std::int64_t cost,
                     const std::function<std::uint64_t(std::size_t)>& change = {},
                     std::uint64_t hidden_ps = 0, std::uint64_t exposed_ps = 0) {
  std::vector<RecordFields> records;
  std::uint64_t now = 1000;
  for (std::size_t i = 0; i < 800; ++i) {
    const bool locks = i % 2 == 0;
    records.push_back(call(locks ? LONGPOLE_MUTEX_LOCK : LONGPOLE_MUTEX_UNLOCK, now, lock_address));
    if (i >= 500 && i < 500 + twice) {
      records.push_back({LONGPOLE_AGAIN, now + 10});
      now += static_cast<std::uint64_t>(locks ? cost : 0);
    }
    now += 100 + (change ? change(i) : 0);
  }
  return costs_of(records, hidden_ps, 1, exposed_ps);
}

TEST(RecordCosts, AreWhatASecondRecordAddsBetweenTheSameTwoCalls) {
  const RecordCosts costs = costs_of(160, 14);
  EXPECT_EQ(costs.of(lock_site, unlock_site).once, 7000);
  EXPECT_EQ(costs.of(unlock_site, lock_site).once, 0)
      << "hidden behind the program's own instructions";
  EXPECT_EQ(costs.of(lock_site, lock_site).once, in_empty_loop_ps) << "never seen";
}

TEST(RecordCosts, MayBeLessThanNothingWhereStampsMove) {
  EXPECT_EQ(costs_of(160, -6).of(lock_site, unlock_site).once, -3000);
}

TEST(RecordCosts, AreLessByThePartThatHidesBehindTheCall) {
  EXPECT_EQ(costs_of(160, 14, {}, 5'000).of(lock_site, unlock_site).once, 7000 * 3 / 4);
  EXPECT_EQ(costs_of(160, -6, {}, 5'000).of(lock_site, unlock_site).once, -3000 * 3 / 4);
  EXPECT_EQ(costs_of(160, 14, {}, 20'000).of(lock_site, unlock_site).once, 0);
  EXPECT_EQ(costs_of(160, 14, {}, 5'000).of(lock_site, lock_site).once, 15'000) << "never seen";
}

TEST(RecordCosts, AreMoreByWhatAFirstRecordKeepsTheProcessorFromDoingAtOnce) {
  const RecordCosts costs = costs_of(160, 14, {}, 5'000, 3'000);
  EXPECT_EQ(costs.of(lock_site, unlock_site),
            (RecordCosts::Cost{.once = 7000 * 3 / 4 + 3000, .again = 7000}));
  EXPECT_EQ(costs.of(lock_site, lock_site),
            (RecordCosts::Cost{.once = 15'000 + 3000, .again = in_empty_loop_ps}))
      << "never seen";
  EXPECT_EQ(costs.beside_no_call(), (RecordCosts::Cost{.once = 15'000, .again = in_empty_loop_ps}));
}

TEST(RecordCosts, AStretchFarFromWhatIsWrittenTwiceSaysNothing) {
  const auto slow_at_first = [](std::size_t i) { return i < 370 ? 50U : 0U; };
  EXPECT_EQ(costs_of(160, 14, slow_at_first).of(lock_site, unlock_site).once, 7000);
}

TEST(RecordCosts, AreThoseOfAnEmptyLoopWhereTooFewWereWrittenTwice) {
  EXPECT_EQ(costs_of(40, 14).of(lock_site, unlock_site).once, in_empty_loop_ps);
}

TEST(RecordCosts, AreThoseOfAnEmptyLoopWhereStretchesVaryTooMuch) {
  const auto wildly = [](std::size_t i) { return i * 7919 % 10'000; };
  EXPECT_EQ(costs_of(160, 14, wildly).of(lock_site, unlock_site).once, in_empty_loop_ps);
}

TEST(RecordCosts, AStretchInWhichTheThreadLostItsCpuSaysNothing) {
  const auto seldom = [](std::size_t i) { return i % 50 == 0 ? 4'000'000U : 0U; };
  EXPECT_EQ(costs_of(160, 14, seldom).of(lock_site, unlock_site).once, 7000);
}

TEST(RecordCosts, AStretchBehindTheChangeOfChunksSaysNothing) {
  const auto cold_at_first = [](std::size_t i) { return i < 250 ? 50U : 0U; };
  EXPECT_EQ(costs_of(160, 14, cold_at_first).of(lock_site, unlock_site).once, 7000);
}

TEST(RecordCosts, AStretchInWhichTheThreadWaitedSaysNothing) {
  constexpr std::uint64_t wait_site = 0x5000 + LONGPOLE_CONDITION_WAIT;
  std::vector<RecordFields> records;
  std::uint64_t now = 1000;
  for (std::size_t i = 0; i < 240; ++i, now += 1000) {
    records.push_back(call(LONGPOLE_MUTEX_LOCK, now, lock_address));
    if (i >= 160) {
      records.push_back({LONGPOLE_AGAIN, now + 10});
      now += 14;
    }
    if (i % 2 == 0) {
      records.push_back(begins(LONGPOLE_CONDITION_WAIT, now += 100, condition_address));
      records.push_back(returns(LONGPOLE_CONDITION_WAIT, now += 100, condition_address));
    }
    records.push_back(call(LONGPOLE_MUTEX_UNLOCK, now += 100, lock_address));
  }
  const RecordCosts costs = costs_of(records, 0, 4);  // in one alone they are too few
  EXPECT_EQ(costs.of(lock_site, unlock_site).once, 7000);
  EXPECT_EQ(costs.of(lock_site, wait_site).once, in_empty_loop_ps);
  EXPECT_EQ(costs.of(wait_site, unlock_site).once, in_empty_loop_ps);
}

// Of calls a microsecond apart, of which each takes a tenth of one to record beside no other.
std::vector<std::string> with_exposed(std::int64_t sum_ps, std::uint64_t times) {
  HandMadeRun run;
  run.control.cost_ps = 100'000;
  run.control.exposed_ps = sum_ps;
  run.control.exposed_times = times;
  run.spool.exit(9000, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_MUTEX_LOCK, 1000, lock_address),
                         call(LONGPOLE_MUTEX_UNLOCK, 2000, lock_address)});
  return describe(*run.merge());
}

TEST(RecordCosts, WhatIsExposedIsTheMeanOfAllTimesThatItWasMeasured) {
  EXPECT_THAT(with_exposed(90'000, 3), testing::Contains("0 2000 unlock 0 cpu=870"));
  EXPECT_THAT(with_exposed(90'000, 0), testing::Contains("0 2000 unlock 0 cpu=900"));
  EXPECT_THAT(with_exposed(-90'000, 3), testing::Contains("0 2000 unlock 0 cpu=900"));
  EXPECT_THAT(with_exposed(std::numeric_limits<std::int64_t>::max(), 1),
              testing::Contains("0 2000 unlock 0 cpu=500"))
      << "no more than four times as much";
}

TEST(RecordCosts, WhatWasWrittenTwiceIsTakenOutTwice) {
  HandMadeRun run;
  run.control.cost_ps = 100'000;
  run.spool.exit(9000, 100);
  run.events.add_thread(0, 100,
                        {call(LONGPOLE_MUTEX_LOCK, 1000, lock_address),
                         {LONGPOLE_AGAIN, 1100},
                         call(LONGPOLE_MUTEX_UNLOCK, 2000, lock_address),
                         call(LONGPOLE_MUTEX_LOCK, 3000, lock_address)});
  EXPECT_THAT(describe(*run.merge()),
              testing::ElementsAre("0 1000 lock 0 cpu=900", "0 2000 unlock 0 cpu=800",
                                   "0 3000 lock 0 cpu=900", "0 9000 end cpu=6000"));
}

}  // namespace
}  // namespace longpole::recording
