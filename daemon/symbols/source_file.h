// Source files by name: what is the user's own, what belongs to the system, what is in them.
#pragma once

#include <string>

namespace longpole::symbols {

// The name a source file goes by: without "." and ".." where the name alone decides them.
[[nodiscard]] std::string normalised(const char* path);

// Whether code of this file is the system's, to be charged to its caller. So is what lies in
// /usr/include, /usr/lib, /usr/src and their like, what a compiler brings along wherever it is
// installed, and, in a library of the system, every file that is not on this machine: distributions
// compile under names like "./nptl/pthread_create.c" or "/build/zlib-1.2.13/inflate.c".
[[nodiscard]] bool is_system_source(const std::string& path, const std::string& module_path);

// SHA-256 of the content, hexadecimal; empty if it is not a file that can be read whole.
[[nodiscard]] std::string sha256_of_file(const std::string& path);

}  // namespace longpole::symbols
