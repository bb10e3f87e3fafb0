// Mutexes and rwlocks.
#include <algorithm>

#include "simulation/synchronization.h"

namespace longpole::simulation {

void Synchronization::hand_over(ObjectState& mutex) {
  --threads_[mutex.owner].held;
  mutex.owner = nobody;
  const bool spinner_is_first = !mutex.queue.empty() && threads_[mutex.queue.head].spinning;
  if (rules_.hand_off != HandOff::ordered && !spinner_is_first) {
    if (rules_.hand_off == HandOff::futex && !mutex.waited_for)
      return;
    for (std::uint64_t i = 0; i <= mutex.remembered && !mutex.queue.empty(); ++i) {
      const std::uint32_t thread = pop(mutex.queue);
      threads_[thread].retaking = false;
      release(thread, Next::retries);
    }
    return;
  }
  while (!mutex.queue.empty()) {
    const std::uint32_t thread = pop(mutex.queue);
    ThreadState& state = threads_[thread];
    const std::uint32_t depth = state.retake_depth;
    state.retake = nobody;
    state.retake_depth = 1;
    state.retaking = false;
    state.spinning = false;
    release(thread);
    if (mutex.remembered > 0) {
      --mutex.remembered;
      continue;
    }
    mutex.owner = thread;
    mutex.depth = depth;
    ++state.held;
    return;
  }
}

// Or nobody: it waits for no mutex, or for one that something else than its holder decides on.
std::uint32_t Synchronization::awaited_mutex(std::uint32_t thread) const {
  const ThreadState& state = threads_[thread];
  if (state.retaking)
    return state.retake;
  if (state.at == nullptr || state.stopped || state.awaits != 0 || is_paired(*state.at))
    return nobody;
  switch (state.at->kind) {
    case EventKind::mutex_lock:
    case EventKind::mutex_trylock:
    case EventKind::mutex_timedlock:
      return state.at->subject;
    default:
      return nobody;
  }
}

// Whose doing it waits for, of the holder of a mutex and of one that is to end; else nobody.
std::uint32_t Synchronization::awaited_thread(std::uint32_t thread) const {
  if (joins(thread))
    return threads_[thread].at->subject;
  const std::uint32_t mutex = awaited_mutex(thread);
  return mutex == nobody ? nobody : objects_[mutex].owner;
}

// In a recorded run, where it had seen by other means that the other one was done.
bool Synchronization::joins(std::uint32_t thread) const {
  const ThreadState& state = threads_[thread];
  return !written_ && state.at != nullptr && !state.stopped && !state.retaking &&
         state.at->kind == EventKind::thread_join && !is_paired(*state.at);
}

// It can go on although another has the mutex: it would have tried in vain, or the holder waited without it.
bool Synchronization::may_go_past(std::uint32_t thread) const {
  const std::uint32_t mutex = awaited_mutex(thread);
  if (mutex == nobody)
    return false;
  const ThreadState& state = threads_[thread];
  const std::uint32_t holder = objects_[mutex].owner;
  return (!state.retaking && state.at->kind == EventKind::mutex_trylock) ||
         (holder != nobody && joins(holder));
}

// `thread` has come to wait for a mutex or for the end of another. Where those who have what the next one wants wait
// for each other in a ring, one of those that can goes on.
Next Synchronization::break_ring(std::uint32_t thread) {
  std::uint32_t passes = nobody;
  std::uint32_t at = thread;
  std::size_t steps = 0;
  do {
    if (passes == nobody && may_go_past(at))
      passes = at;
    at = awaited_thread(at);
    // The ring may also be one of others, who cannot.
    if (at == nobody || ++steps > threads_.size())
      return Next::blocks;
  } while (at != thread);
  if (passes == nobody)
    return Next::blocks;
  go_past_holder(passes);
  if (passes != thread) {
    release(passes);
    return Next::blocks;
  }
  threads_[thread].at = nullptr;
  return Next::runs;
}

void Synchronization::go_past_holder(std::uint32_t thread) {
  const std::uint32_t mutex = awaited_mutex(thread);
  ThreadState& state = threads_[thread];
  remove(objects_[mutex].queue, thread);
  state.spinning = false;
  state.retaking = false;
  state.retake = nobody;
  state.retake_depth = 1;
  passed_.push_back({thread, mutex});
}

// Then it has undone that.
bool Synchronization::went_past_holder(std::uint32_t thread, std::uint32_t mutex) {
  const auto found = std::find_if(passed_.begin(), passed_.end(), [&](const Passed& one) {
    return one.thread == thread && one.mutex == mutex;
  });
  if (found == passed_.end())
    return false;
  *found = passed_.back();
  passed_.pop_back();
  return true;
}

bool Synchronization::spin(std::uint32_t thread, const Event& event) {
  ThreadState& state = threads_[thread];
  state.spinning = event.outcome == Outcome::ok && state.awaits == 0 && !is_paired(event);
  return state.spinning;
}

void Synchronization::stop_spinning(std::uint32_t thread, const Event& event) {
  threads_[thread].spinning = false;
  remove(objects_[event.subject].queue, thread);
}

// Either a mistake without effect, or the unlock of a lock that another thread has yet to take:
// the latter where some thread never undoes a lock of its own.
void Synchronization::unlock_of_free(std::uint32_t mutex) {
  if (orphans_.empty()) {
    orphans_.resize(objects_.size(), 0);
    std::unordered_map<std::uint32_t, std::int64_t> depth;
    for (const Thread& thread : recording_.threads) {
      depth.clear();
      for (const Event& event : thread.events) {
        if (event.outcome != Outcome::ok)
          continue;
        if (event.kind == EventKind::mutex_lock || event.kind == EventKind::mutex_trylock ||
            event.kind == EventKind::mutex_timedlock)
          ++depth[event.subject];
        else if (event.kind == EventKind::mutex_unlock && depth[event.subject] > 0)
          --depth[event.subject];
      }
      for (const auto& [object, left] : depth)
        orphans_[object] += static_cast<std::uint32_t>(left);
    }
  }
  if (objects_[mutex].remembered < orphans_[mutex])
    ++objects_[mutex].remembered;
}

void Synchronization::leave_mutex(std::uint32_t thread, std::uint32_t mutex) {
  ThreadState& state = threads_[thread];
  state.retake = nobody;
  if (mutex >= objects_.size() || objects_[mutex].owner != thread)
    return;
  state.retake = mutex;
  state.retake_depth = objects_[mutex].depth;
  hand_over(objects_[mutex]);
}

// True when the thread has back what it left; false when it queues for it.
bool Synchronization::retake_mutex(std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  if (state.retake == nobody)
    return true;
  ObjectState& mutex = objects_[state.retake];
  mutex.waited_for = true;
  if (mutex.owner != nobody) {
    state.retaking = true;
    push(mutex.queue, thread);
    return survey_.has_rings && break_ring(thread) == Next::runs;
  }
  mutex.owner = thread;
  mutex.depth = state.retake_depth;
  ++state.held;
  state.retake = nobody;
  state.retake_depth = 1;
  return true;
}

// Its wait for a condition is over; it goes on once it has its mutex back. False when it queues for it.
bool Synchronization::resume_with_mutex(std::uint32_t thread) {
  if (rules_.hand_off != HandOff::ordered && threads_[thread].retake != nobody)
    release(thread, Next::retries);
  else if (retake_mutex(thread))
    release(thread);
  else
    return false;
  return true;
}

void Synchronization::abandon_locks(std::uint32_t thread) {
  ThreadState& state = threads_[thread];
  for (std::size_t i = 0; i < objects_.size() && state.held > 0; ++i) {
    const auto object = static_cast<std::uint32_t>(i);
    if (recording_.objects[i].kind == ObjectKind::mutex && objects_[i].owner == thread) {
      hand_over(objects_[i]);
    } else if (recording_.objects[i].kind == ObjectKind::rwlock) {
      if (objects_[i].owner == thread) {
        objects_[i].depth = 1;
        unlock_rwlock(thread, object);
      }
      while (reads(thread, object))
        drop_reader(thread, object);
      grant(object);
    }
  }
}

Next Synchronization::lock_to_read(std::uint32_t thread, std::uint32_t rwlock) {
  ObjectState& state = objects_[rwlock];
  if (state.owner == thread) {
    ++state.depth;
    return Next::runs;
  }
  // Who reads already may read again past a waiting writer, else both would wait for each other.
  if (state.owner == nobody &&
      (rules_.readers_first || state.queue.empty() || reads(thread, rwlock))) {
    add_reader(thread, rwlock);
    return Next::runs;
  }
  threads_[thread].writes = false;
  push(rules_.readers_first ? state.readers : state.queue, thread);
  return Next::blocks;
}

Next Synchronization::lock_to_write(std::uint32_t thread, std::uint32_t rwlock) {
  ObjectState& state = objects_[rwlock];
  if (state.owner == thread) {
    ++state.depth;
    return Next::runs;
  }
  if (state.owner == nobody && state.count == 0) {
    state.owner = thread;
    state.depth = 1;
    ++threads_[thread].held;
    return Next::runs;
  }
  threads_[thread].writes = true;
  push(state.queue, thread);
  return Next::blocks;
}

void Synchronization::unlock_rwlock(std::uint32_t thread, std::uint32_t rwlock) {
  ObjectState& state = objects_[rwlock];
  if (state.owner != nobody) {
    if (--state.depth > 0)
      return;
    --threads_[state.owner].held;
    state.owner = nobody;
  } else if (state.count > 0) {
    drop_reader(thread, rwlock);
  }
  grant(rwlock);
}

void Synchronization::grant(std::uint32_t rwlock) {
  ObjectState& state = objects_[rwlock];
  while (!state.readers.empty() && state.owner == nobody) {
    add_reader(state.readers.head, rwlock);
    release(pop(state.readers));
  }
  while (!state.queue.empty() && state.owner == nobody) {
    const std::uint32_t thread = state.queue.head;
    if (threads_[thread].writes) {
      if (state.count > 0)
        return;
      state.owner = thread;
      state.depth = 1;
      ++threads_[thread].held;
    } else {
      add_reader(thread, rwlock);
    }
    release(pop(state.queue));
  }
}

bool Synchronization::reads(std::uint32_t thread, std::uint32_t rwlock) const {
  return std::any_of(reads_[thread].begin(), reads_[thread].end(),
                     [&](const ReadHold& hold) { return hold.object == rwlock; });
}

void Synchronization::add_reader(std::uint32_t thread, std::uint32_t rwlock) {
  ++objects_[rwlock].count;
  ++threads_[thread].held;
  for (ReadHold& hold : reads_[thread]) {
    if (hold.object == rwlock) {
      ++hold.count;
      return;
    }
  }
  reads_[thread].push_back({rwlock, 1});
}

// A thread that reads it not at all undoes another's hold, which that one then has no longer.
void Synchronization::drop_reader(std::uint32_t thread, std::uint32_t rwlock) {
  for (std::uint32_t other = 0; !reads(thread, rwlock); ++other)
    thread = other;
  --objects_[rwlock].count;
  for (std::size_t i = 0; i < reads_[thread].size(); ++i) {
    if (reads_[thread][i].object != rwlock)
      continue;
    --threads_[thread].held;
    if (--reads_[thread][i].count == 0) {
      reads_[thread][i] = reads_[thread].back();
      reads_[thread].pop_back();
    }
    return;
  }
}

}  // namespace longpole::simulation
