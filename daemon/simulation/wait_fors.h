// Which release each wait waited for in the recording: the Wait_for(PY) of thesis, Paper VIII.
//
// Found by going through the recording once in its order of time: an unlock enables the next lock, a
// post the next wait of its semaphore, a notification the waits that it ended, the end of a thread
// its join. The edges always point from earlier to later in that order, so a simulation that keeps to
// them and to the order of each thread's calls never stands still. (Program files that cancel threads
// excepted: where a cancellation strikes is a question of time.)
//
//   calls of all threads ──┐                      ┌── waits of all threads
//   ends of threads ───────┴─ key ──enables──▶ ───┘   (and gates: a barrier's, which all who came
//   gates ─────────────────┘                           together pass)
//
// A program file has been run by nobody; it is paired as one CPU under fixed priorities ran it
// (DESIGN section 6).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulation/models.h"
#include "trace/recording.h"

namespace longpole::simulation {

class WaitFors {
 public:
  using Key = std::uint32_t;   // something that happens and enables waits
  using Wait = std::uint32_t;  // index into waits()
  static constexpr std::uint32_t none = 0xffffffffU;

  struct WaitFor {
    std::uint32_t thread = none;  // none: a gate
    std::uint32_t event = 0;      // of a gate: its number
    std::uint32_t missing = 0;    // how many keys must happen
    Wait poll = none;  // of a timed wait that timed out: the one that says that its loop is over
    bool starts_list = false;  // client_server: the thread may go on behind it out of turn
    bool is_poll = false;
  };

  // Nothing is paired: all objects are direct.
  WaitFors() = default;
  // `recorded` says in which order things happened; its threads and events are those simulated.
  WaitFors(const Recording& recorded, const Models& models);

  [[nodiscard]] bool empty() const { return first_event_.empty(); }
  // Whether the event is simulated by its pair, and not by the state of its object.
  [[nodiscard]] bool governs(const Event& event) const;

  [[nodiscard]] Key key_of(std::uint32_t thread, std::uint32_t event) const {
    return first_event_[thread] + event;
  }
  [[nodiscard]] Key key_of_end(std::uint32_t thread) const { return first_end_ + thread; }
  [[nodiscard]] Key key_of_gate(Wait gate) const { return first_gate_ + waits_[gate].event; }
  [[nodiscard]] std::span<const Wait> enabled_by(Key key) const {
    return {enabled_.data() + first_enabled_[key], first_enabled_[key + 1] - first_enabled_[key]};
  }
  // none: the call waits for nobody.
  [[nodiscard]] Wait wait_of(std::uint32_t thread, std::uint32_t event) const {
    return wait_of_event_[first_event_[thread] + event];
  }
  [[nodiscard]] const std::vector<WaitFor>& waits() const { return waits_; }
  // How many lists a thread consists of besides the one that it starts with.
  [[nodiscard]] std::uint32_t lists(std::uint32_t thread) const { return lists_[thread]; }

 private:
  class Edges;
  Wait wait_at(std::uint32_t thread, std::uint32_t event);
  void find_lists(const Recording& recorded);

  std::vector<Model> models_;  // per object
  bool joins_are_paired_ = false;
  std::vector<std::uint32_t> first_event_;  // per thread: the key of its first event
  Key first_end_ = 0;
  Key first_gate_ = 0;
  std::uint32_t gates_ = 0;
  std::vector<Wait> wait_of_event_;
  std::vector<WaitFor> waits_;
  std::vector<std::uint32_t> first_enabled_;  // per key, and one past the last
  std::vector<Wait> enabled_;
  std::vector<std::uint32_t> lists_;  // per thread
};

}  // namespace longpole::simulation
