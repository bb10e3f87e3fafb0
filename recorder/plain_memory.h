// memset and memcpy that call nobody: those of a sanitizer's runtime must not be called any more when a thread ends, and take what
// threads do with a chunk one after the other for a race.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longpole::recorder {

using PlainWord = std::uint64_t __attribute__((may_alias));

// `bytes`, a multiple of 8, of memory at a multiple of 8.
inline void clear_plainly(void* to, std::size_t bytes) {
  auto* const words = static_cast<PlainWord*>(to);
  for (std::size_t i = 0; i < bytes / sizeof(PlainWord); ++i) {
    words[i] = 0;
    __asm__ volatile("");  // else the compiler makes a memset of it
  }
}

// Likewise; what lies behind `bytes` up to the next multiple of 8 is copied, too.
inline void copy_plainly(void* to, const void* from, std::size_t bytes) {
  auto* const into = static_cast<PlainWord*>(to);
  const auto* const out_of = static_cast<const PlainWord*>(from);
  for (std::size_t i = 0; i < (bytes + sizeof(PlainWord) - 1) / sizeof(PlainWord); ++i) {
    into[i] = out_of[i];
    __asm__ volatile("");
  }
}

}  // namespace longpole::recorder
