#include "recording/waiting_loop.h"

#include <capstone/capstone.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace longpole::recording {
namespace {

constexpr std::size_t most_instructions = 256;  // looked at for one sample

// By a name of its own, whatever part of it an instruction uses: "eax" and "al" are of "ax".
using Register = std::string;

Register whole_register(std::string name) {
  if (name.size() > 3 && name.substr(1, 2) == "mm")
    return name.substr(1);  // xmm, ymm, zmm
  if (name.size() >= 2 && name[0] == 'r' && name[1] >= '0' && name[1] <= '9') {
    if (name.back() == 'd' || name.back() == 'w' || name.back() == 'b')
      name.pop_back();
    return name;
  }
  if (name.size() == 3 && (name[0] == 'r' || name[0] == 'e'))
    return name.substr(1);
  if (name.size() == 3 && name[2] == 'l')
    return name.substr(0, 2);  // sil
  if (name.size() == 2 && (name[1] == 'l' || name[1] == 'h'))
    return {name[0], 'x'};
  return name;
}

struct Instruction {
  std::vector<std::size_t> next;  // places in the code, the target of a jump included
  std::set<Register> read;
  std::set<Register> written;
  std::set<Register> address;  // of `read`, what says where in memory it reads
  bool reads_memory = false;
  bool acts = false;    // calls, writes to memory, or asks the processor for something
  bool counts = false;  // see there
  bool pauses = false;
};

class Disassembler {
 public:
  explicit Disassembler(std::span<const std::uint8_t> code) : code_(code) {
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) != CS_ERR_OK) {
      handle_ = 0;
      return;
    }
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    instruction_ = cs_malloc(handle_);
  }
  ~Disassembler() {
    if (instruction_ != nullptr)
      cs_free(instruction_, 1);
    if (handle_ != 0)
      cs_close(&handle_);
  }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // None: no code.
  [[nodiscard]] std::optional<Instruction> at(std::size_t place) const;

 private:
  [[nodiscard]] Register register_name(unsigned id) const {
    const char* name = cs_reg_name(handle_, id);
    return name == nullptr ? Register() : whole_register(name);
  }
  void add_registers(Instruction& out) const;
  void add_next(Instruction& out) const;
  [[nodiscard]] bool is_in(std::uint8_t group) const {
    return cs_insn_group(handle_, instruction_, group);
  }

  std::span<const std::uint8_t> code_;
  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

bool is_zeroing(const cs_insn& instruction) {
  const cs_x86& x86 = instruction.detail->x86;
  const bool is_of_itself = x86.op_count == 2 && x86.operands[0].type == X86_OP_REG &&
                            x86.operands[1].type == X86_OP_REG &&
                            x86.operands[0].reg == x86.operands[1].reg;
  return is_of_itself && (instruction.id == X86_INS_XOR || instruction.id == X86_INS_SUB);
}

bool asks_processor(unsigned id) {
  constexpr std::array ids = {X86_INS_RDTSC,  X86_INS_RDTSCP, X86_INS_RDRAND,
                              X86_INS_RDSEED, X86_INS_RDPMC,  X86_INS_CPUID};
  return std::ranges::any_of(ids, [id](auto one) { return static_cast<unsigned>(one) == id; });
}

// Of what the instruction does with memory that is its operand of that number. Those that look are listed, and not those that
// write, for Capstone 4 takes some of these for readers ("movups [rdi], xmm0").
bool only_looks(unsigned id, std::size_t operand) {
  switch (id) {
    case X86_INS_MOV:
    case X86_INS_MOVZX:
    case X86_INS_MOVSX:
    case X86_INS_MOVSXD:
      return operand != 0;
    case X86_INS_CMP:
    case X86_INS_TEST:
    case X86_INS_XCHG:  // writes, see there
      return true;
    default:
      return false;
  }
}

// Adds or takes away a constant, or compares what is in registers.
bool counts(const cs_insn& instruction) {
  const cs_x86& x86 = instruction.detail->x86;
  const std::span operands = std::span(x86.operands).first(x86.op_count);
  const auto has = [&](x86_op_type type) {
    return std::ranges::any_of(operands, [type](const cs_x86_op& one) { return one.type == type; });
  };
  switch (instruction.id) {
    case X86_INS_ADD:
    case X86_INS_SUB:
      return has(X86_OP_IMM) && !has(X86_OP_MEM);
    case X86_INS_LEA:
      return operands.back().mem.index == X86_REG_INVALID;
    case X86_INS_INC:
    case X86_INS_DEC:
    case X86_INS_CMP:
    case X86_INS_TEST:
      return !has(X86_OP_MEM);
    default:
      return false;
  }
}

void Disassembler::add_registers(Instruction& out) const {
  cs_regs read{};
  cs_regs written{};
  std::uint8_t reads = 0;
  std::uint8_t writes = 0;
  if (cs_regs_access(handle_, instruction_, read, &reads, written, &writes) != CS_ERR_OK) {
    out.acts = true;
    return;
  }
  if (!is_zeroing(*instruction_))
    for (const std::uint16_t id : std::span(read).first(reads))
      out.read.insert(register_name(id));
  for (const std::uint16_t id : std::span(written).first(writes))
    out.written.insert(register_name(id));
  for (std::set<Register>* set : {&out.read, &out.written})
    set->erase("ip");
}

void Disassembler::add_next(Instruction& out) const {
  const cs_x86& x86 = instruction_->detail->x86;
  const bool jumps = is_in(X86_GRP_JUMP);
  const bool ends = is_in(X86_GRP_RET) || is_in(X86_GRP_IRET) || instruction_->id == X86_INS_UD2 ||
                    instruction_->id == X86_INS_HLT || instruction_->id == X86_INS_JMP;
  if (!ends)
    out.next.push_back(instruction_->address + instruction_->size);
  if (jumps && x86.op_count == 1 && x86.operands[0].type == X86_OP_IMM)
    out.next.push_back(static_cast<std::size_t>(x86.operands[0].imm));
}

std::optional<Instruction> Disassembler::at(std::size_t place) const {
  if (instruction_ == nullptr || place >= code_.size())
    return std::nullopt;
  const std::uint8_t* bytes = code_.data() + place;
  std::size_t left = code_.size() - place;
  std::uint64_t address = place;
  if (!cs_disasm_iter(handle_, &bytes, &left, &address, instruction_))
    return std::nullopt;
  Instruction out;
  add_registers(out);
  add_next(out);
  out.counts = counts(*instruction_);
  out.pauses = instruction_->id == X86_INS_PAUSE;
  out.acts = out.acts || is_in(X86_GRP_CALL) || is_in(X86_GRP_INT) || is_in(X86_GRP_PRIVILEGE) ||
             instruction_->id == X86_INS_SYSCALL || asks_processor(instruction_->id);
  const cs_x86& x86 = instruction_->detail->x86;
  for (std::size_t i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& operand = x86.operands[i];
    if (operand.type != X86_OP_MEM || instruction_->id == X86_INS_LEA ||
        instruction_->id == X86_INS_NOP)
      continue;
    out.reads_memory = true;
    out.acts = out.acts || !only_looks(instruction_->id, i);
    for (const x86_reg id : {operand.mem.base, operand.mem.index})
      if (id != X86_REG_INVALID && id != X86_REG_RIP)
        out.address.insert(register_name(id));
  }
  return out;
}

// The shortest way from there back to there; empty: there is none nearby.
std::vector<Instruction> shortest_loop(const Disassembler& code, std::size_t start) {
  std::map<std::size_t, Instruction> seen;
  std::map<std::size_t, std::size_t> from;
  std::deque<std::size_t> to_see = {start};
  while (!to_see.empty() && seen.size() < most_instructions) {
    const std::size_t place = to_see.front();
    to_see.pop_front();
    if (seen.contains(place))
      continue;
    std::optional<Instruction> instruction = code.at(place);
    if (!instruction)
      continue;
    const std::vector<std::size_t> next = instruction->next;
    seen.emplace(place, *std::move(instruction));
    for (const std::size_t target : next) {
      if (target == start) {
        std::vector<Instruction> loop;
        for (std::size_t back = place; back != start; back = from.at(back))
          loop.push_back(seen.at(back));
        loop.push_back(seen.at(start));
        std::ranges::reverse(loop);
        return loop;
      }
      if (from.emplace(target, place).second)
        to_see.push_back(target);
    }
  }
  return {};
}

bool waits(const std::vector<Instruction>& loop) {
  if (loop.empty())
    return false;
  if (std::ranges::any_of(loop, &Instruction::pauses))
    return true;
  if (std::ranges::any_of(loop, &Instruction::acts) ||
      std::ranges::none_of(loop, &Instruction::reads_memory))
    return false;

  // What builds on the lap before: what is written and was read before, and what is made of that. Who starts with all that
  // is written finds the rest in as many laps as there are instructions, at most.
  std::set<Register> carried;
  for (const Instruction& instruction : loop)
    carried.insert(instruction.written.begin(), instruction.written.end());
  const auto is_carried = [&](const Register& name) { return carried.contains(name); };
  for (std::size_t lap = 0; lap <= loop.size(); ++lap)
    for (const Instruction& instruction : loop) {
      const bool builds_on_it = std::ranges::any_of(instruction.read, is_carried);
      for (const Register& name : instruction.written) {
        if (builds_on_it)
          carried.insert(name);
        else
          carried.erase(name);
      }
    }

  // The flags may, for they are asked of the counter.
  const Register flags = "rflags";
  return std::ranges::all_of(loop, [&](const Instruction& instruction) {
    return std::ranges::none_of(instruction.address, is_carried) &&
           (instruction.counts || std::ranges::none_of(instruction.read, [&](const Register& name) {
              return is_carried(name) && name != flags;
            }));
  });
}

}  // namespace

bool is_in_waiting_loop(std::span<const std::uint8_t> code, std::size_t at) {
  return waits(shortest_loop(Disassembler(code), at));
}

}  // namespace longpole::recording
