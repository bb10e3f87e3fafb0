// vfork(): the child has the memory of its parent, the thread-local part as well, until it becomes another program or
// exits. What it calls meanwhile is not the parent's. The child returns from here before its parent does, and then uses the
// stack: so the entry is no C function, and keeps its return address in a register, as glibc's does.
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <utility>

#include "function_hooks.h"
#include "lockstep.h"
#include "next_definition.h"
#include "thread_log.h"

#if defined(__x86_64__)
static_assert(SYS_vfork == 58);
__asm__(R"(
  .text
  .globl vfork
  .type vfork, @function
vfork:
  .cfi_startproc
  endbr64
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call longpole_before_vfork
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  testq %rax, %rax
  jne 1f
  popq %rdi
  .cfi_adjust_cfa_offset -8
  .cfi_register %rip, %rdi
  movl $58, %eax
  syscall
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rip, 0
  movq %rax, %rdi
  jmp longpole_behind_vfork
1:
  jmp *%rax
  .cfi_endproc
  .size vfork, .-vfork
)");
#elif defined(__aarch64__)
static_assert(SYS_clone == 220);
__asm__(R"(
  .text
  .globl vfork
  .type vfork, %function
vfork:
  .cfi_startproc
  stp x29, x30, [sp, -16]!
  .cfi_adjust_cfa_offset 16
  .cfi_rel_offset x29, 0
  .cfi_rel_offset x30, 8
  bl longpole_before_vfork
  ldp x29, x30, [sp], 16
  .cfi_adjust_cfa_offset -16
  .cfi_restore x29
  .cfi_restore x30
  cbnz x0, 1f
  mov x0, #0x4111
  mov x1, #0
  mov x8, #220
  svc #0
  b longpole_behind_vfork
1:
  mov x16, x0
  br x16
  .cfi_endproc
  .size vfork, .-vfork
)");
#endif

namespace longpole::recorder {
namespace {

// What the parent goes on with.
struct Parent {
  ThreadLog log;
  void* functions;
  lockstep::Participant* participant;
};
__thread Parent parent __attribute__((tls_model("initial-exec")));

void begin_child() {
  if (thread_log.state == ThreadLog::State::kChildOfVfork) {
    return;  // its child
  }
  parent = {thread_log, exchange_functions(nullptr), lockstep::exchange_participant(nullptr)};
  thread_log = {};
  thread_log.state = ThreadLog::State::kChildOfVfork;
}

void go_on_in_parent() {
  if (thread_log.state == ThreadLog::State::kChildOfVfork &&
      resolved_next.syscall(SYS_getpid) == control().pid) {
    thread_log = std::exchange(parent.log, {});
    exchange_functions(std::exchange(parent.functions, nullptr));
    lockstep::exchange_participant(std::exchange(parent.participant, nullptr));
  }
}

}  // namespace

extern "C" {

// Whose vfork() to call, if it is not libc's: a sanitizer's, say. Null: the system call.
__attribute__((visibility("hidden"))) decltype(&::vfork) longpole_before_vfork() {
  const auto others = next().vfork;
  if (!vfork_is_of_libc) {
    return others;
  }
  if (in_lockstep()) [[unlikely]] {
    lockstep::step_out(LONGPOLE_IO, nullptr, nullptr);
  }
  return nullptr;
}

// In the child, and then in its parent. `result`: the kernel's.
__attribute__((visibility("hidden"))) long longpole_behind_vfork(long result) {
  if (result == 0) {
    if (recording()) {
      begin_child();
    }
    return 0;
  }
  go_on_in_parent();
  if (in_lockstep()) [[unlikely]] {
    lockstep::step_in();
  }
  if (result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  return result;
}
}

}  // namespace longpole::recorder
