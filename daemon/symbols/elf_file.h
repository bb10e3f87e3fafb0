// One ELF file: what it is, where its segments lie, what its symbol tables say, where its debug
// information is.
//
// Opened once and read lazily, through libelf. Nothing here fails loudly: a file that cannot be
// read, is no ELF file or is damaged just knows less. Addresses are the file's own (virtual
// addresses of its segments). Single-threaded.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace longpole::symbols {

struct Symbol {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  const char* name = nullptr;  // as in the file; lives as long as the ElfFile
};

// Symbols by address, one name for each place: of several at one address the plainest wins.
class SymbolIndex {
 public:
  void add(const Symbol& symbol) { symbols_.push_back(symbol); }
  // To be called once, after the last add().
  void sort();
  [[nodiscard]] const Symbol* find(std::uint64_t address) const;
  [[nodiscard]] bool empty() const { return symbols_.empty(); }

 private:
  std::vector<Symbol> symbols_;
  std::vector<std::uint64_t> furthest_end_;  // of symbols_[0…i]: how far back a search must go
};

class ElfFile {
 public:
  // Null where `path` is not a regular file that holds ELF.
  static std::unique_ptr<ElfFile> open(const std::string& path);

  // The vdso that the kernel gives to this process. Every process of the same kernel and
  // architecture has the same one, at another address. Null if it is not `bytes` long.
  static std::unique_ptr<ElfFile> own_vdso(std::uint64_t bytes);

  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  [[nodiscard]] Elf* elf() const { return elf_; }
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  [[nodiscard]] bool has_section(const char* name) const;

  // What to subtract from an address in a mapping of this file to get the file's own address.
  [[nodiscard]] std::optional<std::uint64_t> load_bias(std::uint64_t mapping_start,
                                                       std::uint64_t mapping_bytes,
                                                       std::uint64_t file_offset) const;
  // Whether a segment covers the address when loaded, zero-initialised data included.
  [[nodiscard]] bool occupies(std::uint64_t address) const;

  // The separate file with the debug information of this one, found by build id below
  // `debug_directory` and by the name this file gives ("debug link") in the usual places. Only a
  // file of the same build is accepted. Null if there is none.
  [[nodiscard]] std::unique_ptr<ElfFile> find_debug_file(const std::string& debug_directory) const;

  // Adds the symbols of .symtab, else those of .dynsym if `or_dynamic`. False if there was no table.
  enum class Table : std::uint8_t { full, dynamic };
  bool read_symbols(Table table, SymbolIndex& code, SymbolIndex& data) const;

 private:
  struct Segment {
    std::uint64_t address = 0;
    std::uint64_t memory_bytes = 0;
    std::uint64_t offset = 0;
    std::uint64_t file_bytes = 0;
  };

  ElfFile(Elf* elf, int descriptor, std::string path);
  void read_segments();

  Elf* elf_ = nullptr;
  int descriptor_ = -1;
  std::string path_;
  std::string build_id_;
  std::vector<Segment> segments_;
};

}  // namespace longpole::symbols
