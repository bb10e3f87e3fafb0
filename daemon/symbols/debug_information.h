// The debug information (DWARF) of one file: code address → the functions and lines that the
// compiler made the instruction from. Through elfutils libdw.
//
// The tree of a compilation unit is walked once, when an address in it is first looked up. Addresses
// are the file's own. Damaged debug information gives fewer frames, never an error. Single-threaded.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace longpole::symbols {

// A function as its definition says, plus the extent of its code in the source.
struct FunctionSource {
  std::string name;             // demangled; empty where the debug information has none
  std::string file;             // normalised; empty: not known
  std::uint32_t line = 0;       // of the definition; 0: not known
  std::uint32_t last_line = 0;  // the last line of `file` with code of the function seen so far
};

struct SourceFrame {
  const FunctionSource* function = nullptr;
  std::string file;  // of the place; empty: not known
  std::uint32_t line = 0;
  bool inlined = false;
};

class DebugInformation {
 public:
  // Null where the file has none. `elf` must outlive the object.
  static std::unique_ptr<DebugInformation> open(Elf* elf);
  ~DebugInformation();
  DebugInformation(const DebugInformation&) = delete;
  DebugInformation& operator=(const DebugInformation&) = delete;

  [[nodiscard]] bool has_line_table() const { return has_line_table_; }

  // The frames at a code address, innermost first; the last is the function that holds the address,
  // the others were inlined into it. Empty where nothing is known.
  [[nodiscard]] std::vector<SourceFrame> frames(std::uint64_t address);

 private:
  struct Function {  // a subprogram with code
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    Dwarf_Die die{};
  };
  struct Unit {
    Dwarf_Die lines_die{};  // has the line table; of a split unit: its skeleton
    Dwarf_Die tree_die{};   // has the functions
    std::string directory;  // where it was compiled
    bool indexed = false;
    std::vector<Function> functions;           // by start
    std::vector<std::uint64_t> furthest_ends;  // of functions[0…i]
  };
  struct UnitRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::size_t unit = 0;
  };

  explicit DebugInformation(Dwarf* dwarf);
  void find_units();
  Unit* unit_of(std::uint64_t address);
  static void index(Unit& unit);
  static const Function* function_at(Unit& unit, std::uint64_t address);
  const FunctionSource& describe(Unit& unit, Dwarf_Die& die);

  Dwarf* dwarf_;
  bool has_line_table_ = false;
  std::vector<Unit> units_;
  std::vector<UnitRange> unit_ranges_;  // by start
  std::vector<std::uint64_t> unit_furthest_ends_;
  // By the place of the subprogram or inlined subroutine in the file.
  std::unordered_map<const void*, FunctionSource> described_;
};

}  // namespace longpole::symbols
