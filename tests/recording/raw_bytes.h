// Builds by hand what the recorder and the kernel write, for tests of what reads it.
#pragma once

#include <linux/perf_event.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "longpole/raw_record.h"
#include "recording/perf_records.h"

namespace longpole::recording {

template <typename T>
void append(std::vector<std::uint8_t>& bytes, const T& value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

struct RecordFields {
  unsigned kind = 0;
  std::uint64_t tsc = 0;
  std::uint64_t object = 0;
  std::uint64_t site = 0;
  unsigned flags = 0;
  int result = 0;
  std::uint64_t other = 0;
};

// An events file of mapped chunks. Every thread gets one.
class EventsFile {
 public:
  void add_thread(std::uint32_t number, std::int32_t tid, const std::vector<RecordFields>& records,
                  std::uint64_t start_function = 0, std::uint64_t handle = 0,
                  std::uint32_t sequence = 0) {
    longpole_chunk header{};
    header.thread = number;
    header.sequence = sequence;
    header.tid = tid;
    header.start_function = start_function;
    header.handle = handle;
    header.bytes = LONGPOLE_CHUNK_BYTES;
    const std::size_t start = bytes_.size();
    append(bytes_, header);
    for (const RecordFields& fields : records) {
      longpole_record record{};
      record.tsc = fields.tsc;
      record.object = fields.object;
      record.site = fields.site;
      record.other_low = static_cast<std::uint32_t>(fields.other);
      record.other_high = static_cast<std::uint16_t>(fields.other >> 32U);
      record.result = static_cast<std::uint8_t>(fields.result);
      record.kind_and_flags = static_cast<std::uint8_t>(fields.kind | fields.flags << 6U);
      append(bytes_, record);
    }
    bytes_.resize(start + LONGPOLE_CHUNK_BYTES);
  }

  // A chunk of records that are encoded, or of anything.
  void add_encoded(std::uint32_t number, std::uint32_t sequence,
                   std::span<const std::uint8_t> encoded) {
    longpole_chunk header{};
    header.thread = number;
    header.sequence = sequence;
    header.form = LONGPOLE_FORM_ENCODED;
    header.encoded_bytes = static_cast<std::uint32_t>(encoded.size());
    const std::size_t units =
        (sizeof header + encoded.size() + LONGPOLE_UNIT_BYTES) / LONGPOLE_UNIT_BYTES;
    header.bytes = static_cast<std::uint32_t>(units * LONGPOLE_UNIT_BYTES);
    const std::size_t start = bytes_.size();
    append(bytes_, header);
    bytes_.insert(bytes_.end(), encoded.begin(), encoded.end());
    bytes_.push_back(LONGPOLE_END_OF_RECORDS);
    bytes_.resize(start + header.bytes);
  }

  [[nodiscard]] std::vector<std::uint8_t>& bytes() { return bytes_; }
  [[nodiscard]] std::uint32_t units() const {
    return static_cast<std::uint32_t>(bytes_.size() / LONGPOLE_UNIT_BYTES);
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

// The records of one CPU of a program with pid 100.
class PerfSpool {
 public:
  static constexpr std::int32_t pid = 100;

  void in(std::int64_t time, std::int32_t tid) { record(PERF_RECORD_SWITCH, 0, {}, time, tid); }
  void out(std::int64_t time, std::int32_t tid, bool preempted = false) {
    const auto misc = static_cast<std::uint16_t>(
        PERF_RECORD_MISC_SWITCH_OUT | (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
    record(PERF_RECORD_SWITCH, misc, {}, time, tid);
  }
  void exec(std::int64_t time, std::int32_t tid) {
    std::vector<std::uint8_t> body;
    append(body, std::uint64_t{pid} | static_cast<std::uint64_t>(tid) << 32U);
    append(body, std::uint64_t{'a'});
    record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, body, time, tid);
  }
  void fork(std::int64_t time, std::int32_t tid, std::int32_t parent) {
    task(PERF_RECORD_FORK, time, tid, parent);
  }
  void exit(std::int64_t time, std::int32_t tid) { task(PERF_RECORD_EXIT, time, tid, tid); }
  void lost(std::int64_t time, std::uint64_t count) {
    std::vector<std::uint8_t> body;
    append(body, std::uint64_t{1});
    append(body, count);
    record(PERF_RECORD_LOST, 0, body, time, 0);
  }
  void sample(std::int64_t time, std::int32_t tid, const std::vector<std::uint64_t>& addresses) {
    put(PERF_RECORD_SAMPLE, 0, sample_body(time, tid, addresses));
  }
  static std::vector<std::uint8_t> sample_body(std::int64_t time, std::int32_t tid,
                                               const std::vector<std::uint64_t>& addresses) {
    std::vector<std::uint8_t> body;
    append(body, addresses.empty() ? std::uint64_t{0} : addresses.front());
    append(body, pid);
    append(body, tid);
    append(body, time);
    append(body, std::uint64_t{0});
    append(body, std::uint64_t{addresses.size() + 1});
    append(body, static_cast<std::uint64_t>(PERF_CONTEXT_USER));
    for (const std::uint64_t address : addresses)
      append(body, address);
    return body;
  }
  // With the user's registers, all `registers`, and a stack of which `valid` bytes were copied.
  void sample_with_stack(std::int64_t time, std::int32_t tid,
                         const std::vector<std::uint64_t>& addresses, std::uint64_t registers,
                         std::size_t stack_bytes, std::uint64_t valid) {
    std::vector<std::uint8_t> body = sample_body(time, tid, addresses);
    append(body, std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
    for (int i = 0; i < std::popcount(sampled_registers()); ++i)
      append(body, registers);
    append(body, std::uint64_t{stack_bytes});
    body.resize(body.size() + stack_bytes, 7);
    append(body, valid);
    put(PERF_RECORD_SAMPLE, 0, body);
  }
  // Of the scheduler's tracepoints, as `tracepoints` has them. `flags`: in an interrupt or not.
  static constexpr Tracepoints tracepoints = {375, 24, 372, 2};
  void waking(std::int64_t time, std::int32_t tid, std::int32_t woken,
              const std::vector<std::uint64_t>& addresses, std::uint8_t flags = 0) {
    std::vector<std::uint8_t> raw(44);
    raw[2] = flags;
    std::memcpy(raw.data() + 24, &woken, sizeof woken);
    tracepoint(375, time, tid, addresses, raw);
  }
  void blocking(std::int64_t time, std::int32_t tid, const std::vector<std::uint64_t>& addresses) {
    tracepoint(372, time, tid, addresses, std::vector<std::uint8_t>(68));
  }
  void mapping(std::int64_t time, std::uint64_t start, std::uint64_t length, std::uint64_t offset,
               const std::string& path) {
    std::vector<std::uint8_t> body;
    append(body, pid);
    append(body, pid);
    append(body, start);
    append(body, length);
    append(body, offset);
    for (int i = 0; i < 4; ++i)
      append(body, std::uint64_t{0});
    std::string padded = path;
    padded.resize((path.size() / 8 + 1) * 8);
    body.insert(body.end(), padded.begin(), padded.end());
    record(PERF_RECORD_MMAP2, 0, body, time, pid);
  }
  // Of some other process: a child of the program.
  void in_of(std::int32_t other_pid, std::int64_t time, std::int32_t tid) {
    record(PERF_RECORD_SWITCH, 0, {}, time, tid, other_pid);
  }

  [[nodiscard]] std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  void tracepoint(std::uint16_t id, std::int64_t time, std::int32_t tid,
                  const std::vector<std::uint64_t>& addresses, std::vector<std::uint8_t> raw) {
    std::memcpy(raw.data(), &id, sizeof id);
    std::vector<std::uint8_t> body = sample_body(time, tid, addresses);
    append(body, static_cast<std::uint32_t>(raw.size()));
    body.insert(body.end(), raw.begin(), raw.end());
    append(body, std::uint64_t{PERF_SAMPLE_REGS_ABI_NONE});
    append(body, std::uint64_t{0});
    put(PERF_RECORD_SAMPLE, 0, body);
  }
  void task(std::uint32_t type, std::int64_t time, std::int32_t tid, std::int32_t parent) {
    std::vector<std::uint8_t> body;
    append(body, pid);
    append(body, pid);
    append(body, tid);
    append(body, parent);
    append(body, time);
    record(type, 0, body, time, parent);
  }
  void record(std::uint32_t type, std::uint16_t misc, std::vector<std::uint8_t> body,
              std::int64_t time, std::int32_t tid, std::int32_t of_pid = pid) {
    append(body, of_pid);
    append(body, tid);
    append(body, time);
    append(body, std::uint64_t{0});
    put(type, misc, body);
  }
  void put(std::uint32_t type, std::uint16_t misc, const std::vector<std::uint8_t>& body) {
    perf_event_header header{};
    header.type = type;
    header.misc = misc;
    header.size = static_cast<std::uint16_t>(sizeof header + body.size());
    append(bytes_, header);
    bytes_.insert(bytes_.end(), body.begin(), body.end());
  }

  std::vector<std::uint8_t> bytes_;
};

}  // namespace longpole::recording
