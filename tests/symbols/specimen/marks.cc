#include "marks.h"

#include <cinttypes>
#include <cstdio>

void mark(const char* name, int line) {
  std::printf("mark %s %" PRIxPTR " %d\n", name,
              reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)), line);
}

void object(const char* name, const volatile void* address) {
  std::printf("object %s %" PRIxPTR "\n", name, reinterpret_cast<std::uintptr_t>(address));
}

void function(const char* name, std::uintptr_t address) {
  std::printf("function %s %" PRIxPTR "\n", name, address);
}

void print_mappings() {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr)
    std::printf("map %s", line);
}
