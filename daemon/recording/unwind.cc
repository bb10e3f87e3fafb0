#include "recording/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "recording/system.h"

namespace longpole::recording {
namespace {

constexpr std::size_t most_frames = 256;
constexpr std::size_t frame_pointer_register = 6;

// What the callee's caller had in a register: as it is, lost, or what an expression says.
struct Rule {
  enum class Kind : std::uint8_t { same, lost, expression };
  Kind kind = Kind::same;
  std::vector<Dwarf_Op> expression;
};

// The registers of the frame being left and what is known of the stack.
class Frame {
 public:
  Frame(const StackCopy& copy)
      : registers(copy.registers),
        base_(copy.registers[stack_pointer_register]),
        bytes_(copy.bytes) {}

  [[nodiscard]] std::optional<std::uint64_t> word_at(std::uint64_t address) const {
    const std::uint64_t offset = address - base_;
    if (bytes_.size() < sizeof(std::uint64_t) || offset > bytes_.size() - sizeof(std::uint64_t))
      return std::nullopt;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + offset, sizeof word);
    return word;
  }

  Registers registers;
  std::uint64_t cfa = 0;

 private:
  std::uint64_t base_;
  std::span<const std::uint8_t> bytes_;
};

// The operations that compilers, assemblers and linkers use in unwind tables; any other gives
// nothing. `start`: what stands on the stack of the expression when it begins.
class Expression {
 public:
  Expression(const Frame& frame, bool of_cfa) : frame_(frame), of_cfa_(of_cfa) {}

  // The value that the expression leaves, read from memory where it is a location.
  std::optional<std::uint64_t> value(std::span<const Dwarf_Op> operations) {
    bool is_value = of_cfa_;
    for (const Dwarf_Op& operation : operations)
      if (operation.atom == DW_OP_stack_value)
        is_value = true;
      else if (!apply(operation))
        return std::nullopt;
    if (depth_ == 0)
      return std::nullopt;
    return is_value ? std::optional(stack_[depth_ - 1]) : frame_.word_at(stack_[depth_ - 1]);
  }

 private:
  bool push(std::uint64_t value) {
    if (depth_ == stack_.size())
      return false;
    stack_[depth_++] = value;
    return true;
  }
  bool push_register(std::uint64_t number, std::uint64_t offset) {
    return number < frame_.registers.size() && push(frame_.registers[number] + offset);
  }
  bool apply(const Dwarf_Op& operation);
  bool apply_to_two(std::uint8_t atom);

  const Frame& frame_;
  bool of_cfa_;
  std::array<std::uint64_t, 16> stack_{};
  std::size_t depth_ = 0;
};

bool Expression::apply(const Dwarf_Op& operation) {
  const std::uint8_t atom = operation.atom;
  if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
    return push(atom - DW_OP_lit0);
  if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
    return push_register(atom - DW_OP_breg0, operation.number);
  switch (atom) {
    case DW_OP_bregx:
      return push_register(operation.number, operation.number2);
    case DW_OP_call_frame_cfa:
      return !of_cfa_ && push(frame_.cfa);
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
      return push(operation.number);
    case DW_OP_plus_uconst:
      if (depth_ == 0)
        return false;
      stack_[depth_ - 1] += operation.number;
      return true;
    case DW_OP_deref: {
      const auto word = depth_ != 0 ? frame_.word_at(stack_[depth_ - 1]) : std::nullopt;
      if (word)
        stack_[depth_ - 1] = *word;
      return word.has_value();
    }
    default:
      return apply_to_two(atom);
  }
}

bool Expression::apply_to_two(std::uint8_t atom) {
  if (depth_ < 2)
    return false;
  const std::uint64_t right = stack_[--depth_];
  std::uint64_t& left = stack_[depth_ - 1];
  switch (atom) {
    case DW_OP_and:
      left &= right;
      return true;
    case DW_OP_or:
      left |= right;
      return true;
    case DW_OP_plus:
      left += right;
      return true;
    case DW_OP_minus:
      left -= right;
      return true;
    case DW_OP_shl:
      left = right < 64 ? left << right : 0;
      return true;
    case DW_OP_ge:
      left = static_cast<std::int64_t>(left) >= static_cast<std::int64_t>(right) ? 1 : 0;
      return true;
    default:
      return false;
  }
}

std::vector<Dwarf_Op> copied(const Dwarf_Op* operations, std::size_t count) {
  return {operations, operations + count};
}

}  // namespace

// How to leave the frame of one place.
struct Unwinder::Row {
  bool known = false;
  bool outermost = false;
  bool interrupted = false;  // the frame of a signal: what is under it was not in a call
  std::vector<Dwarf_Op> cfa;
  std::array<Rule, std::tuple_size_v<Registers>> rules;
};

class Unwinder::Module {
 public:
  explicit Module(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        elf_(file_ ? ::elf_begin(file_.get(), ELF_C_READ_MMAP, nullptr) : nullptr) {
    GElf_Ehdr header;
    if (elf_ == nullptr || ::gelf_getehdr(elf_, &header) == nullptr ||
        header.e_machine != EM_X86_64)
      return;
    std::size_t count = 0;
    ::elf_getphdrnum(elf_, &count);
    for (std::size_t i = 0; i < count; ++i)
      if (GElf_Phdr segment; ::gelf_getphdr(elf_, static_cast<int>(i), &segment) != nullptr &&
                             segment.p_type == PT_LOAD)
        segments_.push_back(segment);
    tables_ = ::dwarf_getcfi_elf(elf_);
  }
  ~Module() {
    if (tables_ != nullptr)
      ::dwarf_cfi_end(tables_);
    if (elf_ != nullptr)
      ::elf_end(elf_);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const Row& row_at(std::uint64_t file_offset) {
    const auto [place, is_new] = rows_.try_emplace(file_offset);
    if (is_new)
      fill(place->second, file_offset);
    return place->second;
  }

 private:
  void fill(Row& row, std::uint64_t file_offset) const;

  Descriptor file_;
  Elf* elf_;
  Dwarf_CFI* tables_ = nullptr;
  std::vector<GElf_Phdr> segments_;
  std::unordered_map<std::uint64_t, Row> rows_;  // by offset in the file
};

void Unwinder::Module::fill(Row& row, std::uint64_t file_offset) const {
  const auto segment = std::find_if(segments_.begin(), segments_.end(), [&](const GElf_Phdr& s) {
    return file_offset >= s.p_offset && file_offset - s.p_offset < s.p_filesz;
  });
  if (segment == segments_.end() || tables_ == nullptr)
    return;
  Dwarf_Frame* found = nullptr;
  if (::dwarf_cfi_addrframe(tables_, segment->p_vaddr + (file_offset - segment->p_offset),
                            &found) != 0)
    return;
  const std::unique_ptr<Dwarf_Frame, decltype(&::free)> frame(found, &::free);
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (::dwarf_frame_cfa(frame.get(), &operations, &count) != 0 || count == 0)
    return;
  row.cfa = copied(operations, count);
  const int return_register = ::dwarf_frame_info(frame.get(), nullptr, nullptr, &row.interrupted);
  for (std::size_t i = 0; i < row.rules.size(); ++i) {
    std::array<Dwarf_Op, 3> memory{};
    const int number = i == instruction_register ? return_register : static_cast<int>(i);
    Rule& rule = row.rules[i];
    if (::dwarf_frame_register(frame.get(), number, memory.data(), &operations, &count) != 0) {
      rule.kind = Rule::Kind::lost;
    } else if (count != 0) {
      rule.kind = Rule::Kind::expression;
      rule.expression = copied(operations, count);
    } else if (operations != nullptr) {
      // Compilers leave out what calls clobber; only for the return address it means the end.
      row.outermost = row.outermost || i == instruction_register;
      rule.kind = Rule::Kind::lost;
    }
  }
  row.known = true;
}

Unwinder::Unwinder() {
  ::elf_version(EV_CURRENT);
}
Unwinder::~Unwinder() = default;
Unwinder::Unwinder(Unwinder&&) noexcept = default;
Unwinder& Unwinder::operator=(Unwinder&&) noexcept = default;

void Unwinder::map(const std::string& path, std::uint64_t start, std::uint64_t end,
                   std::uint64_t file_offset) {
  if (end <= start)
    return;
  // What lies under the new mapping goes; what sticks out on either side stays.
  auto place = mappings_.lower_bound(start);
  if (place != mappings_.begin() && std::prev(place)->second.end > start)
    --place;
  while (place != mappings_.end() && place->first < end) {
    const auto [old_start, old] = *place;
    place = mappings_.erase(place);
    if (old_start < start)
      mappings_[old_start] = {start, old.file_offset, old.module};
    if (old.end > end)
      mappings_[end] = {old.end, old.file_offset + (end - old_start), old.module};
  }
  if (path.empty())
    return;
  std::unique_ptr<Module>& module = modules_[path];
  if (module == nullptr)
    module = std::make_unique<Module>(path);
  mappings_[start] = {end, file_offset, module.get()};
}

const Unwinder::Row* Unwinder::row_of(std::uint64_t address) {
  auto place = mappings_.upper_bound(address);
  if (place == mappings_.begin())
    return nullptr;
  --place;
  const Mapped& mapped = place->second;
  if (address >= mapped.end)
    return nullptr;
  const Row& row = mapped.module->row_at(address - place->first + mapped.file_offset);
  return row.known ? &row : nullptr;
}

namespace {

// Where there are no tables there may be a frame pointer.
bool leave_by_frame_pointer(Frame& frame) {
  const std::uint64_t pointer = frame.registers[frame_pointer_register];
  const auto caller_pointer = frame.word_at(pointer);
  const auto return_address = frame.word_at(pointer + 8);
  if (!caller_pointer || !return_address)
    return false;
  frame.registers[frame_pointer_register] = *caller_pointer;
  frame.registers[stack_pointer_register] = pointer + 16;
  frame.registers[instruction_register] = *return_address;
  return true;
}

}  // namespace

std::vector<std::uint64_t> Unwinder::unwind(const StackCopy& copy) {
  Frame frame(copy);
  std::vector<std::uint64_t> path = {copy.registers[instruction_register]};
  bool in_call = false;  // the address is one behind a call, which may belong to another place
  while (path.size() < most_frames) {
    const std::uint64_t stack_before = frame.registers[stack_pointer_register];
    const Row* row = row_of(frame.registers[instruction_register] - (in_call ? 1 : 0));
    if (row == nullptr) {
      if (!leave_by_frame_pointer(frame))
        break;
      in_call = true;
    } else {
      const auto cfa = Expression(frame, true).value(row->cfa);
      if (row->outermost || !cfa)
        break;
      frame.cfa = *cfa;
      Registers caller = frame.registers;
      caller[stack_pointer_register] = frame.cfa;
      bool left = false;
      for (std::size_t i = 0; i < caller.size(); ++i)
        if (row->rules[i].kind == Rule::Kind::expression)
          if (const auto value = Expression(frame, false).value(row->rules[i].expression); value) {
            caller[i] = *value;
            left = left || i == instruction_register;
          }
      if (!left)
        break;
      frame.registers = caller;
      in_call = !row->interrupted;
    }
    const std::uint64_t address = frame.registers[instruction_register];
    // A stack that does not shrink is none.
    if (address == 0 || (in_call && frame.registers[stack_pointer_register] <= stack_before))
      break;
    path.push_back(address);
  }
  return path;
}

std::vector<std::uint64_t> joined_path(std::vector<std::uint64_t> unwound,
                                       const std::vector<std::uint64_t>& chain) {
  if (unwound.size() <= 1)
    return chain.empty() ? unwound : chain;
  const auto meeting = std::find(chain.begin(), chain.end(), unwound.back());
  if (meeting != chain.end())
    unwound.insert(unwound.end(), std::next(meeting), chain.end());
  return unwound;
}

}  // namespace longpole::recording
