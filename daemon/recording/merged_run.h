// A run after merging and before symbolizing: a Recording whose places are still addresses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/recording.h"

namespace longpole::recording {

inline constexpr std::uint32_t no_site = 0xffffffffU;

// Where a recorded call came from.
struct CallSite {
  std::uint64_t address = 0;              // its return address
  std::vector<std::uint64_t> candidates;  // return addresses further out, innermost first

  friend auto operator<=>(const CallSite&, const CallSite&) = default;
};

// `weight` samples of one call path, taken in the stretch that the event ends.
struct MergedSample {
  std::uint32_t event = 0;  // index into the thread's events
  std::uint32_t path = 0;   // index into MergedRun::paths
  std::uint32_t weight = 1;
};

struct MergedThread {
  std::int32_t tid = 0;
  std::string name{};  // that the program gave it; empty: none
  std::optional<std::int32_t> priority{};
  std::optional<std::uint32_t> bound_to{};
  bool is_main = false;
  std::uint64_t start_function = 0;  // 0: not known
  ThreadId creator;
  std::vector<Event> events;          // without site and profile
  std::vector<std::uint32_t> sites;   // of each event: index into MergedRun::sites, or no_site
  std::vector<MergedSample> samples;  // in order of event
  std::int64_t recording_ns = 0;      // CPU time that was taken out, by what a record costs
};

// What a semaphore is that is no object of the program.
enum class StandsFor : std::uint8_t {
  itself,
  wake_ups,  // that `waker` gives to `woken`, as the kernel saw
  signals,   // that end waits of `woken`
  cancellation,
  data,   // in a pipe or the like; the object's site is where it was made
  room,   // likewise
  polls,  // what `woken` looked for again and again, and `waker` did
};

struct MergedObject {
  ObjectKind kind = ObjectKind::mutex;
  std::uint64_t address = 0;
  std::uint32_t first_site = no_site;  // of the call that made it or first used it
  std::uint32_t initial = 0;
  StandsFor stands_for = StandsFor::itself;
  ThreadId woken{};  // of wake-ups, signals, cancellations and polls
  ThreadId waker{};  // of wake-ups and polls
  int signal = 0;
};

struct MergedRun {
  RunInfo run;
  // On one CPU, and not in lockstep: what depends on time there takes another course than on several.
  bool takes_turns = false;
  std::vector<Notice> notices;
  std::vector<MergedThread> threads;
  std::vector<MergedObject> objects;
  std::vector<CallSite> sites;
  std::vector<std::vector<std::uint64_t>> paths;  // innermost first, the first exact
  // Addresses of functions whose entries were recorded: until it is symbolized, the callee of an
  // `enter` and `leave` is an index into them.
  std::vector<std::uint64_t> functions;
  std::uint32_t function_depth = 0;  // what lies inside so many functions has no entries of its own
};

}  // namespace longpole::recording
