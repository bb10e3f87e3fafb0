// A block of events of a recording file, by columns. Part of recording_file.cc.
//
// In a real program the same calls come again and again: of one kind, at one line, on one object,
// after the same stretch of code. So a block holds each different call once, and each event says
// which call it is, and three times. These stand by calls, those of the first call first: the times of one call are
// alike, and what is alike compresses when it stands together. The times of a thread follow from each other:
//
//   time = time before + duration before + cpu + gap
//
// where the gap, mostly the cost of recording, is nearly always the same small number. A column of
// numbers is stored by bytes of one significance, the lowest of all numbers first, as many as the
// largest number needs: the high ones compress to next to nothing, and reading has no branch in it.
//
//   block   = stretches: thread, events, start time (numbers)
//             calls: count, then columns kind, outcome, subject, other, site, profile, waker; written in order of kind
//                    and line, in any order for the reader
//             events: columns call, in order of time, and cpu, duration, gap, by calls; up to format 3 in order of time
//                     as well
//   column  = bytes per number, then that many rows of one byte per number
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/byte_stream.h"
#include "trace/recording.h"

namespace longpole {

inline constexpr std::size_t events_per_block = std::size_t{1} << 15U;

// No block is longer: each event its own stretch and its own call, all numbers of full length.
inline constexpr std::size_t longest_event_block =
    events_per_block * (20 + (2 + 5 * 4) + (4 + 3 * 8)) + 64;

class EventBlockEncoder {
 public:
  // Events of one thread that follow each other.
  struct Stretch {
    ThreadId thread;
    std::span<const Event> events;
  };

  // At most events_per_block events.
  void encode(ByteWriter& out, std::span<const Stretch> stretches);

 private:
  void number_calls(std::span<const Stretch> stretches);
  void write_by_calls(ByteWriter& out, std::span<const std::uint64_t> values);

  std::vector<Event> calls_;
  std::vector<std::uint64_t> call_, cpu_, duration_, gap_;  // by event
  std::vector<std::uint32_t> places_;                       // of calls, see places_of()
  std::vector<std::uint64_t> column_;
};

// Fills the events of a Recording, block after block. Give it threads whose `events` have the size
// that they shall have.
class EventBlockDecoder {
 public:
  EventBlockDecoder(std::vector<Thread>& threads, bool by_calls)
      : threads_(threads), by_calls_(by_calls) {}

  // Look at `in` for what is wrong; then the threads are filled in part.
  void decode(ByteReader& in);
  [[nodiscard]] bool complete();

 private:
  struct Stretch {
    std::span<Event> events;
    std::uint64_t start;
  };
  void decode_stretches(ByteReader& in);
  void decode_calls(ByteReader& in);
  void fill(const Stretch& stretch, std::size_t first);

  std::vector<Thread>& threads_;
  bool by_calls_;
  std::size_t thread_ = 0;  // the next event is this one's …
  std::size_t event_ = 0;   // … and has this index

  // Of the block that is being read.
  std::vector<Stretch> stretches_;
  std::size_t size_ = 0;  // events
  std::vector<Event> calls_;
  std::vector<std::uint32_t> call_;
  std::vector<std::uint64_t> cpu_, duration_, gap_;
  std::vector<std::uint32_t> places_;  // by call, of its next event in the three
};

}  // namespace longpole
