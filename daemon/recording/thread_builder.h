// Makes the events of one thread, record by record: the work behind thread_events.h, whose rules it keeps.
// Its functions are in thread_events.cc and, those about waiting for what no recorded call shows, in
// thread_waits.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "recording/call_forms.h"
#include "recording/thread_events.h"

namespace longpole::recording {

class ThreadBuilder {
 public:
  ThreadBuilder(ThreadId self, const RawThread& raw, MergeContext& context, ThreadTimes& times)
      : self_(self),
        context_(context),
        times_(times),
        signals_(context.signals[self.index()]),
        futexes_(context.futexes[self.index()]),
        last_time_(times.born),
        free_from_(times.born) {
    thread_.tid = raw.tid;
    thread_.start_function = raw.start_function;
  }

  void visit(const longpole_record& record);
  MergedThread finish();

 private:
  struct Pending {
    unsigned kind;
    std::uint64_t object;
    std::size_t event;
  };

  void visit_outside_wait(const longpole_record& record, unsigned flags);
  void visit_io(const longpole_record& record, unsigned flags);
  void begin_io(const longpole_record& record);
  void end_io(const longpole_record& record);
  void emit_io(std::uint64_t descriptor, std::uint32_t site);
  void give_tokens(const ChannelUse& use, std::uint32_t site);
  [[nodiscard]] ObjectId tokens_of(const ChannelUse& use, bool room);
  void leave_unfinished_io();
  void visit_futex_wait(const longpole_record& record, unsigned flags);
  void visit_futex_wake(const longpole_record& record);
  void emit_arrival(const FutexBarrier& barrier, ObjectId object, std::uint32_t site);
  void visit_signal_wait(const longpole_record& record, unsigned flags);
  void visit_signal_send(const longpole_record& record);
  void begin_cancelled_call(const longpole_record& record);
  void end_cancelled_call();
  void emit_stand_in(EventKind kind, std::int64_t time, ObjectId object, std::uint32_t site);
  void end_wait_for_team(std::size_t index, const longpole_record& record);
  void visit_task(unsigned flags);
  void visit_function(const longpole_record& record, bool enters);
  void leave_functions(std::size_t depth);
  void add_cost(const longpole_record& record);
  void add_measured_cost(std::int64_t cost_ns);
  void take_out_overhead(std::int64_t begin);
  void take_out_turn(const longpole_record& record);
  void begin_call(const longpole_record& record, const CallForm& form, std::int64_t time);
  void finish_call(std::size_t index, int result, std::int64_t time);
  void emit(Event event, std::uint32_t site);
  void emit_unrecorded(std::int64_t until);
  void emit_external_wait(const Gap& gap);
  [[nodiscard]] bool is_inside_last_call(const Gap& gap, ThreadId waker) const;
  void emit_wake_up(const WakeUp& wake_up);
  void forget_spinning(std::int64_t from);
  static void limit_sleep(Event& event, std::uint64_t asked_for_ns);
  void drop_abandoned_calls();
  void give_samples_to_events();
  Nanoseconds cpu_until(std::int64_t time);

  ThreadId self_;
  MergeContext& context_;
  ThreadTimes& times_;
  MergedThread thread_;
  std::vector<Pending> pending_;
  std::vector<Pending> put_off_;  // waits during which the thread does tasks, outermost first
  struct Entered {
    std::size_t depth;
    std::uint32_t function;
  };
  std::vector<Entered> entered_;              // outermost first
  std::vector<std::uint32_t> outside_waits_;  // sites of the calls under way that are no events
  std::vector<std::uint64_t> candidates_;     // of the next create, join or wait for a futex
  struct IoCall {
    std::size_t event;  // that it is, or its wait
    std::uint32_t site;
    std::uint64_t descriptor;
    int way;
    std::optional<ChannelUse> use;
  };
  std::vector<IoCall> io_calls_;  // under way, innermost last
  std::size_t next_io_ = 0;
  std::size_t next_gap_ = 0;
  std::size_t next_wake_up_ = 0;
  const ThreadSignals& signals_;
  std::size_t next_signal_wait_ = 0;
  std::size_t next_signal_send_ = 0;
  std::size_t next_cancel_ = 0;
  const ThreadFutexes& futexes_;
  std::size_t next_futex_wait_ = 0;
  std::size_t next_futex_wake_ = 0;
  std::optional<std::size_t> cancelled_wait_;  // its event, until something follows it
  std::int64_t last_time_;                     // stamps never go back
  bool ends_program_ = false;                  // its end is that of the program, by exit()
  std::int64_t free_from_;                     // outside recorded calls from here on
  std::int64_t cpu_so_far_ = 0;
  std::int64_t cost_ps_ = 0;           // of the records since the last event, not yet taken out
  std::int64_t measured_cost_ps_ = 0;  // of all records, what was measured each time
  std::optional<std::uint64_t> plain_site_;  // of the record before, where it may be written twice,
  bool written_twice_ = false;               // and was
  bool entered_kernel_ = false;              // the call of the record before
  std::int64_t short_waits_ns_ = 0;
  std::uint64_t last_call_site_ = 0;  // return address of the last call that is an event
};

}  // namespace longpole::recording
