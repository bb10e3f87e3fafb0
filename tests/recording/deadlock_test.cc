// Who waits for whom where a recording ends.
#include "recording/deadlock.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace longpole::recording {
namespace {

Event event(EventKind kind, std::uint32_t subject, Outcome outcome = Outcome::ok) {
  Event out;
  out.kind = kind;
  out.subject = subject;
  out.outcome = outcome;
  return out;
}

Event lock(std::uint32_t object, Outcome outcome = Outcome::ok) {
  return event(EventKind::mutex_lock, object, outcome);
}

// Threads called A, B, C…, and mutexes a, b, c….
std::string deadlock_of(const std::vector<std::vector<Event>>& threads) {
  Recording recording;
  for (char name = 'a'; name < 'f'; ++name) {
    Object object;
    object.name = name;
    recording.objects.push_back(object);
  }
  char name = 'A';
  for (const std::vector<Event>& events : threads) {
    Thread thread;
    thread.name = name++;
    thread.events = events;
    thread.events.push_back(event(EventKind::thread_end, 0));
    recording.threads.push_back(std::move(thread));
  }
  const auto notice = find_deadlock(recording);
  return notice ? notice->text : "";
}

constexpr Outcome unfinished = Outcome::unfinished;

TEST(Deadlock, OfTwoThatTookTwoLocksInUnlikeOrder) {
  EXPECT_EQ(deadlock_of({{event(EventKind::thread_join, 1, unfinished)},
                         {lock(0), lock(1, unfinished)},
                         {lock(1), lock(0, unfinished)}}),
            "Deadlock: B waits for b, which C holds, and C waits for a, which B holds. They wait "
            "until the recording ends.");
}

TEST(Deadlock, OfThreeAndOfOne) {
  EXPECT_EQ(deadlock_of({{lock(0), lock(1, unfinished)},
                         {lock(1), lock(2, unfinished)},
                         {lock(2), lock(0, unfinished)}}),
            "Deadlock: A waits for b, which B holds, B waits for c, which C holds, and C waits for "
            "a, which A holds. They wait until the recording ends.");
  EXPECT_EQ(deadlock_of({{lock(0), lock(0, unfinished)}}),
            "Deadlock: A waits for a, which it holds. They wait until the recording ends.");
}

TEST(Deadlock, OfWhoJoinsAThreadThatWaitsForItsLock) {
  EXPECT_EQ(
      deadlock_of({{lock(0), event(EventKind::thread_join, 1, unfinished)}, {lock(0, unfinished)}}),
      "Deadlock: A waits for the end of B, and B waits for a, which A holds. They wait until "
      "the recording ends.");
}

TEST(Deadlock, OfWhoReadsAndWhoWantsToWrite) {
  const Event reads = event(EventKind::rwlock_read, 0);
  const Event ends_reading = event(EventKind::rwlock_unlock, 0);
  EXPECT_EQ(
      deadlock_of({{reads, lock(1, unfinished)},
                   {reads, ends_reading, lock(1), event(EventKind::rwlock_write, 0, unfinished)}}),
      "Deadlock: A waits for b, which B holds, and B waits for a, which A holds. They wait "
      "until the recording ends.");
}

TEST(Deadlock, IsNoneWhereSomebodyCanGoOn) {
  EXPECT_EQ(deadlock_of({{lock(0)}, {lock(0, unfinished)}}), "");
  EXPECT_EQ(deadlock_of({{lock(0), event(EventKind::mutex_unlock, 0), lock(1, unfinished)},
                         {lock(1), lock(0, unfinished)}}),
            "")
      << "a was given back";
  Event waits = event(EventKind::condition_wait, 4, unfinished);
  waits.other = 0;
  EXPECT_EQ(deadlock_of({{lock(0), waits}, {lock(0, unfinished)}}), "")
      << "who waits for a condition has given the mutex up";
  EXPECT_EQ(deadlock_of({{event(EventKind::sleep, 0, unfinished)}}), "");
  EXPECT_EQ(deadlock_of({}), "");
}

}  // namespace
}  // namespace longpole::recording
