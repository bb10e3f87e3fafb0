#include "recording/futex_edges.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace longpole::recording {
namespace {

constexpr unsigned as_many_or_more = 255;

struct Wait {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t thread = 0;
  std::uint32_t ordinal = 0;
};

struct Wake {
  std::int64_t time = 0;
  std::uint32_t thread = 0;
  std::uint32_t ordinal = 0;
  unsigned woken = 0;
};

struct Futex {
  std::vector<Wait> waits;  // that a wake ended
  std::vector<Wake> wakes;  // that woke somebody
};

struct Began {
  unsigned kind;
  std::int64_t time;
  std::uint32_t ordinal;
};

class EdgeFinder {
 public:
  EdgeFinder(const std::vector<RawThread>& threads,
             const std::function<std::int64_t(std::uint64_t)>& time_of)
      : threads_(threads), time_of_(time_of), found_(threads.size()) {}

  std::vector<ThreadFutexes> find() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t)
      survey(t);
    for (auto& [address, futex] : futexes_)
      pair(futex);
    return std::move(found_);
  }

 private:
  void survey(std::uint32_t thread) {
    ThreadFutexes& found = found_[thread];
    std::vector<Began> began;  // and not returned
    threads_[thread].for_each_record([&](const longpole_record& record) {
      const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
      const unsigned flags = LONGPOLE_FLAGS(record.kind_and_flags);
      if (kind == LONGPOLE_TURN)
        return;  // within a call
      if (kind == LONGPOLE_FUTEX_WAKE) {
        if (record.result != 0)
          futexes_[record.object].wakes.push_back({time_of_(record.tsc), thread,
                                                   static_cast<std::uint32_t>(found.woken.size()),
                                                   record.result});
        found.woken.emplace_back();
      }
      if ((flags & LONGPOLE_BEGINS) != 0) {
        began.push_back(
            {kind, time_of_(record.tsc), static_cast<std::uint32_t>(found.ended_by.size())});
        if (kind == LONGPOLE_FUTEX_WAIT)
          found.ended_by.emplace_back();
      } else if ((flags & LONGPOLE_RETURNS) != 0) {
        const auto call = std::find_if(began.rbegin(), began.rend(),
                                       [&](const Began& one) { return one.kind == kind; });
        if (call == began.rend())
          return;
        const Began one = *call;
        began.erase(std::prev(call.base()), began.end());
        if (kind == LONGPOLE_FUTEX_WAIT && record.result == 0 && began.empty())
          futexes_[record.object].waits.push_back(
              {one.time, time_of_(record.tsc), thread, one.ordinal});
      }
    });
  }

  void pair(Futex& futex) {
    std::ranges::stable_sort(futex.waits, {}, &Wait::begin);
    std::ranges::stable_sort(futex.wakes, {}, &Wake::time);
    std::deque<Wait> waiting;
    auto next = futex.waits.begin();
    for (const Wake& wake : futex.wakes) {
      for (; next != futex.waits.end() && next->begin < wake.time; ++next)
        waiting.push_back(*next);
      std::erase_if(waiting, [&](const Wait& wait) { return wait.end <= wake.time; });
      for (unsigned left = wake.woken; left != 0 && !waiting.empty(); waiting.pop_front()) {
        const Wait& first = waiting.front();
        found_[first.thread].ended_by[first.ordinal] = ThreadId{wake.thread};
        found_[wake.thread].woken[wake.ordinal].push_back(ThreadId{first.thread});
        left -= left == as_many_or_more ? 0 : 1;
      }
    }
  }

  const std::vector<RawThread>& threads_;
  const std::function<std::int64_t(std::uint64_t)>& time_of_;
  std::vector<ThreadFutexes> found_;
  std::map<std::uint64_t, Futex> futexes_;  // by address
};

}  // namespace

std::vector<ThreadFutexes> find_futex_edges(
    const std::vector<RawThread>& threads,
    const std::function<std::int64_t(std::uint64_t)>& time_of) {
  return EdgeFinder(threads, time_of).find();
}

}  // namespace longpole::recording
