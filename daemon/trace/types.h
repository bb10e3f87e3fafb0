// The vocabulary of the core: identifiers that cannot be mixed up, and time.
//
// Every identifier is an index into the table of the Recording that it belongs to, dense from 0,
// and means nothing beside another Recording. `none` of each kind stands for "not known" or "no
// such".
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace longpole {

// All times and durations: whole nanoseconds. Points in time count from the start of the recording.
using Nanoseconds = std::chrono::duration<std::int64_t, std::nano>;

template <typename Tag>
struct Id {
  std::uint32_t value = std::numeric_limits<std::uint32_t>::max();

  static constexpr Id none() { return Id{}; }
  [[nodiscard]] constexpr bool known() const { return value != none().value; }
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using ThreadId = Id<struct ThreadTag>;      // Recording::threads
using ObjectId = Id<struct ObjectTag>;      // Recording::objects: locks, semaphores, devices, …
using ModuleId = Id<struct ModuleTag>;      // Recording::modules: program and libraries
using FileId = Id<struct FileTag>;          // Recording::files: source files
using FunctionId = Id<struct FunctionTag>;  // Recording::functions
using StackId = Id<struct StackTag>;        // Recording::stacks: a node of the tree of call paths
using ProfileId = Id<struct ProfileTag>;    // Recording::profiles: where CPU time was spent

}  // namespace longpole
