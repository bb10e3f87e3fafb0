// The locks, semaphores, conditions and barriers of a run, told apart by address, kind and lifetime.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recording/merged_run.h"

namespace longpole::recording {

// An address is an object of one kind from one initialization to the next; where none was recorded,
// for the whole run. First all initializations are told, then the uses are looked up.
class ObjectTable {
 public:
  void add_initialization(ObjectKind kind, std::uint64_t address, std::int64_t time,
                          std::uint32_t value, std::uint32_t site);

  // The object at `address` at `time`, which is used there from `site`.
  [[nodiscard]] ObjectId use(ObjectKind kind, std::uint64_t address, std::int64_t time,
                             std::uint32_t site);

  // Stands for the wake-ups that `waker` gives to `woken` and that no recorded call shows: a semaphore
  // that the one posts and the other waits for, 0 at first.
  [[nodiscard]] ObjectId wake_ups(ThreadId woken, ThreadId waker);

  // One of those that no call makes, see futex_edges.h. `site`: of a wait there, or none.
  [[nodiscard]] ObjectId barrier(std::uint32_t number, std::uint32_t site);

  // Stands for the signals of one number that end waits of `woken`, or for its being cancelled (0).
  [[nodiscard]] ObjectId signals(ThreadId woken, int signal);

  // Stands for the data in a channel that was made at `site`, or for the room that is left.
  [[nodiscard]] ObjectId channel(std::uint32_t channel, bool room, std::uint32_t site);

  // What it was last initialized with; none when that was not recorded.
  [[nodiscard]] std::optional<std::uint32_t> initialized_with(ObjectId id) const {
    return details_[id.index()].value;
  }

  void set_initial(ObjectId id, std::uint32_t value) { objects_[id.index()].initial = value; }
  [[nodiscard]] std::vector<MergedObject>& objects() { return objects_; }
  [[nodiscard]] const std::vector<MergedObject>& objects() const { return objects_; }

 private:
  struct Life {
    std::int64_t from;
    ObjectId id;  // none until it is used
    std::optional<std::uint32_t> value;
    std::uint32_t site;
  };
  struct Details {
    std::optional<std::uint32_t> value;
    std::int64_t first_use;
  };

  ObjectId add_stand_in(const MergedObject& object);
  ObjectId make(ObjectKind kind, std::uint64_t address, std::int64_t time, const Life& life,
                std::uint32_t site);

  std::unordered_map<std::uint64_t, std::vector<Life>> lives_;
  std::map<std::pair<ThreadId, ThreadId>, ObjectId> wake_ups_;
  std::map<std::uint32_t, ObjectId> barriers_;
  std::map<std::pair<ThreadId, int>, ObjectId> signals_;
  std::map<std::pair<std::uint32_t, bool>, ObjectId> channels_;
  std::vector<MergedObject> objects_;
  std::vector<Details> details_;
};

}  // namespace longpole::recording
