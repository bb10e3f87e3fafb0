#include "run_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

namespace longpole::test {

std::uint64_t other_of(const longpole_record& record) {
  return record.other_low | (std::uint64_t{record.other_high} << 32);
}
unsigned kind_of(const longpole_record& record) {
  return LONGPOLE_KIND(record.kind_and_flags);
}
unsigned flags_of(const longpole_record& record) {
  return LONGPOLE_FLAGS(unsigned{record.kind_and_flags});
}

RunDirectory::RunDirectory(const std::filesystem::path& parent) {
  std::string pattern = (parent / "longpole-recorder-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    ADD_FAILURE() << "no directory like " << pattern;
    return;
  }
  path_ = pattern;
  const int descriptor = open((path_ / "control").c_str(), O_RDWR | O_CREAT, 0600);
  EXPECT_EQ(ftruncate(descriptor, sizeof(longpole_control)), 0);
  void* mapping =
      mmap(nullptr, sizeof(longpole_control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  EXPECT_NE(mapping, MAP_FAILED);
  control_ = static_cast<longpole_control*>(mapping);
  control_->magic = LONGPOLE_CONTROL_MAGIC;
  control_->version = LONGPOLE_RAW_VERSION;
  control_->max_units = 1u << 20;
}

RunDirectory::RunDirectory(const RunDirectory& first, std::uint32_t child)
    : path_(first.path_ / ("child." + std::to_string(child))) {
  const int descriptor = open((path_ / "control").c_str(), O_RDWR);
  void* mapping =
      mmap(nullptr, sizeof(longpole_control), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  EXPECT_NE(mapping, MAP_FAILED) << path_;
  close(descriptor);
  control_ = static_cast<longpole_control*>(mapping);
}

std::vector<std::unique_ptr<RunDirectory>> RunDirectory::children() const {
  std::vector<std::unique_ptr<RunDirectory>> children;
  for (std::uint32_t child = 1; child <= control_->next_child; ++child) {
    children.push_back(std::unique_ptr<RunDirectory>(new RunDirectory(*this, child)));
  }
  return children;
}

RunDirectory::~RunDirectory() {
  munmap(control_, sizeof(longpole_control));
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

namespace {

bool are_the_same(const std::vector<longpole_record>& one,
                  const std::vector<longpole_record>& other) {
  return one.size() == other.size() &&
         (one.empty() ||
          std::memcmp(one.data(), other.data(), one.size() * sizeof(longpole_record)) == 0);
}

std::uint64_t take_difference(const char*& at) {
  std::uint64_t zigzag = 0;
  for (unsigned shift = 0, more = 1; more != 0; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    zigzag |= std::uint64_t{byte & 0x7fu} << shift;
    more = byte & 0x80u;
  }
  return (zigzag >> 1) ^ -(zigzag & 1);
}

std::uint64_t take_word(const char*& at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  at += sizeof(word);
  return word;
}

// As raw_record.h says it.
std::vector<longpole_record> decoded(const char* at, std::size_t bytes) {
  struct Known {
    std::uint64_t object, site, rest;
  };
  std::vector<Known> places(LONGPOLE_ENCODING_PLACES);
  std::vector<longpole_record> records;
  std::uint64_t stamp = 0;
  std::uint64_t object = 0;
  for (const char* const end = at + bytes; at < end;) {
    const auto head = static_cast<unsigned char>(*at++);
    stamp += take_difference(at);
    Known& known = places[head % LONGPOLE_ENCODING_PLACES];
    if ((head & LONGPOLE_OTHER_OBJECT) != 0) {
      known.object = object + take_difference(at);
    }
    object = known.object;
    if ((head & LONGPOLE_OTHER_CALL) != 0) {
      known.site = take_word(at);
      known.rest = take_word(at);
    }
    longpole_record record{};
    record.tsc = stamp;
    record.object = known.object;
    record.site = known.site;
    std::memcpy(&record.other_low, &known.rest, sizeof(known.rest));
    records.push_back(record);
  }
  return records;
}

}  // namespace

std::vector<RawThread> RunDirectory::threads() const {
  std::ifstream file(path_ / "events", std::ios::binary);
  std::string events{std::istreambuf_iterator<char>(file), {}};

  struct Chunk {
    longpole_chunk header;
    std::vector<longpole_record> records;
    std::vector<longpole_record> overheads;
  };
  std::map<std::uint32_t, std::map<std::uint32_t, Chunk>> chunks;
  const std::size_t claimed = std::size_t{control_->next_unit} * LONGPOLE_UNIT_BYTES;
  events.resize(std::max(events.size(), claimed));  // a chunk's end that was not needed
  for (std::size_t at = 0; at + sizeof(longpole_chunk) <= std::min(claimed, events.size());) {
    Chunk chunk;
    std::memcpy(&chunk.header, events.data() + at, sizeof(chunk.header));
    const std::size_t bytes = chunk.header.bytes;
    if (bytes == 0) {
      at += LONGPOLE_UNIT_BYTES;
      continue;
    }
    EXPECT_EQ(bytes % LONGPOLE_UNIT_BYTES, 0U);
    const bool is_encoded = chunk.header.form == LONGPOLE_FORM_ENCODED;
    if (chunk.header.form == LONGPOLE_FORM_NOTHING ||
        (is_encoded && static_cast<unsigned char>(
                           events[at + sizeof(chunk.header) + chunk.header.encoded_bytes]) !=
                           LONGPOLE_END_OF_RECORDS)) {
      at += bytes;
      continue;
    }
    std::vector<longpole_record> slots;
    if (is_encoded) {
      slots = decoded(events.data() + at + sizeof(chunk.header), chunk.header.encoded_bytes);
      EXPECT_EQ(chunk.header.used, sizeof(chunk.header) + slots.size() * sizeof(longpole_record));
    } else {
      slots.resize((bytes - sizeof(chunk.header)) / sizeof(longpole_record));
      std::memcpy(slots.data(), events.data() + at + sizeof(chunk.header),
                  slots.size() * sizeof(longpole_record));
    }
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (kind_of(slots[slot]) == LONGPOLE_OVERHEAD) {
        chunk.overheads.push_back(slots[slot]);
      } else if (kind_of(slots[slot]) != LONGPOLE_NOTHING) {
        EXPECT_TRUE(chunk.header.used == 0 ||
                    sizeof(chunk.header) + slot * sizeof(longpole_record) < chunk.header.used)
            << "a record behind `used`";
        chunk.records.push_back(slots[slot]);
      }
    }
    const auto [place, is_new] = chunks[chunk.header.thread].emplace(chunk.header.sequence, chunk);
    // A process that ends between the copying and the emptying of a chunk leaves it twice.
    EXPECT_TRUE(is_new || are_the_same(place->second.records, chunk.records))
        << "thread " << chunk.header.thread << " has two chunks " << place->second.header.sequence;
    at += bytes;
  }

  std::vector<RawThread> threads;
  for (const auto& [number, sequence] : chunks) {
    RawThread thread;
    thread.number = number;
    for (const auto& [index, chunk] : sequence) {
      EXPECT_EQ(index, thread.chunks) << "a chunk of thread " << number << " is missing";
      ++thread.chunks;
      thread.tid = chunk.header.tid;
      thread.creator = chunk.header.creator;
      thread.start_function = chunk.header.start_function;
      thread.handle = chunk.header.handle;
      thread.overheads.insert(thread.overheads.end(), chunk.overheads.begin(),
                              chunk.overheads.end());
      thread.records.insert(thread.records.end(), chunk.records.begin(), chunk.records.end());
    }
    threads.push_back(std::move(thread));
  }
  return threads;
}

std::vector<longpole_record> of_kind(const RawThread& thread, longpole_kind kind) {
  std::vector<longpole_record> found;
  std::copy_if(thread.records.begin(), thread.records.end(), std::back_inserter(found),
               [kind](const longpole_record& record) {
                 return kind_of(record) == static_cast<unsigned>(kind);
               });
  return found;
}

std::vector<longpole_record> of_kind(const std::vector<RawThread>& threads, longpole_kind kind) {
  std::vector<longpole_record> found;
  for (const RawThread& thread : threads) {
    const auto part = of_kind(thread, kind);
    found.insert(found.end(), part.begin(), part.end());
  }
  return found;
}

}  // namespace longpole::test
