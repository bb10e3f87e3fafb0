// Layout. All numbers of fixed size are little-endian.
//
//   magic     8 bytes, 89 "LPREC" 0d 0a: not text, and a copy that changed line ends shows
//   version   4 bytes, 1 to 4
//   blocks    tables, then events, then end
//
//   block     kind         1 byte   1 tables, 2 events, 3 end
//             compression  1 byte   0 none, 1 zstd
//             zero         2 bytes
//             events       4 bytes  in this block
//             stored size  4 bytes  of the payload in the file
//             raw size     4 bytes  of the payload once decompressed
//             checksum     4 bytes  CRC-32 of the 16 bytes before it and the stored payload; from version 4 on, of the
//                                   version's 4 bytes before these
//             payload
//
// Exactly one block of tables (recording_tables.cc). The events of all threads stand end to end,
// thread after thread, cut into blocks of 32,768 (event_columns.h). The end has no payload; without
// it the file was cut off. A change that older readers would misread, or take for damage, raises the version: then they say
// that they are older. Versions 2 and 3 have what stands behind the tables of version 1; version 4 has the times of events in
// another order (event_columns.h). The newest is written, all are read.
#include "trace/recording_file.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "trace/byte_stream.h"
#include "trace/event_columns.h"
#include "trace/recording_file_format.h"
#include "trace/recording_tables.h"

namespace longpole {
namespace {

constexpr std::uint32_t oldest_version = 1;
constexpr std::uint32_t newest_version = 4;
constexpr std::uint32_t first_version_by_calls = 4;
constexpr std::size_t version_end = recording_magic.size() + 4;
constexpr std::size_t block_header_size = 20;
constexpr std::size_t checksum_offset = 16;

// To pack a recording of at most one block of events as tightly as can be takes up to a third of a second; of a larger one the
// calls come again and again, and packing fast is worth more.
constexpr int fast_level = 3;
constexpr int tight_level = 19;
constexpr std::size_t most_packed_tightly = std::size_t{1} << 20U;  // bytes of a block

enum class BlockKind : std::uint8_t { tables = 1, events = 2, end = 3 };

void append32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<std::uint8_t>(value >> shift));
}

std::uint32_t read32(std::span<const std::uint8_t> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value |= static_cast<std::uint32_t>(bytes[at + i]) << (8U * i);
  return value;
}

std::uint32_t checksum(std::initializer_list<std::span<const std::uint8_t>> parts) {
  auto sum = crc32_z(0, nullptr, 0);
  for (const std::span<const std::uint8_t> part : parts)
    sum = crc32_z(sum, part.data(), part.size());
  return static_cast<std::uint32_t>(sum);
}

// What the checksums of a file cover of its start: the version where one that says it is older would be read otherwise.
std::span<const std::uint8_t> covered_start(std::span<const std::uint8_t> file) {
  const bool by_calls = read32(file, recording_magic.size()) >= first_version_by_calls;
  return file.subspan(recording_magic.size(), by_calls ? version_end - recording_magic.size() : 0);
}

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class FileWriter {
 public:
  FileWriter(Compression compression, bool is_small)
      : compression_(compression), is_small_(is_small), compressor_(ZSTD_createCCtx()) {
    out_.assign(recording_magic.begin(), recording_magic.end());
    append32(out_, newest_version);
  }

  void write(BlockKind kind, std::size_t events, std::span<const std::uint8_t> payload) {
    const std::size_t header = out_.size();
    out_.resize(header + block_header_size);
    const Compression used = append_payload(payload);
    const std::size_t stored = out_.size() - header - block_header_size;

    std::vector<std::uint8_t> fields{static_cast<std::uint8_t>(kind),
                                     static_cast<std::uint8_t>(used), 0, 0};
    append32(fields, static_cast<std::uint32_t>(events));
    append32(fields, static_cast<std::uint32_t>(stored));
    append32(fields, static_cast<std::uint32_t>(payload.size()));
    const std::span<const std::uint8_t> whole(out_);
    append32(fields,
             checksum({covered_start(whole), fields, whole.subspan(header + block_header_size)}));
    std::ranges::copy(fields, out_.begin() + static_cast<std::ptrdiff_t>(header));
  }

  [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(out_); }

 private:
  // Where compressing gains nothing, the payload stands as it is.
  Compression append_payload(std::span<const std::uint8_t> payload) {
    if (compression_ == Compression::zstd && compressor_ != nullptr) {
      const std::size_t before = out_.size();
      out_.resize(before + ZSTD_compressBound(payload.size()));
      const bool tightly = is_small_ && payload.size() <= most_packed_tightly;
      const std::size_t size =
          ZSTD_compressCCtx(compressor_.get(), &out_[before], out_.size() - before, payload.data(),
                            payload.size(), tightly ? tight_level : fast_level);
      const bool gains = ZSTD_isError(size) == 0 && size < payload.size();
      out_.resize(before + (gains ? size : 0));
      if (gains)
        return Compression::zstd;
    }
    out_.insert(out_.end(), payload.begin(), payload.end());
    return Compression::none;
  }

  Compression compression_;
  bool is_small_;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> compressor_;
  std::vector<std::uint8_t> out_;
};

void write_events(FileWriter& file, const Recording& recording) {
  EventBlockEncoder encoder;
  std::vector<EventBlockEncoder::Stretch> stretches;
  std::size_t size = 0;
  const auto flush = [&] {
    if (size == 0)
      return;
    ByteWriter block;
    encoder.encode(block, stretches);
    file.write(BlockKind::events, size, block.bytes());
    stretches.clear();
    size = 0;
  };
  for (std::size_t i = 0; i < recording.threads.size(); ++i) {
    std::span<const Event> left(recording.threads[i].events);
    while (!left.empty()) {
      const std::size_t now = std::min(left.size(), events_per_block - size);
      stretches.push_back({{static_cast<std::uint32_t>(i)}, left.first(now)});
      left = left.subspan(now);
      size += now;
      if (size == events_per_block)
        flush();
    }
  }
  flush();
}

class FileReader {
 public:
  FileReader(std::span<const std::uint8_t> bytes, Checksums checksums, const Limits& limits)
      : bytes_(bytes), checksums_(checksums), limits_(limits), decompressor_(ZSTD_createDCtx()) {}

  Expected<Recording> read() {
    return read_start()
        .and_then([&] { return scan_blocks(); })
        .and_then([&] { return read_tables(); })
        .and_then([&] { return read_events(); })
        .map([&] { return std::move(recording_); });
  }

 private:
  struct Block {
    std::size_t offset;
    BlockKind kind;
    Compression compression;
    std::size_t events;
    std::size_t raw_size;
    std::span<const std::uint8_t> payload;
  };

  static tl::unexpected<Error> damaged(std::size_t offset, std::string_view why) {
    return bad_input({}, fmt::format("it is damaged at byte {}: {}", offset, why),
                     "copy it again from where it came, or record again");
  }

  [[nodiscard]] std::uint32_t version() const { return read32(bytes_, recording_magic.size()); }

  [[nodiscard]] Expected<void> read_start() const {
    const std::size_t common = std::min(bytes_.size(), recording_magic.size());
    if (!std::ranges::equal(bytes_.first(common), std::span(recording_magic).first(common)))
      return bad_input({}, "it does not begin as a recording file does",
                       "record it with `longpole record`, or give a .prog or .rec file");
    if (bytes_.size() < version_end)
      return damaged(bytes_.size(), "it is cut off inside its first line");
    const std::uint32_t found = version();
    if (found > newest_version)
      return bad_input({},
                       fmt::format("it was written by a newer longpole, in format {}; this one "
                                   "reads formats up to {}",
                                   found, newest_version),
                       "update longpole, or record again with this one");
    if (found < oldest_version)
      return damaged(recording_magic.size(), fmt::format("there is no format {}", found));
    return {};
  }

  // Before anything is set aside for what the blocks say, they must be there, whole and in order.
  Expected<void> scan_blocks() {
    std::size_t at = version_end;
    while (blocks_.empty() || blocks_.back().kind != BlockKind::end) {
      const auto left = bytes_.subspan(at);
      if (left.size() < block_header_size)
        return damaged(bytes_.size(), "it is cut off");
      const std::size_t stored = read32(left, 8);
      if (stored > left.size() - block_header_size)
        return damaged(bytes_.size(),
                       fmt::format("it is cut off inside the block that begins at byte {}", at));
      const Block block{.offset = at,
                        .kind = static_cast<BlockKind>(left[0]),
                        .compression = static_cast<Compression>(left[1]),
                        .events = read32(left, 4),
                        .raw_size = read32(left, 12),
                        .payload = left.subspan(block_header_size, stored)};
      if (checksums_ == Checksums::verified &&
          checksum({covered_start(bytes_), left.first(checksum_offset), block.payload}) !=
              read32(left, checksum_offset))
        return damaged(at, "the checksum of the block does not match");
      if (auto sound = check_block(block, read32(left, 0) >> 16U); !sound)
        return sound;
      blocks_.push_back(block);
      at += block_header_size + stored;
    }
    if (at != bytes_.size())
      return damaged(at, "something follows the end");
    return {};
  }

  Expected<void> check_block(const Block& block, std::uint32_t zero) {
    const bool first = blocks_.empty();
    const bool known = block.kind == BlockKind::tables || block.kind == BlockKind::events ||
                       block.kind == BlockKind::end;
    if (!known || zero != 0 || first != (block.kind == BlockKind::tables))
      return damaged(block.offset, "a block of this kind cannot stand here");
    if (block.compression != Compression::none && block.compression != Compression::zstd)
      return damaged(block.offset, "the block is compressed in an unknown way");
    if (block.compression == Compression::none && block.raw_size != block.payload.size())
      return damaged(block.offset, "the sizes of the block contradict each other");
    const bool has_events = block.kind == BlockKind::events;
    if ((block.events != 0) != has_events || block.events > events_per_block)
      return damaged(block.offset, fmt::format("the block has {} events; the limit is {}",
                                               block.events, has_events ? events_per_block : 0));
    if (has_events && block.raw_size > longest_event_block)
      return damaged(block.offset, fmt::format("the block has {} bytes; the limit is {}",
                                               block.raw_size, longest_event_block));
    if (block.raw_size > limits_.table_bytes)
      return over_limit({}, fmt::format("its tables have {} bytes; the limit is {}", block.raw_size,
                                        limits_.table_bytes));
    return {};
  }

  // The payload as it was before compression; valid until the next call.
  Expected<std::span<const std::uint8_t>> raw_payload(const Block& block) {
    if (block.compression == Compression::none)
      return block.payload;
    raw_.resize(block.raw_size);
    const std::size_t size =
        decompressor_ == nullptr
            ? 0
            : ZSTD_decompressDCtx(decompressor_.get(), raw_.data(), raw_.size(),
                                  block.payload.data(), block.payload.size());
    if (ZSTD_isError(size) != 0)
      return damaged(block.offset,
                     fmt::format("the block cannot be decompressed ({})", ZSTD_getErrorName(size)));
    if (size != block.raw_size)
      return damaged(block.offset, fmt::format("the block has {} bytes where it should have {}",
                                               size, block.raw_size));
    return std::span<const std::uint8_t>(raw_);
  }

  Expected<void> read_tables() {
    const Block& block = blocks_.front();
    const auto payload = raw_payload(block);
    if (!payload)
      return tl::unexpected(payload.error());
    ByteReader in(*payload);
    event_counts_ = decode_tables(in, recording_, limits_);
    return soundness(in, block);
  }

  static Expected<void> soundness(const ByteReader& in, const Block& block) {
    if (in.sound())
      return {};
    if (in.kind() == ErrorKind::limit)
      return over_limit({}, in.problem());
    return damaged(block.offset,
                   fmt::format("byte {} of the block: {}", in.offset(), in.problem()));
  }

  Expected<void> read_events() {
    std::size_t announced = 0;
    for (const std::size_t count : event_counts_)
      announced += count;
    std::size_t present = 0;
    for (const Block& block : blocks_)
      present += block.events;
    if (announced != present)
      return damaged(blocks_.front().offset,
                     fmt::format("it announces {} events and has {}", announced, present));
    for (std::size_t i = 0; i < event_counts_.size(); ++i)
      recording_.threads[i].events.resize(event_counts_[i]);

    EventBlockDecoder decoder(recording_.threads, version() >= first_version_by_calls);
    for (const Block& block : blocks_) {
      if (block.kind != BlockKind::events)
        continue;
      const auto payload = raw_payload(block);
      if (!payload)
        return tl::unexpected(payload.error());
      ByteReader in(*payload);
      decoder.decode(in);
      if (auto sound = soundness(in, block); !sound)
        return sound;
    }
    if (!decoder.complete())
      return damaged(blocks_.back().offset, "some threads lack events");
    return {};
  }

  std::span<const std::uint8_t> bytes_;
  Checksums checksums_;
  const Limits& limits_;
  std::unique_ptr<ZSTD_DCtx, FreeCompressor> decompressor_;
  std::vector<Block> blocks_;
  std::vector<std::uint8_t> raw_;
  std::vector<std::size_t> event_counts_;  // by thread
  Recording recording_;
};

}  // namespace

std::vector<std::uint8_t> encode_recording_with(const Recording& recording,
                                                Compression compression) {
  FileWriter file(compression, recording.event_count() <= events_per_block);
  ByteWriter tables;
  encode_tables(tables, recording);
  file.write(BlockKind::tables, 0, tables.bytes());
  write_events(file, recording);
  file.write(BlockKind::end, 0, {});
  return file.take();
}

Expected<Recording> decode_recording_with(std::span<const std::uint8_t> bytes,
                                          const std::string& name, Checksums checksums,
                                          const Limits& limits) {
  auto recording = FileReader(bytes, checksums, limits).read().and_then([](Recording r) {
    return validate(r).map([&] { return std::move(r); });
  });
  if (!recording)
    recording.error().what = fmt::format("cannot read {}", name);
  return recording;
}

std::vector<std::uint8_t> encode_recording(const Recording& recording) {
  return encode_recording_with(recording, Compression::zstd);
}

Expected<Recording> decode_recording(std::span<const std::uint8_t> bytes, const std::string& name) {
  return decode_recording_with(bytes, name, Checksums::verified, Limits{});
}

bool is_recording_file(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= recording_magic.size() &&
         std::ranges::equal(bytes.first(recording_magic.size()), recording_magic);
}

}  // namespace longpole
