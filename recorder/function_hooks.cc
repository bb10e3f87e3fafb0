#include "function_hooks.h"

#include <algorithm>
#include <utility>

#include "chunk.h"
#include "next_definition.h"
#include "thread_log.h"

using namespace longpole::recorder;

namespace {

std::uint32_t most_depth = 0;

// What the thread is in, outermost first.
struct Entered {
  std::uintptr_t frame;
  const void* function;
  const void* site;
  const void* hook;  // where in the code it says that it is entered
};
struct FunctionStack {
  std::uint32_t depth;  // those that are too deep to be recorded included
  Entered entered[LONGPOLE_MOST_FUNCTION_DEPTH];
};
__thread FunctionStack* function_stack __attribute__((tls_model("initial-exec")));

// Null: the thread has ended, or is another process's, or there is no memory.
__attribute__((noinline, cold)) FunctionStack* map_function_stack() {
  const SignalsBlocked blocked;
  if (function_stack == nullptr && (thread_log.state == ThreadLog::State::kUnknown ||
                                    thread_log.state == ThreadLog::State::kLive)) {
    function_stack = static_cast<FunctionStack*>(map_memory(sizeof(FunctionStack)));
  }
  return function_stack;
}

// Further apart than this, they are on stacks of their own: a signal's, say.
constexpr std::uintptr_t kLongestJump = std::uintptr_t{1} << 20;

// A function that was left by longjmp never says so. It is gone when one is entered whose frame lies
// further out on the stack. Inlined functions share their frame and its caller with the function that
// they are inlined into, and none of them is entered twice at one place without being left.
std::uint32_t still_entered(const FunctionStack& stack, std::uint32_t known, const Entered& next) {
  const auto is_deeper = [&next](const Entered& entered) {
    return next.frame - entered.frame - 1 < kLongestJump;
  };
  const auto is_other_call = [&next](const Entered& entered) {
    return entered.frame == next.frame && entered.site != next.site;
  };
  while (known > 0 &&
         (is_deeper(stack.entered[known - 1]) || is_other_call(stack.entered[known - 1]))) {
    --known;
  }
  for (std::uint32_t i = known; i > 0 && stack.entered[i - 1].frame == next.frame; --i) {
    if (stack.entered[i - 1].hook == next.hook) {
      return i - 1;
    }
  }
  return known;
}

void enter(const Entered& next) {
  FunctionStack* const mapped = function_stack != nullptr ? function_stack : map_function_stack();
  if (mapped == nullptr) [[unlikely]] {
    return;
  }
  FunctionStack& stack = *mapped;
  const std::uint32_t known = std::min(stack.depth, most_depth);
  if (const std::uint32_t kept = still_entered(stack, known, next); kept != known) [[unlikely]] {
    stack.depth = kept;
  }
  const std::uint32_t depth = stack.depth++;
  if (depth < most_depth) {
    stack.entered[depth] = next;
    record(stamp(), {LONGPOLE_FUNCTION_ENTER, next.function, next.site}, 0,
           static_cast<int>(depth));
  }
}

void leave(const void* function) {
  if (function_stack == nullptr) [[unlikely]] {
    return;
  }
  FunctionStack& stack = *function_stack;
  if (stack.depth > most_depth) {
    --stack.depth;
    return;
  }
  std::uint32_t depth = stack.depth;
  while (depth > 0 && stack.entered[depth - 1].function != function) {
    --depth;
  }
  if (depth == 0) {
    return;  // entered before the recording began
  }
  stack.depth = depth - 1;
  record(stamp(), {LONGPOLE_FUNCTION_LEAVE, function, nullptr}, 0, static_cast<int>(depth - 1));
}

bool are_recorded() {
  return most_depth != 0 && recording();
}

}  // namespace

namespace longpole::recorder {

void set_function_depth(std::uint32_t depth) {
  most_depth = std::min<std::uint32_t>(depth, LONGPOLE_MOST_FUNCTION_DEPTH);
}

void forget_functions() {
  if (function_stack != nullptr) {
    function_stack->depth = 0;
  }
}

void* exchange_functions(void* others) {
  return std::exchange(function_stack, static_cast<FunctionStack*>(others));
}

void unmap_functions() {
  unmap_memory(function_stack, sizeof(FunctionStack));
  function_stack = nullptr;
}

void enter_and_leave(std::uintptr_t times) {
  for (std::uintptr_t i = 0; i < times; ++i) {
    __cyg_profile_func_enter(&most_depth, nullptr);
    __cyg_profile_func_exit(&most_depth, nullptr);
  }
}

}  // namespace longpole::recorder

LONGPOLE_HOOK void __cyg_profile_func_enter(void* function, void* site) {
  next().__cyg_profile_func_enter(function, site);
  if (are_recorded()) {
    enter({reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), function, site,
           LONGPOLE_SITE()});
  }
}

LONGPOLE_HOOK void __cyg_profile_func_exit(void* function, void* site) {
  if (are_recorded()) {
    leave(function);
  }
  next().__cyg_profile_func_exit(function, site);
}
