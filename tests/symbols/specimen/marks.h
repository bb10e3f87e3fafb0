// What a specimen tells the test: places in its own code and data, as addresses and as lines.
#pragma once

#include <cstdint>

// Prints "mark NAME ADDRESS LINE", ADDRESS being where the call returns to.
[[gnu::noinline]] void mark(const char* name, int line);
// Prints "object NAME ADDRESS".
void object(const char* name, const volatile void* address);
// Prints "function NAME ADDRESS".
void function(const char* name, std::uintptr_t address);
// Prints the mappings of the process, a line "map …" each.
void print_mappings();

// Keeps the compiler from making the call before it a jump.
#define MARK(name)        \
  do {                    \
    mark(name, __LINE__); \
    asm volatile("");     \
  } while (false)
