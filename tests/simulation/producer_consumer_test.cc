// The producer-consumer problem of Paper I, section 5, before and after: what is predicted for eight
// CPUs. The real program is recorded in tests/end_to_end/examples_test.cc.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>

#include "simulation/simulate.h"
#include "simulation/simulator.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

constexpr int producers = 150;
constexpr int consumers = 75;
constexpr int items = 1500;
constexpr std::uint32_t cpus = 8;

// Of the 1,022 parts that an item takes on its way in, and on its way out, all but 22 are under a lock.
std::string insert_before(int /*item*/) {
  return "  run item 22us\n  lock buffer\n  run insert 1ms\n  unlock buffer\n  post filled\n";
}

std::string fetch_before(int /*item*/) {
  return "  wait filled\n  lock buffer\n  run fetch 1ms\n  unlock buffer\n  run item 22us\n";
}

// A hundred buffers, and a mutex for them all that is held for the choice of one.
const char* const choose = "  lock system\n  run choose 10us\n  unlock system\n";

std::string insert_after(int item) {
  return fmt::format("{}  lock insert{}\n  run insert 1ms\n  unlock insert{}\n{}  post filled\n",
                     choose, item % 100, item % 100, choose);
}

std::string fetch_after(int item) {
  return fmt::format("  wait filled\n{}  lock fetch{}\n  run fetch 1ms\n  unlock fetch{}\n", choose,
                     item % 100, item % 100);
}

using Statements = std::string (*)(int item);

Recording program(Statements insert, Statements fetch) {
  std::string text;
  const auto threads = [&](const char* name, int count, Statements statements) {
    for (int t = 0; t < count; ++t) {
      text += fmt::format("thread {}{}\n", name, t);
      for (int item = t; item < items; item += count)
        text += statements(item);
    }
  };
  threads("producer", producers, insert);
  threads("consumer", consumers, fetch);
  auto recording = read_program(text, "test");
  EXPECT_TRUE(recording) << recording.error().text();
  return *std::move(recording);
}

double shared_speedup(const Recording& recording) {
  const auto steps = concurrency(simulate_ideal(recording));
  return static_cast<double>(shared_completion_times_cpus(steps, 1)) * cpus /
         static_cast<double>(shared_completion_times_cpus(steps, cpus));
}

double speedup(const Recording& recording, SchedulerKind scheduler) {
  Machine machine;
  machine.scheduler = scheduler;
  const auto on_one = simulate(recording, machine);
  machine.cpus = cpus;
  const auto on_eight = simulate(recording, machine);
  EXPECT_TRUE(on_one && on_eight);
  EXPECT_FALSE(on_eight->end.deadlock);
  return static_cast<double>(on_one->end.total.count()) /
         static_cast<double>(on_eight->end.total.count());
}

constexpr std::array schedulers = {SchedulerKind::linux_fair, SchedulerKind::fifo,
                                   SchedulerKind::linux_2_2, SchedulerKind::solaris};

TEST(ProducerConsumer, OneMutexLeavesTwoPerCent) {
  const Recording before = program(insert_before, fetch_before);
  EXPECT_NEAR(shared_speedup(before), 1.022, 0.002);
  for (const SchedulerKind scheduler : schedulers)
    EXPECT_NEAR(speedup(before, scheduler), 1.022, 0.002) << name_of(scheduler);
}

// The paper's machine is Solaris's. Shared evenly, the CPUs lose nothing to who comes when.
TEST(ProducerConsumer, AHundredBuffersScale) {
  const Recording after = program(insert_after, fetch_after);
  EXPECT_NEAR(speedup(after, SchedulerKind::solaris), 7.7, 0.1);
  EXPECT_NEAR(shared_speedup(after), cpus, 0.01);
  for (const SchedulerKind scheduler : schedulers) {
    EXPECT_GE(speedup(after, scheduler), 7.7) << name_of(scheduler);
    EXPECT_LE(speedup(after, scheduler), cpus) << name_of(scheduler);
  }
}

}  // namespace
}  // namespace longpole::simulation
