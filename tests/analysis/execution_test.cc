// What an execution keeps of the run that it was made from.
#include "analysis/execution.h"

#include <gmock/gmock.h>

#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

using simulation::no_stretch;
using simulation::Stretch;

// Threads that take turns at a lock.
Recording turns(std::uint32_t threads, std::uint32_t turns_of_each) {
  Recording recording;
  recording.objects.push_back({ObjectKind::mutex, "lock"});
  for (std::uint32_t t = 0; t < threads; ++t) {
    Thread thread;
    const auto add = [&](EventKind kind, std::uint32_t subject, std::int64_t cpu) {
      Event event;
      event.kind = kind;
      event.subject = subject;
      event.cpu = Nanoseconds{cpu};
      thread.events.push_back(event);
    };
    for (std::uint32_t turn = 0; turn < turns_of_each; ++turn) {
      add(EventKind::mutex_lock, 0, 700 + turn * 7 % 1000 + t);
      add(EventKind::mutex_unlock, 0, 500 + turn * 11 % 700 + t);
    }
    add(EventKind::thread_end, unknown_count, 10);
    recording.threads.push_back(std::move(thread));
  }
  return recording;
}

// As they are sorted, a part of them at a time, the memory of those that were is given back.
TEST(Execution, KeepsEveryStretchOfALargeRun) {
  const auto recording = std::make_shared<const Recording>(turns(4, 100'000));
  simulation::Machine machine;
  machine.cpus = 2;
  simulation::SimulatedRun run = simulation::simulate(*recording, machine).value();
  const simulation::LargeArray<Stretch> stretches = run.stretches;
  const Execution execution(recording, std::move(run), machine.cpus);

  std::vector<PartIndex> part_of(stretches.size());
  std::vector<PartIndex> next;
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t)
    next.push_back(execution.begin(t));
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const Stretch& stretch = stretches[i];
    part_of[i] = next[stretch.thread]++;
    const ExecutionPart part = execution.part(part_of[i]);
    const auto moved = [&](simulation::StretchIndex index) {
      return index == no_stretch ? no_part : part_of[index];
    };
    ASSERT_EQ(part.thread, stretch.thread) << i;
    ASSERT_EQ(part.ready, stretch.ready) << i;
    ASSERT_EQ(part.start, stretch.start) << i;
    ASSERT_EQ(part.end, stretch.end) << i;
    ASSERT_EQ(part.event, stretch.event) << i;
    ASSERT_EQ(part.cpu, stretch.cpu) << i;
    ASSERT_EQ(part.released_by, moved(stretch.released_by)) << i;
    ASSERT_EQ(part.given_by, moved(stretch.given_by)) << i;
  }
  for (std::uint32_t t = 0; t < execution.thread_count(); ++t)
    EXPECT_EQ(next[t], execution.end(t));
}

}  // namespace
}  // namespace longpole::analysis
