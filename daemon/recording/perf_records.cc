#include "recording/perf_records.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace longpole::recording {
namespace {

// What every record but a sample ends with, under sample_id_all with TID, TIME and CPU.
constexpr std::size_t trailer_bytes = 24;

class Cursor {
 public:
  explicit Cursor(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    if (bytes_.size() < sizeof value) {
      failed_ = true;
      bytes_ = {};
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return value;
  }
  std::string_view take_string() {
    const auto* start = reinterpret_cast<const char*>(bytes_.data());
    const std::string_view all(start, bytes_.size());
    const std::size_t length = all.find('\0');
    failed_ = failed_ || length == std::string_view::npos;
    return all.substr(0, length);
  }
  std::span<const std::uint8_t> take_bytes(std::uint64_t count) {
    failed_ = failed_ || count > bytes_.size();
    const auto taken = bytes_.first(std::min<std::uint64_t>(count, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::span<const std::uint8_t> bytes_;
  bool failed_ = false;
};

bool is_context_marker(std::uint64_t address) {
  return address >= static_cast<std::uint64_t>(PERF_CONTEXT_MAX);
}

bool is_user_address(std::uint64_t address) {
  return address != 0 && address < std::uint64_t{1} << 63U;
}

// The user's part of a call chain: it is led in by a marker, and its first address is exact.
void take_user_chain(Cursor& cursor, std::vector<std::uint64_t>& addresses) {
  const auto count = cursor.take<std::uint64_t>();
  bool in_user = false;
  for (std::uint64_t i = 0; i < count && !cursor.failed(); ++i) {
    const auto address = cursor.take<std::uint64_t>();
    if (is_context_marker(address))
      in_user = address == static_cast<std::uint64_t>(PERF_CONTEXT_USER);
    else if (in_user && is_user_address(address))
      addresses.push_back(address);
  }
}

#if defined(__x86_64__)
// By DWARF number.
constexpr std::array<unsigned, std::tuple_size_v<Registers>> sampled_order = {
    PERF_REG_X86_AX,  PERF_REG_X86_DX,  PERF_REG_X86_CX,  PERF_REG_X86_BX,  PERF_REG_X86_SI,
    PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_R8,  PERF_REG_X86_R9,
    PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14,
    PERF_REG_X86_R15, PERF_REG_X86_IP};
#else
constexpr std::array<unsigned, 0> sampled_order = {};
#endif

// PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER.
void take_stack(Cursor& cursor, StackCopy& stack) {
  if (cursor.left() == 0 || cursor.take<std::uint64_t>() != PERF_SAMPLE_REGS_ABI_64)
    return;
  for (unsigned number = 0; number < 64; ++number) {
    if ((sampled_registers() >> number & 1U) == 0)
      continue;
    const auto value = cursor.take<std::uint64_t>();
    for (std::size_t i = 0; i < sampled_order.size(); ++i)
      if (sampled_order[i] == number)
        stack.registers[i] = value;
  }
  const auto size = cursor.take<std::uint64_t>();
  if (size == 0)
    return;
  const auto copy = cursor.take_bytes(size);
  stack.bytes = copy.first(std::min<std::uint64_t>(cursor.take<std::uint64_t>(), copy.size()));
}

}  // namespace

std::uint64_t sampled_registers() {
  std::uint64_t mask = 0;
  for (const unsigned number : sampled_order)
    mask |= std::uint64_t{1} << number;
  return mask;
}

std::vector<std::uint8_t> without_stack_copies(std::span<const std::uint8_t> records, bool raw) {
  std::vector<std::uint8_t> lean;
  while (records.size() >= sizeof(perf_event_header)) {
    perf_event_header header;
    std::memcpy(&header, records.data(), sizeof header);
    if (header.size < sizeof header || header.size > records.size())
      break;
    auto record = records.first(header.size);
    records = records.subspan(header.size);
    if (header.type == PERF_RECORD_SAMPLE) {
      Cursor cursor(record.subspan(sizeof header));
      for (int i = 0; i < 4; ++i)  // instruction, ids, time, CPU
        static_cast<void>(cursor.take<std::uint64_t>());
      cursor.take_bytes(cursor.take<std::uint64_t>() * sizeof(std::uint64_t));
      if (raw)
        cursor.take_bytes(cursor.take<std::uint32_t>());
      record = record.first(record.size() - cursor.left());
      header.size = static_cast<std::uint16_t>(record.size());
    }
    const std::size_t at = lean.size();
    lean.insert(lean.end(), record.begin(), record.end());
    std::memcpy(lean.data() + at, &header, sizeof header);
  }
  lean.insert(lean.end(), records.begin(), records.end());
  return lean;
}

const PerfRecord* PerfReader::next() {
  while (rest_.size() >= sizeof(perf_event_header)) {
    perf_event_header header;
    std::memcpy(&header, rest_.data(), sizeof header);
    if (header.size < sizeof header || header.size > rest_.size()) {
      torn_ = true;
      rest_ = {};
      return nullptr;
    }
    const auto body = rest_.subspan(sizeof header, header.size - sizeof header);
    rest_ = rest_.subspan(header.size);
    if (decode(header.type, header.misc, body))
      return &record_;
  }
  torn_ = torn_ || !rest_.empty();
  return nullptr;
}

bool PerfReader::take_tracepoint(std::span<const std::uint8_t> raw) {
  const auto field = [&](auto& value, std::size_t offset) {
    const bool is_there = offset < raw.size() && sizeof value <= raw.size() - offset;
    if (is_there)
      std::memcpy(&value, raw.data() + offset, sizeof value);
    return is_there;
  };
  std::uint16_t id = 0;
  std::uint8_t flags = 0;
  if (!field(id, 0) || !field(flags, tracepoints_->flags_at) || (flags & in_interrupt) != 0)
    return false;
  record_.kind = id == tracepoints_->waking ? PerfRecord::Kind::waking : PerfRecord::Kind::blocking;
  return id == tracepoints_->switching ||
         (id == tracepoints_->waking && field(record_.woken, tracepoints_->woken_at));
}

bool PerfReader::decode(std::uint32_t type, std::uint16_t misc,
                        std::span<const std::uint8_t> body) {
  record_ = {};
  if (type == PERF_RECORD_SAMPLE) {
    Cursor cursor(body);
    const auto instruction = cursor.take<std::uint64_t>();
    record_.kind = PerfRecord::Kind::sample;
    record_.pid = cursor.take<std::int32_t>();
    record_.tid = cursor.take<std::int32_t>();
    record_.time_ns = cursor.take<std::int64_t>();
    static_cast<void>(cursor.take<std::uint64_t>());  // the CPU
    take_user_chain(cursor, record_.addresses);
    if (tracepoints_ != nullptr &&
        !take_tracepoint(cursor.take_bytes(cursor.take<std::uint32_t>())))
      return false;
    take_stack(cursor, record_.stack);
    if (record_.addresses.empty() && is_user_address(instruction))
      record_.addresses.push_back(instruction);
    return !cursor.failed();
  }
  if (body.size() < trailer_bytes)
    return false;
  Cursor trailer(body.last(trailer_bytes));
  record_.pid = trailer.take<std::int32_t>();
  record_.tid = trailer.take<std::int32_t>();
  record_.time_ns = trailer.take<std::int64_t>();
  Cursor cursor(body.first(body.size() - trailer_bytes));
  switch (type) {
    case PERF_RECORD_SWITCH:
      record_.kind = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0 ? PerfRecord::Kind::switch_out
                                                               : PerfRecord::Kind::switch_in;
      record_.preempted = (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
      return true;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
      record_.kind = type == PERF_RECORD_FORK ? PerfRecord::Kind::fork : PerfRecord::Kind::exit;
      record_.pid = cursor.take<std::int32_t>();
      static_cast<void>(cursor.take<std::int32_t>());  // the parent's pid
      record_.tid = cursor.take<std::int32_t>();
      return !cursor.failed();
    case PERF_RECORD_COMM:
      record_.kind = PerfRecord::Kind::exec;
      return (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    case PERF_RECORD_MMAP2: {
      record_.kind = PerfRecord::Kind::mapping;
      record_.pid = cursor.take<std::int32_t>();
      record_.tid = cursor.take<std::int32_t>();
      record_.start = cursor.take<std::uint64_t>();
      record_.end = record_.start + cursor.take<std::uint64_t>();
      record_.file_offset = cursor.take<std::uint64_t>();
      for (int i = 0; i < 4; ++i)  // device, inode and its generation, protection and flags
        static_cast<void>(cursor.take<std::uint64_t>());
      record_.path = cursor.take_string();
      return !cursor.failed() && record_.end > record_.start;
    }
    case PERF_RECORD_LOST:
      record_.kind = PerfRecord::Kind::lost;
      static_cast<void>(cursor.take<std::uint64_t>());  // the event's id
      record_.lost = cursor.take<std::uint64_t>();
      return !cursor.failed();
    default:
      return false;
  }
}

}  // namespace longpole::recording
