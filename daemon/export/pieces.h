// Pieces: what stood on a thread's stack from moment to moment, for flame charts.
//
// A stretch of computing whose profile is a pool of samples is spread over the call paths of the
// pool: each path is owed its share of every stretch, and where it is owed at least `grain`, or most of
// all, the next piece is its. So over the run each has its share, and no piece is made up that is
// shorter than what one sample stands for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "export/run.h"

namespace longpole::exporting {

struct Piece {
  Nanoseconds start{};
  Nanoseconds end{};
  StackId stack;              // none: not known
  std::uint32_t stretch = 0;  // of the thread
};
// In order of time, without overlaps.
[[nodiscard]] std::vector<Piece> pieces_of(const Run& run, std::uint32_t thread);

// What a thread does that does not compute: "off the CPU: lock M", "waits for a CPU"; empty: it computes
// at a known place.
[[nodiscard]] std::string state_text(const Run& run, std::uint32_t thread, const Piece& piece);

}  // namespace longpole::exporting
