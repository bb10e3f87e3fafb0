// From the names that compilers write to the names that people wrote.
#pragma once

#include <string>

namespace longpole::symbols {

// The name of a function: "_ZN5queue4pushEi" → "queue::push(int)". Symbol versions ("@GLIBC_2.34")
// and the suffixes of clones (".cold", ".constprop.0", ".part.1") go: a function that the compiler
// split in two is one function to its author. Where nothing is left, the symbol as it is.
[[nodiscard]] std::string function_name(const char* symbol);

// Whether a library, by its path, is the runtime of OpenMP: of LLVM, of GCC or of Intel's compilers; of GCC alone.
[[nodiscard]] bool is_openmp_runtime(const std::string& path);
[[nodiscard]] bool is_openmp_of_gcc(const std::string& path);

// The name of a variable: likewise, and "count.0", a static of a C function, becomes "count".
[[nodiscard]] std::string variable_name(const char* symbol);

// What a function is called of which nothing is known but the file: "[libz.so.1.2.13]". One name a
// module, without an offset, so that its time adds up to one row.
[[nodiscard]] std::string unknown_name(const std::string& module_path);

}  // namespace longpole::symbols
