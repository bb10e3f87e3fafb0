// Who waited for what another thread of the program wrote to a pipe, a pair of sockets or an event counter.
//
// Bytes leave a channel in the order in which they went in. So a read waits for the write of the last byte
// that it took, and a write that found no room for all of its bytes waits for the read that made it. What a pair of
// sockets has room for is not known: there, a write that lasted while much lay unread waits for the read that left
// a quarter of it, or the last read before it went on. A read of
// nothing waits for the closing of the last descriptor that could be written to. Where
// somebody outside the program writes or reads, or the descriptor came from elsewhere, no edge is found.
//
// A connection of which the program has both ends, told by their addresses, is a pair of sockets. It has room for megabytes
// in several queues: nobody waits for that here.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "recording/raw_chunks.h"

namespace longpole::recording {

// What one call of input or output has to do with others. Tokens stand for data that may be taken, or room
// that may be filled.
struct ChannelUse {
  std::uint32_t channel = 0;
  bool reads = false;       // it takes data and gives room; else the other way round
  bool waits = false;       // for what the other side gives
  std::uint32_t gives = 0;  // how many calls of other threads wait for it
};

struct ChannelEdges {
  // Of each thread, by the order of its calls of input and output; none: nobody waits there.
  std::vector<std::vector<std::optional<ChannelUse>>> uses;
  struct Channel {
    std::uint64_t site = 0;  // where it was made
  };
  std::vector<Channel> channels;
};

// `time_of`: of a stamp.
[[nodiscard]] ChannelEdges find_channel_edges(
    const std::vector<RawThread>& threads,
    const std::function<std::int64_t(std::uint64_t)>& time_of);

}  // namespace longpole::recording
