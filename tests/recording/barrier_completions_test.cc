#include "recording/barrier_completions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "trace/event_forms.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t outside = 0;  // paths
constexpr std::uint32_t inside = 1;

Event arrival(ObjectId barrier, std::int64_t time, std::int64_t cpu, std::int64_t duration = 0) {
  Event event;
  event.kind = EventKind::barrier_wait;
  event.subject = barrier.value;
  event.other = 3;
  event.time = Nanoseconds{time};
  event.cpu = Nanoseconds{cpu};
  event.duration = Nanoseconds{duration};
  return event;
}

class BarrierCompletions : public testing::Test {
 protected:
  BarrierCompletions() : threads_(3) {}

  void add(std::uint32_t thread, const Event& event) {
    threads_[thread].events.push_back(event);
    threads_[thread].sites.push_back(10 + thread);
  }
  // Thread 0 comes last, at `time`, after so much of CPU time, and lets the others go.
  void meet(std::int64_t time, std::int64_t cpu) {
    const ObjectId barrier = objects_.barrier(0, no_site);
    add(0, arrival(barrier, time, cpu));
    add(1, arrival(barrier, time - 700, 20, 750));
    add(2, arrival(barrier, time - 600, 20, 660));
  }
  std::vector<std::string> lines() {
    split_completions(threads_, objects_, [](std::uint32_t path) { return path == inside; });
    std::vector<std::string> lines;
    for (std::size_t t = 0; t < threads_.size(); ++t)
      for (std::size_t i = 0; i < threads_[t].events.size(); ++i) {
        const Event& event = threads_[t].events[i];
        EXPECT_EQ(threads_[t].sites.at(i), 10 + t);
        lines.push_back(fmt::format("{} {} {} {} cpu={} took={}", t, event.time.count(),
                                    event_form(event.kind).word, event.subject, event.cpu.count(),
                                    event.duration.count()));
      }
    return lines;
  }

  ObjectTable objects_;
  std::vector<MergedThread> threads_;
};

TEST_F(BarrierCompletions, AreDoneAloneBehindTheLastArrival) {
  meet(1'000, 400);
  threads_[0].samples = {{0, outside, 1}, {0, inside, 2}, {0, outside, 2}, {0, inside, 3}};
  EXPECT_THAT(lines(), ElementsAre("0 750 barrier 0 cpu=150 took=0",   //
                                   "0 1000 post 1 cpu=250 took=0",     //
                                   "0 1000 post 2 cpu=0 took=0",       //
                                   "1 300 barrier 0 cpu=20 took=450",  //
                                   "1 750 wait 1 cpu=0 took=300",      //
                                   "2 400 barrier 0 cpu=20 took=350",  //
                                   "2 750 wait 2 cpu=0 took=310"));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> samples;
  for (const MergedSample& sample : threads_[0].samples)
    samples.emplace_back(sample.event, sample.path);
  EXPECT_THAT(samples, ElementsAre(std::pair(0U, outside), std::pair(0U, outside),
                                   std::pair(1U, inside), std::pair(1U, inside)));
}

TEST_F(BarrierCompletions, TakeTheirShareInEachMeeting) {
  meet(1'000, 400);
  meet(3'000, 200);
  threads_[0].samples = {{0, outside, 1}, {0, inside, 3}};
  const auto all = lines();
  EXPECT_THAT(all, testing::Contains("0 1000 post 1 cpu=300 took=0"));
  EXPECT_THAT(all, testing::Contains("0 2850 barrier 0 cpu=50 took=0"));
  EXPECT_THAT(all, testing::Contains("0 3000 post 1 cpu=150 took=0"));
}

// By its share a completion may seem to have begun before the last but one came.
TEST_F(BarrierCompletions, BeginWhenAllAreThere) {
  meet(1'000, 400);
  threads_[1].events[0].time = Nanoseconds{800};
  threads_[1].events[0].duration = Nanoseconds{250};
  threads_[0].samples = {{0, outside, 1}, {0, inside, 3}};
  const auto all = lines();
  EXPECT_THAT(all, testing::Contains("1 800 barrier 0 cpu=20 took=0"));
  EXPECT_THAT(all, testing::Contains("1 800 wait 1 cpu=0 took=250"));
}

TEST_F(BarrierCompletions, AreNotKnownByAFewSamples) {
  meet(1'000, 400);
  threads_[0].samples = {{0, outside, 1}, {0, inside, 2}};
  const auto all = lines();
  EXPECT_EQ(all.size(), 3U);
  EXPECT_THAT(all, testing::Contains("0 1000 barrier 0 cpu=400 took=0"));
}

// The calls of a program say when each arrives.
TEST_F(BarrierCompletions, AreOfNoBarrierThatACallMakes) {
  const ObjectId barrier = objects_.use(ObjectKind::barrier, 0x1000, 0, no_site);
  add(0, arrival(barrier, 1'000, 400));
  add(1, arrival(barrier, 300, 20, 750));
  threads_[0].samples = {{0, inside, 9}};
  EXPECT_THAT(lines(), ElementsAre("0 1000 barrier 0 cpu=400 took=0",  //
                                   "1 300 barrier 0 cpu=20 took=750"));
}

}  // namespace
}  // namespace longpole::recording
