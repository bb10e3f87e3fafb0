// Call paths of code that keeps no frame pointers: from the registers and a copy of the top of the
// stack, by the tables that every module carries for exceptions (.eh_frame).
//
//   Unwinder unwinder;
//   unwinder.map("/usr/lib/…/libc.so.6", start, end, file_offset);
//   std::vector<std::uint64_t> path = unwinder.unwind(sample);   // innermost first
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace longpole::recording {

// The general registers of x86-64 by their DWARF numbers, 16: the instruction pointer.
inline constexpr std::size_t stack_pointer_register = 7;
inline constexpr std::size_t instruction_register = 16;
using Registers = std::array<std::uint64_t, 17>;

// A thread in the middle of something. The copy begins where its stack pointer points.
struct StackCopy {
  Registers registers{};
  std::span<const std::uint8_t> bytes;
};

// Single-threaded. Files are opened when a path first leads through them; what a place in a module
// asks for is worked out once.
class Unwinder {
 public:
  Unwinder();
  ~Unwinder();
  Unwinder(Unwinder&&) noexcept;
  Unwinder& operator=(Unwinder&&) noexcept;

  // Later mappings take the place of earlier ones; an empty path is memory without a file.
  void map(const std::string& path, std::uint64_t start, std::uint64_t end,
           std::uint64_t file_offset);

  // Where the thread was, and the return addresses of the calls that it was in, as far out as the
  // copy holds them. Ends at the outermost frame, at the end of the copy, and at code without
  // tables whose frame pointer leads nowhere. Accepts anything.
  [[nodiscard]] std::vector<std::uint64_t> unwind(const StackCopy& copy);

 private:
  class Module;
  struct Mapped {
    std::uint64_t end = 0;
    std::uint64_t file_offset = 0;
    Module* module = nullptr;
  };
  struct Row;

  const Row* row_of(std::uint64_t address);

  std::map<std::uint64_t, Mapped> mappings_;  // by start; they do not overlap
  std::map<std::string, std::unique_ptr<Module>> modules_;
};

// `unwound` where it goes further out than `chain`, which was followed along frame pointers; beyond
// the end of the stack copy the chain goes on where the two meet.
[[nodiscard]] std::vector<std::uint64_t> joined_path(std::vector<std::uint64_t> unwound,
                                                     const std::vector<std::uint64_t>& chain);

}  // namespace longpole::recording
