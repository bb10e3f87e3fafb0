#include "symbols/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "symbols/debug_information.h"
#include "symbols/elf_file.h"
#include "symbols/names.h"
#include "symbols/source_file.h"

namespace longpole::symbols {
namespace {

struct PairHash {
  std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const {
    // Multiplication by the golden ratio spreads addresses, which differ in few bits.
    std::uint64_t mixed = (key.first ^ (key.second << 32U | key.second >> 32U));
    mixed *= 0x9e3779b97f4a7c15U;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32U));
  }
};

// A file that the program has mapped, with all that is known about it. Opened when first asked.
class Binary {
 public:
  Binary(std::string path, std::uint64_t mapping_bytes, std::string debug_directory)
      : path_(std::move(path)),
        mapping_bytes_(mapping_bytes),
        debug_directory_(std::move(debug_directory)) {}

  [[nodiscard]] const std::string& path() const { return path_; }

  // Null where the file cannot be read.
  const ElfFile* elf() {
    open();
    return elf_.get();
  }
  DebugInformation* debug() {
    open();
    return debug_.get();
  }
  const Symbol* code_symbol(std::uint64_t address) {
    open();
    return code_.find(address);
  }
  const Symbol* data_symbol(std::uint64_t address) {
    open();
    return data_.find(address);
  }

  ModuleId module;  // none until something of it is asked for

 private:
  void open() {
    if (std::exchange(opened_, true))
      return;
    elf_ = path_ == "[vdso]" ? ElfFile::own_vdso(mapping_bytes_) : ElfFile::open(path_);
    if (elf_ == nullptr)
      return;
    if (!elf_->has_section(".debug_info") && !elf_->has_section(".zdebug_info"))
      debug_file_ = elf_->find_debug_file(debug_directory_);
    const ElfFile& richest = debug_file_ != nullptr ? *debug_file_ : *elf_;
    debug_ = DebugInformation::open(richest.elf());
    if (!elf_->read_symbols(ElfFile::Table::full, code_, data_) &&
        (debug_file_ == nullptr || !debug_file_->read_symbols(ElfFile::Table::full, code_, data_)))
      elf_->read_symbols(ElfFile::Table::dynamic, code_, data_);
    code_.sort();
    data_.sort();
  }

  std::string path_;
  std::uint64_t mapping_bytes_;
  std::string debug_directory_;
  bool opened_ = false;
  std::unique_ptr<ElfFile> elf_;
  std::unique_ptr<ElfFile> debug_file_;
  std::unique_ptr<DebugInformation> debug_;
  SymbolIndex code_;
  SymbolIndex data_;
};

struct Mapped {
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  Binary* binary = nullptr;
};

// What stands in Stack, but for the caller.
struct Place {
  FunctionId function;
  FileId file;
  std::uint32_t line = 0;
  bool inlined = false;
};

template <typename Tag>
Id<Tag> next_id(std::size_t size) {
  return Id<Tag>{static_cast<std::uint32_t>(size)};
}

}  // namespace

struct SymbolTable::State {
  std::string debug_directory;
  std::map<std::uint64_t, Mapped> mapped;  // by start
  std::map<std::string, std::unique_ptr<Binary>> binaries;

  std::vector<Module> modules;
  std::vector<File> files;
  std::vector<Function> functions;
  std::vector<Stack> stacks;
  std::map<std::string, FileId> file_ids;
  std::map<std::tuple<std::string, FileId, std::uint32_t, ModuleId>, FunctionId> function_ids;
  std::map<std::tuple<StackId, FunctionId, FileId, std::uint32_t, bool>, StackId> stack_ids;

  // Caches: the frames at an instruction, innermost first; and from a caller and an instruction to
  // the node that stands for its innermost frame.
  std::unordered_map<std::uint64_t, std::vector<Place>> places;
  std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, StackId, PairHash> steps;

  struct Where {
    Binary* binary = nullptr;
    std::optional<std::uint64_t> address;  // the file's own; none: the file cannot be read
  };

  [[nodiscard]] bool is_mapped(std::uint64_t address) const {
    auto after = mapped.upper_bound(address);
    return after != mapped.begin() && address < std::prev(after)->second.end;
  }

  // The mapping that holds the address, or, of zero-initialised data, the one before it.
  [[nodiscard]] std::optional<Where> locate(std::uint64_t address) const {
    auto mapping = mapped.upper_bound(address);
    if (mapping == mapped.begin())
      return std::nullopt;
    --mapping;
    const auto& [start, m] = *mapping;
    const ElfFile* const elf = m.binary->elf();
    const auto bias =
        elf == nullptr ? std::nullopt : elf->load_bias(start, m.end - start, m.file_offset);
    if (address >= m.end && (!bias || !elf->occupies(address - *bias)))
      return std::nullopt;
    return Where{m.binary, bias ? std::optional(address - *bias) : std::nullopt};
  }

  ModuleId module_of(Binary& binary) {
    if (!binary.module.known()) {
      binary.module = next_id<ModuleTag>(modules.size());
      const ElfFile* const elf = binary.elf();
      modules.push_back({binary.path(), elf == nullptr ? std::string() : elf->build_id(),
                         binary.debug() != nullptr && binary.debug()->has_line_table()});
    }
    return binary.module;
  }

  FileId file_of(const std::string& path, const Binary& binary) {
    if (path.empty())
      return FileId::none();
    const auto [place, is_new] = file_ids.try_emplace(path, next_id<FileTag>(files.size()));
    if (is_new)
      files.push_back({path, {}, is_system_source(path, binary.path())});
    return place->second;
  }

  FunctionId function_of(Function function) {
    const auto [place, is_new] =
        function_ids.try_emplace({function.name, function.file, function.line, function.module},
                                 next_id<FunctionTag>(functions.size()));
    if (is_new)
      functions.push_back(std::move(function));
    else  // Another copy of it may have code of lines that the first one lost.
      functions[place->second.index()].last_line =
          std::max(functions[place->second.index()].last_line, function.last_line);
    return place->second;
  }

  // What libraries call "__GI___pthread_mutex_lock" inside, their callers call pthread_mutex_lock.
  static std::string public_name(Binary& binary, std::uint64_t address,
                                 const FunctionSource& source) {
    const Symbol* const symbol = source.name.front() == '_' ? binary.code_symbol(address) : nullptr;
    return symbol != nullptr && *symbol->name != '_' ? function_name(symbol->name) : source.name;
  }

  // The function by the symbol tables alone.
  FunctionId symbol_function(Binary& binary, std::optional<std::uint64_t> address) {
    const Symbol* const symbol = address ? binary.code_symbol(*address) : nullptr;
    Function function;
    function.name = symbol == nullptr ? unknown_name(binary.path()) : function_name(symbol->name);
    function.module = module_of(binary);
    return function_of(std::move(function));
  }

  // Never empty for a mapped address.
  std::vector<Place> resolve(std::uint64_t address) {
    const auto where = locate(address);
    if (!where)
      return {};
    Binary& binary = *where->binary;
    std::vector<Place> out;
    if (where->address && binary.debug() != nullptr) {
      const std::vector<SourceFrame> frames = binary.debug()->frames(*where->address);
      for (const SourceFrame& frame : frames) {
        Place place{FunctionId::none(), file_of(frame.file, binary), frame.line, frame.inlined};
        if (frame.function->name.empty()) {
          if (frame.inlined)
            continue;
          place.function = symbol_function(binary, where->address);
        } else {
          Function function;
          // A function may be inlined into what is left of itself; it is still one function.
          const FunctionSource& outermost = *frames.back().function;
          const bool is_outermost =
              frame.function->name == outermost.name && frame.function->line == outermost.line;
          function.name = is_outermost ? public_name(binary, *where->address, *frame.function)
                                       : frame.function->name;
          function.file = file_of(frame.function->file, binary);
          function.line = frame.function->line;
          function.last_line = frame.function->last_line;
          function.module = module_of(binary);
          place.function = function_of(std::move(function));
        }
        out.push_back(place);
      }
    }
    if (out.empty())
      out.push_back({symbol_function(binary, where->address), FileId::none(), 0, false});
    return out;
  }

  const std::vector<Place>& places_at(std::uint64_t address) {
    const auto found = places.find(address);
    return found != places.end() ? found->second
                                 : places.emplace(address, resolve(address)).first->second;
  }

  StackId node(StackId caller, const Place& place) {
    const auto [found, is_new] =
        stack_ids.try_emplace({caller, place.function, place.file, place.line, place.inlined},
                              next_id<StackTag>(stacks.size()));
    if (is_new)
      stacks.push_back({caller, place.function, place.file, place.line, place.inlined});
    return found->second;
  }

  StackId step(StackId caller, std::uint64_t address) {
    const std::pair<std::uint64_t, std::uint64_t> key(address, caller.value);
    const auto found = steps.find(key);
    if (found != steps.end())
      return found->second;
    const std::vector<Place>& frames = places_at(address);
    for (std::size_t i = frames.size(); i-- > 0;)
      caller = node(caller, frames[i]);
    steps.emplace(key, caller);
    return caller;
  }

  void unmap(std::uint64_t start, std::uint64_t end) {
    auto next = mapped.lower_bound(start);
    if (next != mapped.begin()) {
      const auto before = std::prev(next);
      if (before->second.end > start) {
        const Mapped old = before->second;
        before->second.end = start;
        if (old.end > end)
          mapped[end] = {old.end, old.file_offset + (end - before->first), old.binary};
      }
    }
    for (next = mapped.lower_bound(start); next != mapped.end() && next->first < end;) {
      const std::uint64_t old_start = next->first;
      const Mapped old = next->second;
      next = mapped.erase(next);
      if (old.end > end) {
        mapped[end] = {old.end, old.file_offset + (end - old_start), old.binary};
        break;
      }
    }
    places.clear();
    steps.clear();
  }
};

SymbolTable::SymbolTable(std::string debug_directory) : state_(std::make_unique<State>()) {
  state_->debug_directory = std::move(debug_directory);
}
SymbolTable::~SymbolTable() = default;
SymbolTable::SymbolTable(SymbolTable&&) noexcept = default;
SymbolTable& SymbolTable::operator=(SymbolTable&&) noexcept = default;

void SymbolTable::add_mapping(const Mapping& mapping) {
  if (mapping.start >= mapping.end)
    return;
  state_->unmap(mapping.start, mapping.end);
  if (mapping.path.empty())
    return;
  std::unique_ptr<Binary>& binary = state_->binaries[mapping.path];
  if (binary == nullptr)
    binary = std::make_unique<Binary>(mapping.path, mapping.end - mapping.start,
                                      state_->debug_directory);
  state_->mapped[mapping.start] = {mapping.end, mapping.file_offset, binary.get()};
}

StackId SymbolTable::stack(std::span<const std::uint64_t> addresses, Addresses addresses_are) {
  // A return address may be the first of the next function: the call is one byte before.
  const auto looked_up = [&](std::size_t i) {
    const bool is_return = i > 0 || addresses_are == Addresses::returns;
    return is_return ? addresses[i] - 1 : addresses[i];
  };
  std::size_t depth = 0;
  while (depth < addresses.size() && state_->is_mapped(looked_up(depth)))
    ++depth;
  StackId node;
  for (std::size_t i = depth; i-- > 0;)
    node = state_->step(node, looked_up(i));
  return node;
}

FunctionId SymbolTable::function(std::uint64_t address) {
  if (!state_->is_mapped(address))
    return FunctionId::none();
  return state_->places_at(address).back().function;
}

std::optional<std::string> SymbolTable::object_name(std::uint64_t address) {
  const auto where = state_->locate(address);
  if (!where || !where->address)
    return std::nullopt;
  const Symbol* const symbol = where->binary->data_symbol(*where->address);
  if (symbol == nullptr)
    return std::nullopt;
  const std::uint64_t offset = *where->address - symbol->start;
  const std::string name = variable_name(symbol->name);
  return offset == 0 ? name : fmt::format("{}+{}", name, offset);
}

StackId SymbolTable::user_frame(StackId stack) const {
  while (stack.known()) {
    const Stack& node = frame(stack);
    const FileId file = state_->functions[node.function.index()].file;
    if (file.known() && !state_->files[file.index()].system)
      break;
    stack = node.caller;
  }
  return stack;
}

const Stack& SymbolTable::frame(StackId stack) const {
  return state_->stacks[stack.index()];
}
const File& SymbolTable::file(FileId file) const {
  return state_->files[file.index()];
}
const Function& SymbolTable::function(FunctionId function) const {
  return state_->functions[function.index()];
}

void SymbolTable::move_into(Recording& recording) {
  for (File& file : state_->files)
    file.sha256 = sha256_of_file(file.path);
  recording.modules = std::move(state_->modules);
  recording.files = std::move(state_->files);
  recording.functions = std::move(state_->functions);
  recording.stacks = std::move(state_->stacks);
  *this = SymbolTable(std::move(state_->debug_directory));
}

}  // namespace longpole::symbols
