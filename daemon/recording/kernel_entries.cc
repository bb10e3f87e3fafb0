#include "recording/kernel_entries.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace longpole::recording {
namespace {

bool waits_for_condition(unsigned kind) {
  return kind == LONGPOLE_CONDITION_WAIT || kind == LONGPOLE_CONDITION_TIMEDWAIT;
}

bool locks_mutex(unsigned kind) {
  return kind == LONGPOLE_MUTEX_LOCK || kind == LONGPOLE_MUTEX_TRYLOCK ||
         kind == LONGPOLE_MUTEX_TIMEDLOCK;
}

bool waits_for_known_object(unsigned kind) {
  return kind == LONGPOLE_SEMAPHORE_WAIT || kind == LONGPOLE_SEMAPHORE_TIMEDWAIT ||
         locks_mutex(kind) || waits_for_condition(kind);
}

// A wait ends with the next record of its thread; where there is none, never.
struct ObjectWait {
  std::uint64_t begin;
  std::uint64_t end;
};

// Of one object.
struct ObjectWaits {
  std::vector<ObjectWait> all;            // in order of their beginning
  std::vector<std::uint64_t> latest_end;  // of each and those before it

  void sort() {
    std::ranges::sort(all, {}, &ObjectWait::begin);
    for (const ObjectWait& wait : all)
      latest_end.push_back(latest_end.empty() ? wait.end : std::max(latest_end.back(), wait.end));
  }
  [[nodiscard]] std::size_t begun_by(std::uint64_t stamp) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(all, stamp, {}, &ObjectWait::begin) -
                                    all.begin());
  }
  [[nodiscard]] bool any_at(std::uint64_t stamp) const {
    const std::size_t begun = begun_by(stamp);
    return begun != 0 && stamp < latest_end[begun - 1];
  }
};

using WaitsByObject = std::unordered_map<std::uint64_t, ObjectWaits>;

WaitsByObject find_waits(const std::vector<RawThread>& threads) {
  WaitsByObject waits;
  for (const RawThread& thread : threads) {
    std::optional<std::uint64_t> object;  // that is being waited for
    std::uint64_t begin = 0;
    thread.for_each_record([&](const longpole_record& record) {
      const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
      // Who is woken from a wait for a condition has not run out of time: nobody signalled while he was there.
      if (object && (!waits_for_condition(kind) || record.result == 0))
        waits[*object].all.push_back({begin, std::max(record.tsc, begin)});
      object.reset();
      if (waits_for_known_object(kind) &&
          (LONGPOLE_FLAGS(record.kind_and_flags) & LONGPOLE_BEGINS) != 0) {
        object = record.object;
        begin = record.tsc;
      }
    });
    if (object)
      waits[*object].all.push_back({begin, UINT64_MAX});
  }
  for (auto& [object, of_object] : waits)
    of_object.sort();
  return waits;
}

// A signal or broadcast while somebody waits.
struct Signal {
  std::uint64_t stamp;
  std::size_t thread;
  bool to_all;
};

class Survey {
 public:
  explicit Survey(const std::vector<RawThread>& threads)
      : waits_(find_waits(threads)), entered_(threads.size()) {
    for (std::size_t i = 0; i < threads.size(); ++i)
      visit_thread(i, threads[i]);
    for (auto& [condition, signals] : signals_)
      visit_condition(waits_[condition], signals);
    for (std::vector<std::uint64_t>& stamps : entered_)
      std::ranges::sort(stamps);
  }

  std::vector<std::vector<std::uint64_t>> take() { return std::move(entered_); }

 private:
  // A mutex that somebody waits for at some time, while a thread has it.
  struct Held {
    std::uint64_t since;
    bool by_waiting;
    unsigned depth;  // how often more it was locked
  };
  using HeldByMutex = std::unordered_map<std::uint64_t, Held>;

  void visit_thread(std::size_t thread, const RawThread& raw) {
    HeldByMutex held;
    raw.for_each_record([&](const longpole_record& record) {
      const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
      const unsigned flags = LONGPOLE_FLAGS(record.kind_and_flags);
      const bool returns = (flags & LONGPOLE_RETURNS) != 0;
      if (waits_for_condition(kind)) {
        held.erase(other_of(record));
        if (returns && waits_.contains(other_of(record)))
          held[other_of(record)] = {record.tsc, true, 0};
      }
      const auto found = waits_.find(record.object);
      if (found == waits_.end() || record.result != 0 || (flags & LONGPOLE_BEGINS) != 0)
        return;
      if (locks_mutex(kind)) {
        const auto [mutex, is_first] =
            held.try_emplace(record.object, Held{record.tsc, returns, 0});
        mutex->second.depth += is_first ? 0 : 1;
      } else if (kind == LONGPOLE_MUTEX_UNLOCK) {
        if (unlock(held, record, found->second))
          entered_[thread].push_back(record.tsc);
      } else if (kind == LONGPOLE_SEMAPHORE_POST) {
        if (found->second.any_at(record.tsc))
          entered_[thread].push_back(record.tsc);
      } else if (kind == LONGPOLE_CONDITION_SIGNAL || kind == LONGPOLE_CONDITION_BROADCAST) {
        if (found->second.any_at(record.tsc))
          signals_[record.object].push_back(
              {record.tsc, thread, kind == LONGPOLE_CONDITION_BROADCAST});
      }
    });
  }

  static bool unlock(HeldByMutex& held, const longpole_record& record, const ObjectWaits& waits) {
    const auto found = held.find(record.object);
    if (found == held.end())
      return false;
    if (found->second.depth > 0) {
      --found->second.depth;
      return false;
    }
    const Held mutex = found->second;
    held.erase(found);
    return mutex.by_waiting || waits.begun_by(record.tsc) > waits.begun_by(mutex.since);
  }

  // Nobody is woken twice.
  void visit_condition(const ObjectWaits& waits, std::vector<Signal>& signals) {
    std::ranges::sort(signals, {}, &Signal::stamp);
    std::size_t woken = 0;  // or gone without, as who is cancelled
    for (const Signal& signal : signals) {
      const std::size_t begun = waits.begun_by(signal.stamp);
      while (woken < begun && waits.latest_end[woken] <= signal.stamp)
        ++woken;
      if (woken == begun)
        continue;
      entered_[signal.thread].push_back(signal.stamp);
      woken = signal.to_all ? begun : woken + 1;
    }
  }

  WaitsByObject waits_;
  std::unordered_map<std::uint64_t, std::vector<Signal>> signals_;
  std::vector<std::vector<std::uint64_t>> entered_;
};

}  // namespace

KernelEntries::KernelEntries(const std::vector<RawThread>& threads)
    : stamps_(Survey(threads).take()) {}

bool KernelEntries::contains(ThreadId thread, const longpole_record& record) const {
  return thread.index() < stamps_.size() &&
         std::ranges::binary_search(stamps_[thread.index()], record.tsc);
}

}  // namespace longpole::recording
