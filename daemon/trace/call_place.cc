#include "trace/call_place.h"

namespace longpole {

std::optional<CallPlace> call_place(const Recording& recording, StackId site) {
  std::optional<CallPlace> found;
  for (; site.known(); site = recording.stacks[site.index()].caller) {
    const Stack& stack = recording.stacks[site.index()];
    if (!stack.file.known() || stack.line == 0)
      continue;
    if (!recording.files[stack.file.index()].system)
      return CallPlace{stack.file, stack.line};
    if (!found)
      found = CallPlace{stack.file, stack.line};
  }
  return found;
}

}  // namespace longpole
