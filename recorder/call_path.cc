#include "call_path.h"

#include <link.h>
#include <sys/uio.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "process.h"
#include "thread_log.h"

namespace longpole::recorder {

namespace {

constexpr std::size_t kWords = 256;
constexpr std::size_t kCandidates = 8;

struct Stack {
  std::uintptr_t words[kWords];
  bool behind_call[kWords];
  std::size_t count;
};

#if defined(__x86_64__)
bool is_behind_call(std::uintptr_t address, std::uintptr_t segment_start) {
  constexpr std::uintptr_t kLongestCall = 7;
  if (address - segment_start < kLongestCall) {
    return false;
  }
  const auto* code = reinterpret_cast<const unsigned char*>(address);
  const auto is_indirect_call = [code](std::ptrdiff_t length) {  // FF /2
    return code[-length] == 0xff && (code[1 - length] & 0x38) == 0x10;
  };
  return code[-5] == 0xe8 || is_indirect_call(2) || is_indirect_call(3) || is_indirect_call(4) ||
         is_indirect_call(6) || is_indirect_call(7);
}
#else
bool is_behind_call(std::uintptr_t address, std::uintptr_t segment_start) {
  if (address % 4 != 0 || address - segment_start < 4) {
    return false;
  }
  const std::uint32_t instruction = *reinterpret_cast<const std::uint32_t*>(address - 4);
  return (instruction & 0xfc000000u) == 0x94000000u || (instruction & 0xfffffc1fu) == 0xd63f0000u;
}
#endif

int mark_calls(dl_phdr_info* object, std::size_t /*size*/, void* argument) {
  auto& stack = *static_cast<Stack*>(argument);
  for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_R | PF_X)) != (PF_R | PF_X)) {
      continue;
    }
    const std::uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    for (std::size_t w = 0; w < stack.count; ++w) {
      if (stack.words[w] - start < segment.p_memsz && is_behind_call(stack.words[w], start)) {
        stack.behind_call[w] = true;
      }
    }
  }
  return 0;
}

}  // namespace

__attribute__((noinline)) void record_call_path(const void* frame) {
  // Past the caller's frame pointer and the return address, which the record itself has.
  constexpr std::uintptr_t kOwnPart = 2 * sizeof(void*);
  const std::uint64_t begin = stamp();
  const int errno_before = errno;
  Stack stack;
  const iovec to{stack.words, sizeof(stack.words)};
  const iovec from{reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(frame) + kOwnPart),
                   sizeof(stack.words)};
  const ssize_t read = process_vm_readv(control().pid, &to, 1, &from, 1, 0);
  errno = errno_before;
  if (read <= 0) {
    return;
  }
  stack.count = static_cast<std::size_t>(read) / sizeof(std::uintptr_t);
  for (std::size_t w = 0; w < stack.count; ++w) {
    stack.behind_call[w] = false;
  }
  dl_iterate_phdr(&mark_calls, &stack);

  std::uintptr_t candidates[kCandidates];
  std::size_t found = 0;
  for (std::size_t w = 0; w < stack.count && found < kCandidates; ++w) {
    if (stack.behind_call[w]) {
      candidates[found++] = stack.words[w];
    }
  }
  for (std::size_t c = 0; c < found; c += 2) {
    const std::uint64_t second = c + 1 < found ? candidates[c + 1] : 0;
    write_record(stamp(), LONGPOLE_FRAMES, 0, candidates[c], 0, second, 0);
  }
  record_overhead(begin);
}

}  // namespace longpole::recorder
