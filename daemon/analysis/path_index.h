// PathIndex: the critical path of an execution, part by part, in a few bytes each, with the longest of
// each block of parts, so that what so many pixels show of it is told in as many steps as there are
// pixels. Where threads take turns at a lock the path has a part for every second event.
//
// Written in order of time by add(), then immutable; safe for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/timeline_view.h"
#include "trace/types.h"

namespace longpole::analysis {

// How the critical path came to a part.
enum class Arrival : std::uint8_t {
  onward,    // in its own thread, or at the start
  released,  // another thread's call let this one go
  given,     // another thread gave up the CPU that this one waited for
};
// Neighbouring parts of one thread that go on into each other are one.
struct PathPart {
  std::uint32_t thread = 0;
  Nanoseconds start{};
  Nanoseconds end{};
  Arrival arrival = Arrival::onward;
};

// A part as it is, or those within one pixel, with the thread of the longest.
struct PathPiece {
  std::uint32_t thread = 0;
  Nanoseconds start{};
  Nanoseconds end{};
  std::uint32_t parts = 1;
  Arrival arrival = Arrival::onward;
};

class PathIndex {
 public:
  // None begins before the one before it ends.
  void add(const PathPart& part);
  // Behind the last.
  void end();

  [[nodiscard]] std::vector<PathPart> parts() const;
  [[nodiscard]] std::vector<PathPiece> pieces(const TimelineView& view) const;

  [[nodiscard]] std::size_t bytes() const {
    return blocks_.capacity() * sizeof(Block) + tokens_.capacity();
  }

 private:
  static constexpr std::uint32_t block_parts = 64;
  struct Block {
    std::int64_t end_before = 0;  // of the part before its first
    std::uint64_t tokens = 0;
    std::int64_t longest = 0;
    std::uint32_t thread_of_longest = 0;
  };

  class Reader;
  void append(const PathPart& part);
  // When its last part ends, and how many it has.
  [[nodiscard]] std::int64_t end_of(std::size_t block) const;
  [[nodiscard]] std::uint32_t parts_of(std::size_t block) const;

  std::vector<Block> blocks_;
  std::vector<std::uint8_t> tokens_;
  std::size_t size_ = 0;
  PathPart last_;  // the one that may go on
  bool has_last_ = false;
  std::int64_t end_ = 0;  // of those in the blocks
};

}  // namespace longpole::analysis
