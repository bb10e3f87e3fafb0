#include "recording/raw_chunks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace longpole::recording {
namespace {

struct Chunk {
  std::uint32_t sequence;
  std::span<const std::uint8_t> slots;
};

struct Thread {
  RawThread thread;
  std::vector<Chunk> chunks;
};

}  // namespace

RawEvents read_raw_events(std::span<const std::uint8_t> events, std::uint32_t next_unit) {
  RawEvents result;
  std::map<std::uint32_t, Thread> threads;
  const std::size_t end =
      std::min<std::size_t>(events.size(), std::size_t{next_unit} * LONGPOLE_UNIT_BYTES);
  std::size_t bytes = 0;
  for (std::size_t at = 0; at + sizeof(longpole_chunk) <= end; at += bytes) {
    longpole_chunk header;
    std::memcpy(&header, events.data() + at, sizeof header);
    bytes = header.bytes;
    const bool is_chunk =
        bytes != 0 && bytes % LONGPOLE_UNIT_BYTES == 0 && bytes <= LONGPOLE_CHUNK_BYTES;
    if (!is_chunk) {
      result.damaged += bytes != 0 ? 1 : 0;
      bytes = LONGPOLE_UNIT_BYTES;
      continue;
    }
    Thread& thread = threads[header.thread];
    // The first chunk is made by the creator, the later ones by the thread itself.
    if (thread.chunks.empty() || header.sequence == 0) {
      thread.thread.number = header.thread;
      thread.thread.start_function = header.start_function;
      thread.thread.handle = header.handle;
    }
    if (header.tid != 0)
      thread.thread.tid = header.tid;
    const std::size_t used = std::min(bytes, end - at);
    thread.chunks.push_back(
        {header.sequence, events.subspan(at + sizeof header, used - sizeof header)});
  }
  for (auto& [number, thread] : threads) {
    std::stable_sort(thread.chunks.begin(), thread.chunks.end(),
                     [](const Chunk& a, const Chunk& b) { return a.sequence < b.sequence; });
    for (std::size_t i = 0; i < thread.chunks.size(); ++i) {
      if (i > 0 && thread.chunks[i].sequence == thread.chunks[i - 1].sequence) {
        // Copied and not yet emptied when SIGKILL came: the same again, else one of the two is wrong.
        if (!std::ranges::equal(thread.chunks[i].slots, thread.chunks[i - 1].slots))
          ++result.damaged;
        continue;
      }
      thread.thread.slots.push_back(thread.chunks[i].slots);
    }
    result.threads.push_back(std::move(thread.thread));
  }
  return result;
}

}  // namespace longpole::recording
