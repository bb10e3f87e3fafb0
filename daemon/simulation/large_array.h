// Arrays of one entry a segment: up to gigabytes, written once from end to end or in many streams.
//
// A LargeArray is a std::vector that asks the kernel for huge pages when it is large (a first touch
// of 4 KiB at a time cost a quarter of the simulation's time), and whose resize() leaves new entries
// uninitialized: give a value, `LargeArray<int> a(n, 0)`, where one is needed.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace longpole::simulation {

template <typename T>
class LargeAllocator {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  using value_type = T;

  LargeAllocator() = default;
  template <typename U>
  LargeAllocator(const LargeAllocator<U>& /*other*/) {}  // NOLINT: converts as allocators must

  [[nodiscard]] T* allocate(std::size_t n) {
    if (!is_large(n))
      return static_cast<T*>(::operator new(n * sizeof(T)));
    const std::size_t bytes = (n * sizeof(T) + huge_page - 1) / huge_page * huge_page;
    void* const memory = std::aligned_alloc(huge_page, bytes);
    if (memory == nullptr)
      throw std::bad_alloc();
    // Refused where the system has none: then it is as slow as any other memory.
    static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) {
    if (is_large(n))
      std::free(memory);
    else
      ::operator delete(memory);
  }

  template <typename U>
  void construct(U* /*place*/) {}
  template <typename U, typename... Args>
  void construct(U* place, Args&&... args) {
    ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20U;
  static constexpr bool is_large(std::size_t n) { return n >= 2 * huge_page / sizeof(T); }
};

template <typename T>
using LargeArray = std::vector<T, LargeAllocator<T>>;

}  // namespace longpole::simulation
