#include "recording/raw_chunks.h"

#include <algorithm>
#include <map>
#include <utility>

namespace longpole::recording {
namespace {

struct Chunk {
  std::uint32_t sequence;
  RawChunk records;
};

struct Thread {
  RawThread thread;
  std::vector<Chunk> chunks;
};

bool is_chunk(const longpole_chunk& header) {
  const std::uint32_t largest =
      header.form == LONGPOLE_FORM_RECORDS ? LONGPOLE_CHUNK_BYTES : LONGPOLE_LARGEST_CHUNK;
  return header.bytes != 0 && header.bytes % LONGPOLE_UNIT_BYTES == 0 && header.bytes <= largest &&
         header.form <= LONGPOLE_FORM_ENCODED &&
         (header.form != LONGPOLE_FORM_ENCODED ||
          header.encoded_bytes < header.bytes - sizeof header);
}

// `chunk` is what there is of it.
bool is_written(const longpole_chunk& header, std::span<const std::uint8_t> chunk) {
  if (header.form != LONGPOLE_FORM_ENCODED)
    return header.form == LONGPOLE_FORM_RECORDS;
  const std::size_t end = sizeof header + header.encoded_bytes;
  return end < chunk.size() && chunk[end] == LONGPOLE_END_OF_RECORDS;
}

bool is_whole(const RawChunk& encoded) {
  RecordDecoder decoder(encoded.bytes);
  while (decoder.next()) {
  }
  return decoder.at_end();
}

bool hold_the_same(const RawChunk& a, const RawChunk& b) {
  const auto records_of = [](const RawChunk& chunk) {
    std::vector<std::uint8_t> bytes;
    for_each_record(chunk, [&](const longpole_record& record) {
      const auto* const first = reinterpret_cast<const std::uint8_t*>(&record);
      bytes.insert(bytes.end(), first, first + sizeof record);
    });
    return bytes;
  };
  return records_of(a) == records_of(b);
}

}  // namespace

bool RecordDecoder::take_word(std::uint64_t& word) {
  if (rest_.size() < sizeof word)
    return false;
  std::memcpy(&word, rest_.data(), sizeof word);
  rest_ = rest_.subspan(sizeof word);
  return true;
}

bool RecordDecoder::take_difference(std::uint64_t& from) {
  std::uint64_t zigzag = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const std::uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    zigzag |= std::uint64_t{byte & 0x7fU} << shift;
    if ((byte & 0x80U) == 0) {
      from += (zigzag >> 1U) ^ (std::uint64_t{0} - (zigzag & 1U));
      return true;
    }
  }
  return false;
}

std::optional<longpole_record> RecordDecoder::next() {
  if (rest_.empty())
    return std::nullopt;
  const std::uint8_t head = rest_.front();
  std::span<const std::uint8_t> const before = rest_;
  rest_ = rest_.subspan(1);
  Known& known = places_[head % LONGPOLE_ENCODING_PLACES];
  const bool is_sound =
      take_difference(stamp_) &&
      ((head & LONGPOLE_OTHER_OBJECT) == 0 || take_difference(object_)) &&
      ((head & LONGPOLE_OTHER_CALL) == 0 || (take_word(known.site) && take_word(known.rest)));
  if ((head & LONGPOLE_OTHER_OBJECT) != 0)
    known.object = object_;
  else
    object_ = known.object;
  longpole_record record{};
  record.tsc = stamp_;
  record.object = object_;
  record.site = known.site;
  std::memcpy(&record.other_low, &known.rest, sizeof known.rest);
  if (is_sound && LONGPOLE_KIND(record.kind_and_flags) != LONGPOLE_NOTHING)
    return record;
  rest_ = before;
  return std::nullopt;
}

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
    if (!is_chunk(header)) {
      result.damaged += bytes != 0 ? 1 : 0;
      bytes = LONGPOLE_UNIT_BYTES;
      continue;
    }
    if (!is_written(header, events.first(end).subspan(at)))
      continue;
    Thread& thread = threads[header.thread];
    // The first chunk is made by the creator, the later ones by the thread itself.
    if (thread.chunks.empty() || header.sequence == 0) {
      thread.thread.number = header.thread;
      thread.thread.start_function = header.start_function;
      thread.thread.handle = header.handle;
    }
    if (header.tid != 0)
      thread.thread.tid = header.tid;
    const bool encoded = header.form == LONGPOLE_FORM_ENCODED;
    const std::size_t size = encoded ? header.encoded_bytes : bytes - sizeof header;
    const RawChunk records{
        events.subspan(at + sizeof header, std::min(size, end - at - sizeof header)), encoded};
    if (encoded && !is_whole(records))
      ++result.damaged;
    thread.chunks.push_back({header.sequence, records});
  }
  for (auto& [number, thread] : threads) {
    std::stable_sort(thread.chunks.begin(), thread.chunks.end(),
                     [](const Chunk& a, const Chunk& b) { return a.sequence < b.sequence; });
    for (std::size_t i = 0; i < thread.chunks.size(); ++i) {
      if (i > 0 && thread.chunks[i].sequence == thread.chunks[i - 1].sequence) {
        // Copied and not yet emptied when SIGKILL came: the same again, else one of the two is wrong.
        if (!hold_the_same(thread.chunks[i].records, thread.chunks[i - 1].records))
          ++result.damaged;
        continue;
      }
      thread.thread.chunks.push_back(thread.chunks[i].records);
    }
    result.threads.push_back(std::move(thread.thread));
  }
  return result;
}

}  // namespace longpole::recording
