#include "next_definition.h"

#include <elf.h>
#include <link.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace longpole::recorder {

NextDefinitions resolved_next;
Attempts attempts;
bool vfork_is_of_libc = false;
bool semaphores_are_of_libc = false;
bool next_definitions_are_resolved = false;

namespace {

constexpr const char* kNames[] = {
#define LONGPOLE_NAME(name) #name,
    LONGPOLE_NEXT_DEFINITIONS(LONGPOLE_NAME)
#undef LONGPOLE_NAME
};
constexpr std::size_t kCount = sizeof(kNames) / sizeof(kNames[0]);
static_assert(sizeof(NextDefinitions) == kCount * sizeof(void*));

constexpr std::uint16_t kHiddenVersion = 0x8000;  // of a symbol that is not the default version

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) {
    hash = hash * 33 + static_cast<unsigned char>(*name);
  }
  return hash;
}

// The dynamic symbols of one loaded object.
class SymbolTable {
 public:
  explicit SymbolTable(const dl_phdr_info& object) : base_(object.dlpi_addr) {
    for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
      if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) {
        continue;
      }
      for (auto* entry = at<ElfW(Dyn)>(base_ + object.dlpi_phdr[i].p_vaddr);
           entry->d_tag != DT_NULL; ++entry) {
        take(*entry);
      }
    }
  }

  [[nodiscard]] void* default_definition(const char* name) const {
    if (symbols_ == nullptr || names_ == nullptr || hash_table_ == nullptr) {
      return nullptr;
    }
    const std::uint32_t bucket_count = hash_table_[0];
    const std::uint32_t first_symbol = hash_table_[1];
    const std::uint32_t bloom_words = hash_table_[2];
    const std::uint32_t* buckets =
        hash_table_ + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
    const std::uint32_t* chain = buckets + bucket_count;
    if (bucket_count == 0) {
      return nullptr;
    }
    const std::uint32_t hash = gnu_hash(name);
    std::uint32_t index = buckets[hash % bucket_count];
    if (index < first_symbol) {
      return nullptr;
    }
    for (;; ++index) {
      const std::uint32_t link = chain[index - first_symbol];
      if ((link | 1u) == (hash | 1u) && is_default_function(index, name)) {
        return at<void>(base_ + symbols_[index].st_value);
      }
      if ((link & 1u) != 0) {
        return nullptr;
      }
    }
  }

 private:
  template <typename T>
  static T* at(std::uintptr_t address) {
    return reinterpret_cast<T*>(address);
  }

  void take(const ElfW(Dyn) & entry) {
    // The loader has relocated these pointers in place, except in objects whose dynamic section is
    // read-only.
    const std::uintptr_t pointer =
        entry.d_un.d_ptr < base_ ? base_ + entry.d_un.d_ptr : entry.d_un.d_ptr;
    switch (entry.d_tag) {
      case DT_SYMTAB:
        symbols_ = at<const ElfW(Sym)>(pointer);
        break;
      case DT_STRTAB:
        names_ = at<const char>(pointer);
        break;
      case DT_VERSYM:
        versions_ = at<const std::uint16_t>(pointer);
        break;
      case DT_GNU_HASH:
        hash_table_ = at<const std::uint32_t>(pointer);
        break;
      default:
        break;
    }
  }

  [[nodiscard]] bool is_default_function(std::uint32_t index, const char* name) const {
    const ElfW(Sym)& symbol = symbols_[index];
    // Both word sizes keep the type in the same bits. None of the names is an indirect function.
    return symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
           (versions_ == nullptr || (versions_[index] & kHiddenVersion) == 0) &&
           std::strcmp(names_ + symbol.st_name, name) == 0;
  }

  std::uintptr_t base_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  const std::uint16_t* versions_ = nullptr;
  const std::uint32_t* hash_table_ = nullptr;
};

bool contains(const dl_phdr_info& object, std::uintptr_t address) {
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type == PT_LOAD &&
        address - (object.dlpi_addr + header.p_vaddr) < header.p_memsz) {
      return true;
    }
  }
  return false;
}

struct Search {
  void* found[kCount];
  int found_in[kCount];  // place of the object among those loaded
  int object;
  bool behind_this_library;
};

int visit(dl_phdr_info* object, std::size_t /*size*/, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  if (!search.behind_this_library) {
    search.behind_this_library = contains(*object, reinterpret_cast<std::uintptr_t>(&visit));
    return 0;
  }
  ++search.object;
  const SymbolTable table(*object);
  for (std::size_t i = 0; i < kCount; ++i) {
    if (search.found[i] == nullptr) {
      search.found[i] = table.default_definition(kNames[i]);
      search.found_in[i] = search.object;
    }
  }
  return 0;
}

template <typename Object>
int always_busy(Object* /*object*/) noexcept {
  return EBUSY;
}
int always_taken(sem_t* /*semaphore*/) noexcept {
  return -1;
}
int always_thrd_busy(mtx_t* /*mutex*/) {
  return thrd_busy;
}

// As libaio has it. A library that is loaded later may bring that, and calls ours for it.
int get_events(void* context, long least, long most, void* events, timespec* timeout) {
  const int errno_before = errno;
  const long result =
      resolved_next.syscall(SYS_io_getevents, context, least, most, events, timeout);
  const int error = errno;
  errno = errno_before;
  return result < 0 ? -error : static_cast<int>(result);
}

#define LONGPOLE_FOUND_IN(name) search.found_in[offsetof(NextDefinitions, name) / sizeof(void*)]

void choose_attempts(const Search& search) {
  const bool mutex =
      LONGPOLE_FOUND_IN(pthread_mutex_trylock) == LONGPOLE_FOUND_IN(pthread_mutex_lock);
  attempts.mutex = mutex ? resolved_next.pthread_mutex_trylock : &always_busy<pthread_mutex_t>;
  const bool read =
      LONGPOLE_FOUND_IN(pthread_rwlock_tryrdlock) == LONGPOLE_FOUND_IN(pthread_rwlock_rdlock);
  attempts.rwlock_read =
      read ? resolved_next.pthread_rwlock_tryrdlock : &always_busy<pthread_rwlock_t>;
  const bool write =
      LONGPOLE_FOUND_IN(pthread_rwlock_trywrlock) == LONGPOLE_FOUND_IN(pthread_rwlock_wrlock);
  attempts.rwlock_write =
      write ? resolved_next.pthread_rwlock_trywrlock : &always_busy<pthread_rwlock_t>;
  const bool spin = LONGPOLE_FOUND_IN(pthread_spin_trylock) == LONGPOLE_FOUND_IN(pthread_spin_lock);
  attempts.spin = spin ? resolved_next.pthread_spin_trylock : &always_busy<pthread_spinlock_t>;
  const bool semaphore = LONGPOLE_FOUND_IN(sem_trywait) == LONGPOLE_FOUND_IN(sem_wait);
  attempts.semaphore = semaphore ? resolved_next.sem_trywait : &always_taken;
  const bool mtx = LONGPOLE_FOUND_IN(mtx_trylock) == LONGPOLE_FOUND_IN(mtx_lock);
  // Which nobody else has a definition of.
  const auto libc = LONGPOLE_FOUND_IN(get_nprocs);
  vfork_is_of_libc = LONGPOLE_FOUND_IN(vfork) == libc;
  semaphores_are_of_libc = LONGPOLE_FOUND_IN(sem_init) == libc &&
                           LONGPOLE_FOUND_IN(sem_post) == libc &&
                           LONGPOLE_FOUND_IN(sem_trywait) == libc;
  attempts.mtx = mtx ? resolved_next.mtx_trylock : &always_thrd_busy;
}

#undef LONGPOLE_FOUND_IN

}  // namespace

bool resolve_next_definitions() {
  Search search{};
  dl_iterate_phdr(&visit, &search);
  auto* slots = reinterpret_cast<void**>(&resolved_next);
  for (std::size_t i = 0; i < kCount; ++i) {
    __atomic_store_n(&slots[i], search.found[i], __ATOMIC_RELAXED);
  }
  if (resolved_next.io_getevents == nullptr) {
    resolved_next.io_getevents = &get_events;
  }
  choose_attempts(search);
  const bool resolved = resolved_next.pthread_create != nullptr;
  __atomic_store_n(&next_definitions_are_resolved, resolved, __ATOMIC_RELEASE);
  return resolved;
}

}  // namespace longpole::recorder
