#include "recording/futex_edges.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace longpole::recording {
namespace {

constexpr unsigned as_many_or_more = 255;

struct FutexWait {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t thread = 0;
  std::uint32_t ordinal = 0;
  bool at_barrier = false;
  bool came_late = false;  // it was woken before it slept
};

struct Wake {
  std::int64_t time = 0;
  std::uint32_t thread = 0;
  std::uint32_t ordinal = 0;
  unsigned woken = 0;
};

struct Futex {
  std::vector<FutexWait> waits;  // that a wake ended
  std::vector<Wake> wakes;
};

struct Began {
  unsigned kind;
  std::int64_t time;
  std::uint32_t ordinal;
  bool at_barrier;
  std::uint64_t object;
  std::optional<std::int64_t> woken_at;  // its thread was on the CPU again
};

class EdgeFinder {
 public:
  EdgeFinder(const std::vector<RawThread>& threads,
             const std::function<std::int64_t(std::uint64_t)>& time_of,
             const IsBarrierWait& is_barrier_wait)
      : threads_(threads),
        time_of_(time_of),
        is_barrier_wait_(is_barrier_wait),
        found_(threads.size()) {}

  std::vector<ThreadFutexes> find() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t)
      survey(t);
    for (auto& [address, futex] : futexes_)
      pair(address, futex);
    return std::move(found_);
  }

 private:
  void survey(std::uint32_t thread) {
    ThreadFutexes& found = found_[thread];
    std::vector<Began> began;         // and not returned
    std::vector<std::uint64_t> path;  // of the call to come, without the first
    threads_[thread].for_each_record([&](const longpole_record& record) {
      const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
      const unsigned flags = LONGPOLE_FLAGS(record.kind_and_flags);
      if (kind == LONGPOLE_FRAMES)
        for (const std::uint64_t address : {record.object, other_of(record)})
          path.push_back(address);
      if (kind == LONGPOLE_TURN) {  // within a call
        if (!began.empty() && !began.back().woken_at)
          began.back().woken_at = time_of_(record.tsc);
        return;
      }
      if (kind == LONGPOLE_FUTEX_WAKE) {
        futexes_[record.object].wakes.push_back({time_of_(record.tsc), thread,
                                                 static_cast<std::uint32_t>(found.wakes.size()),
                                                 record.result});
        found.wakes.emplace_back();
        path.clear();
      }
      if ((flags & LONGPOLE_BEGINS) != 0) {
        const bool waits = kind == LONGPOLE_FUTEX_WAIT;
        path.insert(path.begin(), record.site);
        began.push_back({kind, time_of_(record.tsc), static_cast<std::uint32_t>(found.waits.size()),
                         waits && is_barrier_wait_(path), record.object, std::nullopt});
        path.clear();
        if (waits)
          found.waits.emplace_back();
      } else if ((flags & LONGPOLE_RETURNS) != 0) {
        const auto call = std::find_if(began.rbegin(), began.rend(),
                                       [&](const Began& one) { return one.kind == kind; });
        if (call == began.rend())
          return;
        const Began one = *call;
        began.erase(std::prev(call.base()), began.end());
        if (kind == LONGPOLE_FUTEX_WAIT && began.empty() &&
            (record.result == 0 || record.result == EAGAIN))
          futexes_[record.object].waits.push_back({one.time, time_of_(record.tsc), thread,
                                                   one.ordinal, one.at_barrier,
                                                   record.result == EAGAIN});
      }
    });
    // The program ended while it waited for its turn, just woken.
    if (began.size() == 1 && began.back().kind == LONGPOLE_FUTEX_WAIT && began.back().woken_at) {
      const Began& last = began.back();
      futexes_[last.object].waits.push_back(
          {last.time, *last.woken_at, thread, last.ordinal, last.at_barrier, false});
    }
  }

  void pair(std::uint64_t address, Futex& futex) {
    std::ranges::stable_sort(futex.waits, {}, &FutexWait::begin);
    std::ranges::stable_sort(futex.wakes, {}, &Wake::time);
    std::vector<FutexWait> waiting;
    auto next = futex.waits.begin();
    for (const Wake& wake : futex.wakes) {
      for (; next != futex.waits.end() && next->begin < wake.time; ++next)
        waiting.push_back(*next);
      std::erase_if(waiting, [&](const FutexWait& wait) { return wait.end <= wake.time; });
      std::vector<FutexWait> others;
      std::vector<FutexWait> at_barrier;
      unsigned left = wake.woken;
      std::erase_if(waiting, [&](const FutexWait& wait) {
        if (wait.thread == wake.thread || (!wait.came_late && left == 0))
          return false;
        (wait.at_barrier ? at_barrier : others).push_back(wait);
        left -= wait.came_late || left == as_many_or_more ? 0 : 1;
        return true;
      });
      wake_up(wake, others);
      if (!at_barrier.empty())
        meet(address, wake, at_barrier);
    }
  }

  void wake_up(const Wake& wake, const std::vector<FutexWait>& woken) {
    for (const FutexWait& wait : woken) {
      found_[wait.thread].waits[wait.ordinal].ended_by = ThreadId{wake.thread};
      found_[wake.thread].wakes[wake.ordinal].woken.push_back(ThreadId{wait.thread});
    }
  }

  void meet(std::uint64_t address, const Wake& wake, const std::vector<FutexWait>& woken) {
    std::set<std::uint32_t> parties = {wake.thread};
    for (const FutexWait& wait : woken)
      parties.insert(wait.thread);
    FutexBarrier barrier;
    barrier.parties = static_cast<std::uint32_t>(parties.size());
    barrier.number = barriers_
                         .try_emplace({address, std::move(parties)},
                                      static_cast<std::uint32_t>(barriers_.size()))
                         .first->second;
    found_[wake.thread].wakes[wake.ordinal].barrier = barrier;
    for (const FutexWait& wait : woken)
      found_[wait.thread].waits[wait.ordinal].barrier = barrier;
  }

  const std::vector<RawThread>& threads_;
  const std::function<std::int64_t(std::uint64_t)>& time_of_;
  const IsBarrierWait& is_barrier_wait_;
  std::vector<ThreadFutexes> found_;
  std::map<std::uint64_t, Futex> futexes_;  // by address
  std::map<std::pair<std::uint64_t, std::set<std::uint32_t>>, std::uint32_t> barriers_;
};

}  // namespace

std::vector<ThreadFutexes> find_futex_edges(
    const std::vector<RawThread>& threads,
    const std::function<std::int64_t(std::uint64_t)>& time_of,
    const IsBarrierWait& is_barrier_wait) {
  return EdgeFinder(threads, time_of, is_barrier_wait).find();
}

}  // namespace longpole::recording
