// Address → function, file, line, inlined frames; through elfutils libdw.
//
// A SymbolTable is filled while a recording is made and then moved into the Recording, so that the
// file can be read on another machine. Ids are given in order of first request, so the same
// requests give the same tables. Nothing here fails: what cannot be read gives poorer names.
// Single-threaded; made for millions of requests about few thousand different addresses.
//
//   SymbolTable symbols;
//   symbols.add_mapping({"/usr/bin/pigz", 0x55d0…, 0x55d0…, 0x3000});
//   StackId where = symbols.stack(addresses);   // innermost first, as the kernel gives them
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/recording.h"

namespace longpole::symbols {

// A stretch of the program's address space that holds a file, as in /proc/PID/maps. Executable
// mappings resolve code; the others resolve objects.
struct Mapping {
  std::string path;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
};

enum class Addresses : bool {
  exact,    // the innermost address is that of an instruction (a sample): the rest are returns
  returns,  // all are return addresses (a call site): each is looked up one byte earlier
};

class SymbolTable {
 public:
  // Separate debug information is looked for by build id below `debug_directory`.
  explicit SymbolTable(std::string debug_directory = "/usr/lib/debug");
  ~SymbolTable();
  SymbolTable(SymbolTable&&) noexcept;
  SymbolTable& operator=(SymbolTable&&) noexcept;

  // Later mappings replace earlier ones where they overlap; one without a path (anonymous memory)
  // just unmaps. A file that cannot be read, or has no symbol at an address, gives one function for
  // all such places, "[libz.so.1.2.13]", so that their time adds up to one row.
  void add_mapping(const Mapping& mapping);

  // The call path of code addresses, innermost first, inlined frames expanded. Frames in unmapped
  // memory end the path. Returns none for a path without a single frame.
  [[nodiscard]] StackId stack(std::span<const std::uint64_t> addresses, Addresses addresses_are);

  // The function that starts at or contains `address`: a thread's start function.
  [[nodiscard]] FunctionId function(std::uint64_t address);

  // The name of the variable at a data address ("list_mutex", "queue+16"), if the symbol tables or
  // the debug information know one.
  [[nodiscard]] std::optional<std::string> object_name(std::uint64_t address);

  // The innermost frame of the user's own code on the path (see analysis/study.h); none if it has
  // none.
  [[nodiscard]] StackId user_frame(StackId stack) const;
  [[nodiscard]] const Stack& frame(StackId stack) const;
  [[nodiscard]] const File& file(FileId file) const;
  [[nodiscard]] const Function& function(FunctionId function) const;

  // Moves the tables (modules, files with their hashes, functions, stacks) into `recording`. The
  // ids that were handed out are ids there. The SymbolTable is empty afterwards.
  void move_into(Recording& recording);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace longpole::symbols
