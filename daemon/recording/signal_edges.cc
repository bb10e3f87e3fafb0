#include "recording/signal_edges.h"

#include <algorithm>
#include <map>
#include <utility>

namespace longpole::recording {
namespace {

constexpr int first_real_time_signal = 32;
constexpr int most_signals = 64;
// What was pending ends a wait sooner than that.
constexpr std::int64_t at_once_ns = 20'000;

// One place in what a thread did: the n-th of its records of that kind.
struct Sent {
  std::int64_t time = 0;
  std::uint32_t by = 0;
  std::uint32_t ordinal = 0;
  bool taken = false;
};

struct SignalWait {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t thread = 0;
  std::uint32_t ordinal = 0;
  std::uint64_t wanted = 0;  // signal n: bit n - 1
};

struct Began {
  unsigned kind;
  std::uint64_t object;
  std::uint64_t stamp;
  std::uint32_t wait;  // its ordinal, where it is a wait for a signal
};

bool may_end_otherwise(unsigned kind) {
  return kind == LONGPOLE_SIGNAL_WAIT || kind == LONGPOLE_IO;
}

std::uint64_t bit_of(std::uint64_t signal) {
  return signal >= 1 && signal <= most_signals ? std::uint64_t{1} << (signal - 1) : 0;
}

class EdgeFinder {
 public:
  EdgeFinder(const std::vector<RawThread>& threads, const SignalContext& context)
      : threads_(threads), context_(context), found_(threads.size()) {}

  std::vector<ThreadSignals> find() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t)
      survey(t);
    for (auto& [key, queue] : sent_)
      std::ranges::stable_sort(queue.sent, {}, &Sent::time);
    std::ranges::stable_sort(waits_, {}, &SignalWait::end);
    for (const SignalWait& wait : waits_)
      pair(wait);
    for (const Cancel& cancel : cancels_)
      if (found_[cancel.target].cancelled_in && !released_[cancel.target]) {
        released_[cancel.target] = true;
        found_[cancel.target].cancelled_at = cancel.time;
        found_[cancel.by].cancels[cancel.ordinal] = SignalEdge{ThreadId{cancel.target}, 0};
      }
    for (std::uint32_t t = 0; t < found_.size(); ++t)
      if (!released_[t])
        found_[t].cancelled_in.reset();
    return std::move(found_);
  }

 private:
  struct Cancel {
    std::uint32_t by;
    std::uint32_t ordinal;
    std::uint32_t target;
    std::int64_t time;
  };
  using Key = std::pair<std::uint32_t, int>;  // who it is for, and the signal

  void survey(std::uint32_t thread) {
    ThreadSignals& found = found_[thread];
    std::vector<Began> began;  // and not returned
    bool ended = false;
    threads_[thread].for_each_record([&](const longpole_record& record) {
      const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
      if (kind == LONGPOLE_TURN)
        return;  // within a call
      const unsigned flags = LONGPOLE_FLAGS(record.kind_and_flags);
      const std::int64_t time = context_.time_of(record.tsc);
      ended |= kind == LONGPOLE_THREAD_END;
      if (kind == LONGPOLE_SIGNAL_SEND)
        take_send(thread, record, time);
      else if (kind == LONGPOLE_CANCEL)
        take_cancel(thread, record, time);
      if ((flags & LONGPOLE_BEGINS) != 0) {
        began.push_back(
            {kind, record.object, record.tsc, static_cast<std::uint32_t>(found.waits.size())});
        if (kind == LONGPOLE_SIGNAL_WAIT)
          found.waits.emplace_back();
      } else if ((flags & LONGPOLE_RETURNS) != 0) {
        const auto call = std::find_if(began.rbegin(), began.rend(), [&](const Began& b) {
          return b.kind == kind && (may_end_otherwise(kind) || b.object == record.object);
        });
        if (call == began.rend())
          return;
        if (kind == LONGPOLE_SIGNAL_WAIT) {
          found.waits[call->wait].returned = true;
          if (record.result == 0)
            waits_.push_back({context_.time_of(call->stamp), time, thread, call->wait,
                              record.object != 0 ? bit_of(record.object) : call->object});
        }
        began.erase(std::prev(call.base()), began.end());
      }
    });
    if (ended && !began.empty())
      found.cancelled_in = began.back().stamp;
  }

  void take_send(std::uint32_t thread, const longpole_record& record, std::int64_t time) {
    std::vector<std::optional<SignalEdge>>& sends = found_[thread].sends;
    const auto ordinal = static_cast<std::uint32_t>(sends.size());
    sends.emplace_back();
    const std::uint64_t how = other_of(record);
    const auto signal = static_cast<int>(how & 0xffffU);
    ThreadId target;  // none: the process
    if ((how & LONGPOLE_TO_PROCESS) == 0) {
      target = (how & LONGPOLE_BY_THREAD_ID) != 0
                   ? context_.thread_of_tid(static_cast<std::int32_t>(record.object), time)
                   : context_.thread_of_handle(record.object, time);
      if (!target.known())
        return;
    }
    if (record.result == 0 && signal >= 1 && signal <= most_signals)
      sent_[{target.value, signal}].sent.push_back({time, thread, ordinal});
  }

  void take_cancel(std::uint32_t thread, const longpole_record& record, std::int64_t time) {
    std::vector<std::optional<SignalEdge>>& cancels = found_[thread].cancels;
    const ThreadId target = context_.thread_of_handle(record.object, time);
    if (record.result == 0 && target.known() && target.value != thread)
      cancels_.push_back({thread, static_cast<std::uint32_t>(cancels.size()), target.value, time});
    cancels.emplace_back();
  }

  struct Candidate {
    Sent* sent = nullptr;
    int signal = 0;

    void take_if_earlier(Sent& other, int of_signal) {
      if (sent == nullptr || other.time < sent->time)
        *this = {&other, of_signal};
    }
  };

  // Among those for its thread and those for the process.
  void pair(const SignalWait& wait) {
    Candidate pending;
    Candidate during;
    for (int signal = 1; signal <= most_signals; ++signal)
      if ((wait.wanted & bit_of(static_cast<std::uint64_t>(signal))) != 0)
        for (const std::uint32_t target : {wait.thread, ThreadId::none().value})
          find_candidates(wait, {target, signal}, pending, during);
    const bool at_once = wait.end - wait.begin < at_once_ns;
    const Candidate& ended =
        pending.sent != nullptr && (at_once || during.sent == nullptr) ? pending : during;
    if (ended.sent == nullptr)
      return;
    ended.sent->taken = true;
    const SignalEdge edge{ThreadId{wait.thread}, ended.signal};
    found_[ended.sent->by].sends[ended.sent->ordinal] = edge;
    found_[wait.thread].waits[wait.ordinal].ended_by = edge;
    if (ended.signal < first_real_time_signal)
      take_all(wait, ended.signal);
  }

  void find_candidates(const SignalWait& wait, const Key& key, Candidate& pending,
                       Candidate& during) {
    const auto found = sent_.find(key);
    if (found == sent_.end())
      return;
    std::vector<Sent>& sent = found->second.sent;
    std::size_t& first = found->second.first;
    while (first < sent.size() && sent[first].taken)
      ++first;
    if (first < sent.size() && sent[first].time < wait.begin)
      pending.take_if_earlier(sent[first], key.second);
    auto in_time = std::ranges::lower_bound(sent.begin() + static_cast<std::ptrdiff_t>(first),
                                            sent.end(), wait.begin, {}, &Sent::time);
    while (in_time != sent.end() && in_time->taken)
      ++in_time;
    if (in_time != sent.end() && in_time->time <= wait.end)
      during.take_if_earlier(*in_time, key.second);
  }

  // A signal that is pending is not pending twice.
  void take_all(const SignalWait& wait, int signal) {
    for (const std::uint32_t target : {wait.thread, ThreadId::none().value})
      if (const auto found = sent_.find({target, signal}); found != sent_.end())
        for (auto& [sent, first] = found->second;
             first < sent.size() && sent[first].time <= wait.end; ++first)
          sent[first].taken = true;
  }

  const std::vector<RawThread>& threads_;
  const SignalContext& context_;
  std::vector<ThreadSignals> found_;
  std::vector<bool> released_ = std::vector<bool>(threads_.size(), false);
  struct Queue {
    std::vector<Sent> sent;  // in order of time
    std::size_t first = 0;   // those before it are taken
  };
  std::map<Key, Queue> sent_;
  std::vector<SignalWait> waits_;
  std::vector<Cancel> cancels_;
};

}  // namespace

std::vector<ThreadSignals> find_signal_edges(const std::vector<RawThread>& threads,
                                             const SignalContext& context) {
  return EdgeFinder(threads, context).find();
}

}  // namespace longpole::recording
