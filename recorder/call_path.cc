#include "call_path.h"

#include <link.h>
#include <sys/uio.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "next_definition.h"
#include "process.h"
#include "program_memory.h"
#include "thread_log.h"

namespace longpole::recorder {

namespace {

constexpr std::size_t kWords = 256;
constexpr std::size_t kCandidates = 8;

constexpr std::size_t kLongestCall = 8;  // and its alignment

// `code`: the bytes in front of the address.
#if defined(__x86_64__)
bool ends_with_call(std::uintptr_t /*address*/, const unsigned char (&code)[kLongestCall]) {
  const unsigned char* const end = code + kLongestCall;
  const auto is_indirect_call = [end](std::ptrdiff_t length) {  // FF /2
    return end[-length] == 0xff && (end[1 - length] & 0x38) == 0x10;
  };
  return end[-5] == 0xe8 || is_indirect_call(2) || is_indirect_call(3) || is_indirect_call(4) ||
         is_indirect_call(6) || is_indirect_call(7);
}
#else
bool ends_with_call(std::uintptr_t address, const unsigned char (&code)[kLongestCall]) {
  std::uint32_t instruction;
  std::memcpy(&instruction, code + kLongestCall - sizeof(instruction), sizeof(instruction));
  return address % sizeof(instruction) == 0 &&
         ((instruction & 0xfc000000u) == 0x94000000u || (instruction & 0xfffffc1fu) == 0xd63f0000u);
}
#endif

struct Range {
  std::uintptr_t start;
  std::uintptr_t bytes;

  [[nodiscard]] bool contains(std::uintptr_t address) const { return address - start < bytes; }
  [[nodiscard]] bool may_return_to(std::uintptr_t address) const {
    return contains(address) && address - start >= kLongestCall;
  }
};

constexpr bool is_readable_code(const ElfW(Phdr) & segment) {
  return segment.p_type == PT_LOAD && (segment.p_flags & (PF_R | PF_X)) == (PF_R | PF_X);
}

// The code of loaded objects, found without a lock: fork() leaves the loader's locked in the child where another thread
// of its parent had it.
class LoadedCode {
 public:
  enum class Place : std::uint8_t { kCode, kData, kNoObject };

  Place place_of(std::uintptr_t address) {
    const Object* const object = object_of(address);
    if (object == nullptr) {
      return Place::kNoObject;
    }
    return object->code.may_return_to(address) ? Place::kCode : Place::kData;
  }

 private:
  struct Object {
    Range whole;
    Range code;
  };

  const Object* object_of(std::uintptr_t address) {
    for (const Object& known : objects_) {
      if (known.whole.contains(address)) {
        return &known;
      }
    }
    dl_find_object found;
    if (resolved_next._dl_find_object(reinterpret_cast<void*>(address), &found) != 0) {
      return nullptr;
    }
    const auto start = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
    Object& object = objects_[next_++ % kMostObjects];
    object.whole = {start, reinterpret_cast<std::uintptr_t>(found.dlfo_map_end) - start};
    object.code = code_of(start, found.dlfo_link_map->l_addr, address);
    return &object;
  }

  // An object has one segment of code as a rule; of several, that with the address.
  static Range code_of(std::uintptr_t start, std::uintptr_t base, std::uintptr_t address) {
    constexpr std::size_t kMostSegments = 16;
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[kMostSegments];
    if (read_memory(start, &header, sizeof(header)) != sizeof(header) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
      return {};
    }
    const std::size_t count =
        read_memory(start + header.e_phoff, segments,
                    (header.e_phnum < kMostSegments ? header.e_phnum : kMostSegments) *
                        sizeof(segments[0])) /
        sizeof(segments[0]);
    Range code{};
    for (std::size_t i = 0; i < count; ++i) {
      const Range range{base + segments[i].p_vaddr, segments[i].p_memsz};
      if (is_readable_code(segments[i]) && (code.bytes == 0 || range.contains(address))) {
        code = range;
      }
    }
    return code;
  }

  static constexpr std::size_t kMostObjects = 4;
  Object objects_[kMostObjects] = {};
  std::size_t next_ = 0;
};

struct Stack {
  std::uintptr_t words[kWords];
  std::size_t count;
};

struct Candidates {
  std::uintptr_t addresses[kCandidates];
  std::size_t count;
};

// What was found out about addresses in code: paths are much the same from one thread to the next, and each look through
// the kernel costs as much as all else. Of an object that was unloaded since it is wrong, and does no harm.
class Verdicts {
 public:
  enum class Verdict : std::uint8_t { kNotKnown, kBehindCall, kNot };

  Verdict of(std::uintptr_t address) const {
    const std::uintptr_t word = __atomic_load_n(&words_[place_of(address)], __ATOMIC_RELAXED);
    if ((word & ~kIsBehindCall) != address) {
      return Verdict::kNotKnown;
    }
    return (word & kIsBehindCall) != 0 ? Verdict::kBehindCall : Verdict::kNot;
  }
  void keep(std::uintptr_t address, bool is_behind_call) {
    __atomic_store_n(&words_[place_of(address)], address | (is_behind_call ? kIsBehindCall : 0),
                     __ATOMIC_RELAXED);
  }

 private:
  static constexpr unsigned kBits = 10;
  static constexpr std::uintptr_t kIsBehindCall = std::uintptr_t{1} << 63;

  static std::size_t place_of(std::uintptr_t address) {
    return (address * 0x9e3779b97f4a7c15u) >> (64 - kBits);
  }

  std::uintptr_t words_[1u << kBits];
};
Verdicts verdicts;

// Addresses in code, in the order in which they were found.
class Found {
 public:
  void add(std::uintptr_t address, Verdicts::Verdict verdict) {
    if (verdict == Verdicts::Verdict::kNotKnown) {
      unread_[unread_count_++] = {reinterpret_cast<void*>(address - kLongestCall), kLongestCall};
    }
    addresses_[count_] = address;
    verdicts_[count_++] = verdict;
  }
  [[nodiscard]] bool is_full() const { return count_ == kMost; }

  // Through the kernel: without the loader's lock, an object may be gone by now.
  void read_code() {
    unsigned char code[kMost][kLongestCall];
    const iovec here{code, unread_count_ * kLongestCall};
    const ssize_t read = unread_count_ != 0
                             ? process_vm_readv(control().pid, &here, 1, unread_, unread_count_, 0)
                             : 0;
    std::size_t left = read > 0 ? static_cast<std::size_t>(read) / kLongestCall : 0;
    std::size_t next = 0;
    for (std::size_t i = 0; i < count_ && left > 0; ++i) {
      if (verdicts_[i] == Verdicts::Verdict::kNotKnown) {
        const bool is_behind_call = ends_with_call(addresses_[i], code[next++]);
        --left;
        verdicts.keep(addresses_[i], is_behind_call);
        verdicts_[i] = is_behind_call ? Verdicts::Verdict::kBehindCall : Verdicts::Verdict::kNot;
      }
    }
  }

  void choose(Candidates& candidates) const {
    for (std::size_t i = 0; i < count_ && candidates.count < kCandidates; ++i) {
      if (verdicts_[i] == Verdicts::Verdict::kBehindCall) {
        candidates.addresses[candidates.count++] = addresses_[i];
      }
    }
  }

 private:
  static constexpr std::size_t kMost = 4 * kCandidates;
  std::uintptr_t addresses_[kMost];
  Verdicts::Verdict verdicts_[kMost];
  iovec unread_[kMost];
  std::size_t count_ = 0;
  std::size_t unread_count_ = 0;
};

void find_candidates(const Stack& stack, std::uintptr_t frame, Candidates& candidates) {
  constexpr std::uintptr_t kNoCode = 1u << 16;
  LoadedCode loaded;
  Found found;
  for (std::size_t w = 0; w < stack.count && !found.is_full(); ++w) {
    const std::uintptr_t word = stack.words[w];
    if (word < kNoCode || word - frame < sizeof(stack.words)) {
      continue;
    }
    const Verdicts::Verdict verdict = verdicts.of(word);
    if (verdict == Verdicts::Verdict::kNotKnown) {
      switch (loaded.place_of(word)) {
        case LoadedCode::Place::kCode:
          break;
        case LoadedCode::Place::kData:
          verdicts.keep(word, false);
          continue;
        case LoadedCode::Place::kNoObject:
          continue;
      }
    }
    if (verdict != Verdicts::Verdict::kNot) {
      found.add(word, verdict);
    }
  }
  found.read_code();
  found.choose(candidates);
}

// Before glibc 2.35.
struct Search {
  const Stack& stack;
  bool behind_call[kWords];
};

int mark_calls(dl_phdr_info* object, std::size_t /*size*/, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const Range code{object->dlpi_addr + segment.p_vaddr, segment.p_memsz};
    for (std::size_t w = 0; is_readable_code(segment) && w < search.stack.count; ++w) {
      const std::uintptr_t word = search.stack.words[w];
      unsigned char before[kLongestCall];
      if (code.may_return_to(word)) {
        std::memcpy(before, reinterpret_cast<const unsigned char*>(word) - kLongestCall,
                    kLongestCall);
        search.behind_call[w] = ends_with_call(word, before);
      }
    }
  }
  return 0;
}

void find_candidates_with_lock(const Stack& stack, Candidates& candidates) {
  Search search{stack, {}};
  dl_iterate_phdr(&mark_calls, &search);
  for (std::size_t w = 0; w < stack.count && candidates.count < kCandidates; ++w) {
    if (search.behind_call[w]) {
      candidates.addresses[candidates.count++] = stack.words[w];
    }
  }
}

}  // namespace

__attribute__((noinline)) void record_call_path(const void* frame) {
  // Past the caller's frame pointer and the return address, which the record itself has.
  constexpr std::uintptr_t kOwnPart = 2 * sizeof(void*);
  const std::uint64_t begin = stamp();
  const int errno_before = errno;
  const std::uintptr_t outside = reinterpret_cast<std::uintptr_t>(frame) + kOwnPart;
  Stack stack;
  stack.count = read_memory(outside, stack.words, sizeof(stack.words)) / sizeof(std::uintptr_t);
  Candidates found{};
  if (resolved_next._dl_find_object != nullptr) {
    find_candidates(stack, outside, found);
  } else if (control().beginning != LONGPOLE_BEGINNING_FORK) {
    find_candidates_with_lock(stack, found);
  }
  errno = errno_before;
  for (std::size_t c = 0; c < found.count; c += 2) {
    const std::uint64_t second = c + 1 < found.count ? found.addresses[c + 1] : 0;
    write_record(stamp(), LONGPOLE_FRAMES, 0, found.addresses[c], 0, second, 0);
  }
  record_overhead(begin);
}

}  // namespace longpole::recorder
