#include "symbols/debug_information.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>

#include "symbols/names.h"
#include "symbols/source_file.h"

namespace longpole::symbols {
namespace {

// Deeper than any compiler nests; bounds the recursion on damaged trees.
constexpr int deepest_nesting = 256;

struct Range {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

std::vector<Range> ranges_of(Dwarf_Die& die) {
  std::vector<Range> out;
  Dwarf_Addr base = 0;
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  for (std::ptrdiff_t offset = 0; (offset = dwarf_ranges(&die, offset, &base, &start, &end)) > 0;) {
    if (start < end)
      out.push_back({start, end});
  }
  return out;
}

bool holds(const std::vector<Range>& ranges, std::uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& r) { return r.start <= address && address < r.end; });
}

// Calls `visit` for each child. The children of a sound tree stand one after the other in the file;
// one that points back is where a damaged tree would loop.
template <typename Visit>
void for_each_child(Dwarf_Die& parent, const Visit& visit) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0)
    return;
  for (;;) {
    if (!visit(child))
      return;
    Dwarf_Die next;
    if (dwarf_siblingof(&child, &next) != 0 || next.addr <= child.addr)
      return;
    child = next;
  }
}

// The index of the last element that starts at or before `address` and holds it, in a list sorted
// by start. `furthest[i]` is the greatest end of elements 0…i: where it lies below, nothing further
// back can hold the address.
template <typename Element>
std::optional<std::size_t> find_range(const std::vector<Element>& elements,
                                      const std::vector<std::uint64_t>& furthest,
                                      std::uint64_t address) {
  const auto after =
      std::upper_bound(elements.begin(), elements.end(), address,
                       [](std::uint64_t a, const Element& element) { return a < element.start; });
  for (auto i = static_cast<std::size_t>(after - elements.begin()); i-- > 0;) {
    if (furthest[i] <= address)
      return std::nullopt;
    if (address < elements[i].end)
      return i;
  }
  return std::nullopt;
}

template <typename Element>
std::vector<std::uint64_t> sort_by_start(std::vector<Element>& elements) {
  std::stable_sort(elements.begin(), elements.end(), [](const Element& a, const Element& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::vector<std::uint64_t> furthest;
  furthest.reserve(elements.size());
  std::uint64_t most = 0;
  for (const Element& element : elements)
    furthest.push_back(most = std::max(most, element.end));
  return furthest;
}

// The line table of a unit, rows by address.
class LineTable {
 public:
  explicit LineTable(Dwarf_Die& unit_die) {
    if (dwarf_getsrclines(&unit_die, &lines_, &count_) != 0)
      count_ = 0;
  }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] Dwarf_Line* row(std::size_t index) const { return dwarf_onesrcline(lines_, index); }
  [[nodiscard]] std::uint64_t address(std::size_t index) const {
    Dwarf_Addr address = 0;
    dwarf_lineaddr(row(index), &address);
    return address;
  }
  [[nodiscard]] std::uint32_t line(std::size_t index) const {
    int line = 0;
    return dwarf_lineno(row(index), &line) == 0 && line > 0 ? static_cast<std::uint32_t>(line) : 0;
  }
  [[nodiscard]] bool ends_sequence(std::size_t index) const {
    bool ends = false;
    return dwarf_lineendsequence(row(index), &ends) != 0 || ends;
  }
  // Of several rows at one address, the last says where the instruction comes from.
  [[nodiscard]] bool has_code(std::size_t index) const {
    return !ends_sequence(index) && index + 1 < count_ && address(index) < address(index + 1);
  }
  [[nodiscard]] const char* file(std::size_t index) const {
    return dwarf_linesrc(row(index), nullptr, nullptr);
  }
  // The first row at an address not below `address`.
  [[nodiscard]] std::size_t lower_bound(std::uint64_t address_wanted) const {
    std::size_t low = 0;
    std::size_t high = count_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (address(middle) < address_wanted)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  // The row that says where the instruction at `address` comes from. Rows without a line (0) stand
  // for what the compiler added; it belongs to the line before, within the same sequence.
  [[nodiscard]] std::optional<std::size_t> row_of(std::uint64_t address_wanted) const {
    std::size_t index = address_wanted == UINT64_MAX ? count_ : lower_bound(address_wanted + 1);
    while (index-- > 0) {
      if (ends_sequence(index))
        return std::nullopt;
      if (line(index) != 0)
        return index;
    }
    return std::nullopt;
  }

 private:
  Dwarf_Lines* lines_ = nullptr;
  std::size_t count_ = 0;
};

const char* string_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute memory;
  return dwarf_formstring(dwarf_attr_integrate(&die, name, &memory));
}

std::uint32_t number_of(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute memory;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr_integrate(&die, name, &memory), &value) != 0 || value > UINT32_MAX)
    return 0;
  return static_cast<std::uint32_t>(value);
}

// The entry that holds what all instances of a function have in common.
Dwarf_Die origin_of(Dwarf_Die die) {
  for (int steps = 0; steps < 16; ++steps) {
    Dwarf_Attribute memory;
    Dwarf_Attribute* const reference = dwarf_hasattr(&die, DW_AT_abstract_origin) != 0
                                           ? dwarf_attr(&die, DW_AT_abstract_origin, &memory)
                                           : dwarf_attr(&die, DW_AT_specification, &memory);
    Dwarf_Die next;
    if (reference == nullptr || dwarf_formref_die(reference, &next) == nullptr)
      break;
    die = next;
  }
  return die;
}

// What encloses an entry, outermost first, without the unit itself.
std::vector<Dwarf_Die> scopes_of(Dwarf_Die& die) {
  std::vector<Dwarf_Die> scopes;
  Dwarf_Die scope;
  if (dwarf_diecu(&die, &scope, nullptr, nullptr) == nullptr)
    return scopes;
  // The scope is the last child, level by level, that begins before the entry.
  for (int depth = 0; depth < deepest_nesting; ++depth) {
    std::optional<Dwarf_Die> last;
    for_each_child(scope, [&](Dwarf_Die& child) {
      if (child.addr <= die.addr)
        last = child;
      return child.addr < die.addr;
    });
    if (!last || last->addr == die.addr)
      break;
    scopes.push_back(scope = *last);
  }
  return scopes;
}

bool is_class(Dwarf_Die& die) {
  const int tag = dwarf_tag(&die);
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

// A function without a linkage name (static, or a lambda) goes by its scopes, without parameters:
// "(anonymous namespace)::sort_all", and a lambda by its line, "sort_all::{lambda:17}". An instance of it that was not
// inlined has a symbol with them, but the inlined ones have not, and all are one function.
std::string scoped_name(Dwarf_Die& die, const std::string& name) {
  Dwarf_Die origin = origin_of(die);
  std::string out;
  for (Dwarf_Die& scope : scopes_of(origin)) {
    const int tag = dwarf_tag(&scope);
    if (tag != DW_TAG_namespace && tag != DW_TAG_subprogram && !is_class(scope))
      continue;
    const char* const part = string_of(scope, DW_AT_name);
    if (part != nullptr)
      out += std::string(part) + "::";
    else if (tag == DW_TAG_namespace)
      out += "(anonymous namespace)::";
    else if (const std::uint32_t line = number_of(scope, DW_AT_decl_line);
             line != 0 && name == "operator()")
      out += "{lambda:" + std::to_string(line) + "}::";
  }
  // Of a lambda there is nothing else to call.
  return out.ends_with("}::") ? out.substr(0, out.size() - 2) : out + name;
}

std::string name_of(Dwarf_Die& die) {
  const char* linkage = string_of(die, DW_AT_linkage_name);
  if (linkage == nullptr)
    linkage = string_of(die, DW_AT_MIPS_linkage_name);
  if (linkage != nullptr)
    return function_name(linkage);
  const char* const name = string_of(die, DW_AT_name);
  return name == nullptr ? std::string() : scoped_name(die, function_name(name));
}

// Ranges of the code that was inlined into `die`, at the first level.
void collect_inlined(Dwarf_Die& die, int depth, std::vector<Range>& out,
                     const std::function<void(Dwarf_Die&)>& seen) {
  if (depth > deepest_nesting)
    return;
  for_each_child(die, [&](Dwarf_Die& child) {
    switch (dwarf_tag(&child)) {
      case DW_TAG_inlined_subroutine: {
        const std::vector<Range> ranges = ranges_of(child);
        out.insert(out.end(), ranges.begin(), ranges.end());
        seen(child);
        break;
      }
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
        collect_inlined(child, depth + 1, out, seen);
        break;
      default:
        break;
    }
    return true;
  });
}

// Appends what was inlined into `die` at `address`, outermost first. False if nothing was.
bool descend_to(Dwarf_Die& die, std::uint64_t address, int depth, std::vector<Dwarf_Die>& scopes) {
  if (depth > deepest_nesting)
    return false;
  bool found = false;
  for_each_child(die, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    const bool inlined = tag == DW_TAG_inlined_subroutine;
    if (!inlined && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
        tag != DW_TAG_catch_block)
      return true;
    const std::vector<Range> ranges = ranges_of(child);
    // A block may come without ranges of its own; what is in it has them.
    if (!holds(ranges, address) && (inlined || !ranges.empty()))
      return true;
    if (inlined)
      scopes.push_back(child);
    found = descend_to(child, address, depth + 1, scopes) || inlined;
    return !found && ranges.empty();
  });
  return found;
}

// The file that an attribute names by its number in the table of the attribute's unit, which
// link-time optimisation may have made another than the unit of `die`; null: not known.
// (dwarf_decl_file would do, but it aborts where the table is damaged.)
const char* file_of(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute memory;
  Dwarf_Attribute* const found = dwarf_attr_integrate(&die, attribute, &memory);
  Dwarf_Word number = 0;
  Dwarf_Die unit_die;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (found == nullptr || dwarf_formudata(found, &number) != 0 ||
      dwarf_cu_die(found->cu, &unit_die, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) ==
          nullptr ||
      dwarf_getsrcfiles(&unit_die, &files, &count) != 0 || number >= count)
    return nullptr;
  return dwarf_filesrc(files, number, nullptr, nullptr);
}

// Where a relative path starts is for the unit to say. But "./nptl/exit.c" of the unit in "./nptl"
// is complete: a distribution has put "." in place of the same folder in both.
std::string absolute(const char* path, const std::string& directory) {
  if (path == nullptr)
    return {};
  const bool complete = *path == '/' || directory.empty() ||
                        (directory.front() == '.' && std::strncmp(path, "./", 2) == 0);
  return normalised(complete ? path : (directory + '/' + path).c_str());
}

}  // namespace

std::unique_ptr<DebugInformation> DebugInformation::open(Elf* elf) {
  Dwarf* const dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  if (dwarf == nullptr)
    return nullptr;
  return std::unique_ptr<DebugInformation>(new DebugInformation(dwarf));
}

DebugInformation::DebugInformation(Dwarf* dwarf) : dwarf_(dwarf) {
  find_units();
}

DebugInformation::~DebugInformation() {
  dwarf_end(dwarf_);
}

// .debug_aranges would say the same, but not every compiler writes it.
void DebugInformation::find_units() {
  Dwarf_CU* cu = nullptr;
  Dwarf_CU* next = nullptr;
  std::uint8_t type = 0;
  Unit unit;
  while (dwarf_get_units(dwarf_, cu, &next, nullptr, &type, &unit.lines_die, &unit.tree_die) == 0) {
    cu = next;
    if (type != DW_UT_skeleton)
      unit.tree_die = unit.lines_die;
    else if (unit.tree_die.addr == nullptr)
      continue;  // its .dwo file is gone
    if (dwarf_hasattr(&unit.lines_die, DW_AT_stmt_list) != 0)
      has_line_table_ = true;
    const char* const directory = string_of(unit.lines_die, DW_AT_comp_dir);
    unit.directory = directory == nullptr ? "" : directory;
    for (const Range& range : ranges_of(unit.lines_die))
      unit_ranges_.push_back({range.start, range.end, units_.size()});
    units_.push_back(unit);
  }
  unit_furthest_ends_ = sort_by_start(unit_ranges_);
}

DebugInformation::Unit* DebugInformation::unit_of(std::uint64_t address) {
  const auto found = find_range(unit_ranges_, unit_furthest_ends_, address);
  return found ? &units_[unit_ranges_[*found].unit] : nullptr;
}

void DebugInformation::index(Unit& unit) {
  if (unit.indexed)
    return;
  unit.indexed = true;
  const std::function<void(Dwarf_Die&, int)> visit = [&](Dwarf_Die& die, int depth) {
    if (depth > deepest_nesting)
      return;
    for_each_child(die, [&](Dwarf_Die& child) {
      if (dwarf_tag(&child) == DW_TAG_subprogram) {
        for (const Range& range : ranges_of(child))
          unit.functions.push_back({range.start, range.end, child});
      }
      // Functions stand in namespaces, in classes and, local classes and lambdas, in functions.
      if (dwarf_haschildren(&child) > 0)
        visit(child, depth + 1);
      return true;
    });
  };
  visit(unit.tree_die, 0);
  unit.furthest_ends = sort_by_start(unit.functions);
}

const DebugInformation::Function* DebugInformation::function_at(Unit& unit, std::uint64_t address) {
  index(unit);
  const auto found = find_range(unit.functions, unit.furthest_ends, address);
  return found ? &unit.functions[*found] : nullptr;
}

const FunctionSource& DebugInformation::describe(Unit& unit, Dwarf_Die& die) {
  const auto [place, is_new] = described_.try_emplace(die.addr);
  FunctionSource& source = place->second;
  if (!is_new)
    return source;

  source.name = name_of(die);
  const char* file = nullptr;
  const auto take_declaration = [&](Dwarf_Die& from) {
    file = file_of(from, DW_AT_decl_file);
    source.line = number_of(from, DW_AT_decl_line);
    return file != nullptr && source.line != 0;
  };
  const LineTable lines(unit.lines_die);
  const std::vector<Range> ranges = ranges_of(die);
  if (!take_declaration(die)) {
    // A lambda has no place of its own, but its class has. Code that the compiler made up is where
    // its first instruction is said to come from.
    Dwarf_Die origin = origin_of(die);
    std::vector<Dwarf_Die> scopes = scopes_of(origin);
    const auto row = ranges.empty() ? std::nullopt : lines.row_of(ranges.front().start);
    if ((scopes.empty() || !is_class(scopes.back()) || !take_declaration(scopes.back())) && row) {
      file = lines.file(*row);
      source.line = lines.line(*row);
    }
  }
  if (file == nullptr)
    return source;
  source.file = absolute(file, unit.directory);
  source.last_line = source.line;

  std::vector<Range> inlined;
  collect_inlined(die, 0, inlined, [&](Dwarf_Die& callee) {
    const char* const call_file = file_of(callee, DW_AT_call_file);
    if (call_file != nullptr && std::strcmp(call_file, file) == 0)
      source.last_line = std::max(source.last_line, number_of(callee, DW_AT_call_line));
  });
  for (const Range& range : ranges) {
    for (std::size_t row = lines.lower_bound(range.start);
         row < lines.size() && lines.address(row) < range.end; ++row) {
      const char* const row_file = lines.file(row);
      if (lines.has_code(row) && lines.line(row) > source.last_line && row_file != nullptr &&
          std::strcmp(row_file, file) == 0 && !holds(inlined, lines.address(row)))
        source.last_line = lines.line(row);
    }
  }
  return source;
}

std::vector<SourceFrame> DebugInformation::frames(std::uint64_t address) {
  Unit* const unit = unit_of(address);
  if (unit == nullptr)
    return {};
  const Function* const function = function_at(*unit, address);
  if (function == nullptr)
    return {};

  // The function, then what was inlined, inwards.
  std::vector<Dwarf_Die> scopes = {function->die};
  Dwarf_Die outermost = function->die;
  descend_to(outermost, address, 0, scopes);

  std::vector<SourceFrame> frames;
  const LineTable lines(unit->lines_die);
  SourceFrame place;
  if (const auto row = lines.row_of(address)) {
    place.file = absolute(lines.file(*row), unit->directory);
    place.line = lines.line(*row);
  }
  for (std::size_t i = scopes.size(); i-- > 0;) {
    place.function = &describe(*unit, scopes[i]);
    place.inlined = i > 0;
    frames.push_back(place);
    place.file = absolute(file_of(scopes[i], DW_AT_call_file), unit->directory);
    place.line = number_of(scopes[i], DW_AT_call_line);
  }
  return frames;
}

}  // namespace longpole::symbols
