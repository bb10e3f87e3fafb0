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

inline constexpr std::size_t huge_page = std::size_t{2} << 20U;

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
  static constexpr bool is_large(std::size_t n) { return n >= 2 * huge_page / sizeof(T); }
};

template <typename T>
using LargeArray = std::vector<T, LargeAllocator<T>>;

// For a large array that nothing has been written to yet, and that will be written in so many places by
// turns that the first few entries would touch all of its huge pages.
template <typename T>
void use_small_pages(LargeArray<T>& array) {
  if (array.capacity() * sizeof(T) >= 2 * huge_page)
    static_cast<void>(madvise(array.data(), array.size() * sizeof(T), MADV_NOHUGEPAGE));
}

// Gives the huge pages of the entries from `first` up to `last` back to the system, but for those that
// hold other entries, too. The entries must not be read again.
template <typename T>
void give_back(LargeArray<T>& array, std::size_t first, std::size_t last) {
  if (array.capacity() * sizeof(T) < 2 * huge_page)
    return;
  const std::size_t begin = (first * sizeof(T) + huge_page - 1) / huge_page * huge_page;
  const std::size_t end = last * sizeof(T) / huge_page * huge_page;
  if (begin < end)
    static_cast<void>(
        madvise(reinterpret_cast<std::byte*>(array.data()) + begin, end - begin, MADV_DONTNEED));
}

}  // namespace longpole::simulation
