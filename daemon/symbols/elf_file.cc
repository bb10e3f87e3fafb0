#include "symbols/elf_file.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <tuple>

namespace longpole::symbols {
namespace {

std::string hexadecimal(const void* bytes, std::size_t count) {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += fmt::format("{:02x}", byte[i]);
  return out;
}

// Smaller is plainer: `malloc` before `__libc_malloc`, `pthread_create` before
// `pthread_create@GLIBC_2.2.5`.
auto plainness(const char* name) {
  const std::size_t length = std::strlen(name);
  const std::size_t underscores = std::strspn(name, "_");
  // Names of C++ start with _Z: its underscore says nothing.
  const bool mangled = std::strncmp(name, "_Z", 2) == 0;
  return std::tuple(mangled ? 0 : underscores, std::strchr(name, '@') != nullptr, length,
                    std::string_view(name, length));
}

std::uint64_t overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b,
                      std::uint64_t b_bytes) {
  const std::uint64_t low = std::max(a, b);
  const std::uint64_t a_left = low - a < a_bytes ? a_bytes - (low - a) : 0;
  const std::uint64_t b_left = low - b < b_bytes ? b_bytes - (low - b) : 0;
  return std::min(a_left, b_left);
}

bool starts_with_elf_magic(int descriptor) {
  char magic[SELFMAG];
  return pread(descriptor, magic, sizeof magic, 0) == static_cast<ssize_t>(sizeof magic) &&
         std::memcmp(magic, ELFMAG, SELFMAG) == 0;
}

}  // namespace

void SymbolIndex::sort() {
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    if (a.start != b.start)
      return a.start < b.start;
    // The largest last, so that a search from behind meets it first.
    if (a.end != b.end)
      return a.end < b.end;
    return plainness(b.name) < plainness(a.name);
  });
  furthest_end_.reserve(symbols_.size());
  std::uint64_t furthest = 0;
  for (const Symbol& symbol : symbols_)
    furthest_end_.push_back(furthest = std::max(furthest, symbol.end));
}

const Symbol* SymbolIndex::find(std::uint64_t address) const {
  auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](std::uint64_t a, const Symbol& symbol) { return a < symbol.start; });
  for (auto i = static_cast<std::size_t>(after - symbols_.begin()); i-- > 0;) {
    if (furthest_end_[i] <= address)
      return nullptr;
    if (address < symbols_[i].end)
      return &symbols_[i];
  }
  return nullptr;
}

std::unique_ptr<ElfFile> ElfFile::open(const std::string& path) {
  // O_NONBLOCK: a name may turn out to be a FIFO.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return nullptr;
  struct stat status {};
  Elf* elf = nullptr;
  if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      starts_with_elf_magic(descriptor)) {
    elf_version(EV_CURRENT);
    elf = elf_begin(descriptor, ELF_C_READ_MMAP, nullptr);
  }
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF) {
    elf_end(elf);
    close(descriptor);
    return nullptr;
  }
  return std::unique_ptr<ElfFile>(new ElfFile(elf, descriptor, path));
}

std::unique_ptr<ElfFile> ElfFile::own_vdso(std::uint64_t bytes) {
  const std::uint64_t address = getauxval(AT_SYSINFO_EHDR);
  if (address == 0 || bytes < sizeof(Elf64_Ehdr))
    return nullptr;
  // The kernel tells the address as a number.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto* const image = reinterpret_cast<char*>(address);
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  const std::uint64_t used =
      header.e_shoff + std::uint64_t{header.e_shentsize} * std::uint64_t{header.e_shnum};
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if ((used + page - 1) / page * page != bytes)
    return nullptr;
  elf_version(EV_CURRENT);
  Elf* const elf = elf_memory(image, used);
  if (elf == nullptr)
    return nullptr;
  return std::unique_ptr<ElfFile>(new ElfFile(elf, -1, "[vdso]"));
}

ElfFile::ElfFile(Elf* elf, int descriptor, std::string path)
    : elf_(elf), descriptor_(descriptor), path_(std::move(path)) {
  const void* id = nullptr;
  const ssize_t bytes = dwelf_elf_gnu_build_id(elf_, &id);
  if (bytes > 0)
    build_id_ = hexadecimal(id, static_cast<std::size_t>(bytes));
  read_segments();
}

ElfFile::~ElfFile() {
  elf_end(elf_);
  if (descriptor_ >= 0)
    close(descriptor_);
}

void ElfFile::read_segments() {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_, &count) != 0)
    return;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf_, static_cast<int>(i), &header) == nullptr)
      return;
    if (header.p_type == PT_LOAD)
      segments_.push_back({header.p_vaddr, header.p_memsz, header.p_offset, header.p_filesz});
  }
}

bool ElfFile::has_section(const char* name) const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf_, &names) != 0)
    return false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS)
      continue;
    const char* const found = elf_strptr(elf_, names, header.sh_name);
    if (found != nullptr && std::strcmp(found, name) == 0)
      return true;
  }
  return false;
}

std::optional<std::uint64_t> ElfFile::load_bias(std::uint64_t mapping_start,
                                                std::uint64_t mapping_bytes,
                                                std::uint64_t file_offset) const {
  // Segments may share a page of the file, so a mapping may hold bytes of its neighbours too.
  const Segment* best = nullptr;
  std::uint64_t most = 0;
  for (const Segment& segment : segments_) {
    const std::uint64_t bytes =
        overlap(file_offset, mapping_bytes, segment.offset, segment.file_bytes);
    if (bytes > most) {
      most = bytes;
      best = &segment;
    }
  }
  if (best == nullptr)
    return std::nullopt;
  return mapping_start - (best->address - best->offset + file_offset);
}

bool ElfFile::occupies(std::uint64_t address) const {
  return std::any_of(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return address - segment.address < segment.memory_bytes;
  });
}

std::unique_ptr<ElfFile> ElfFile::find_debug_file(const std::string& debug_directory) const {
  if (build_id_.size() < 4)
    return nullptr;
  namespace fs = std::filesystem;
  std::vector<fs::path> candidates = {fs::path(debug_directory) / ".build-id" /
                                      build_id_.substr(0, 2) / (build_id_.substr(2) + ".debug")};
  GElf_Word checksum = 0;
  if (const char* link = dwelf_elf_gnu_debuglink(elf_, &checksum); link != nullptr) {
    const fs::path folder = fs::path(path_).parent_path();
    candidates.push_back(folder / link);
    candidates.push_back(folder / ".debug" / link);
    candidates.push_back(fs::path(debug_directory) / folder.relative_path() / link);
  }
  for (const fs::path& candidate : candidates) {
    if (candidate == path_)
      continue;
    std::unique_ptr<ElfFile> file = open(candidate.string());
    if (file != nullptr && file->build_id_ == build_id_)
      return file;
  }
  return nullptr;
}

bool ElfFile::read_symbols(Table table, SymbolIndex& code, SymbolIndex& data) const {
  const GElf_Word wanted = table == Table::full ? SHT_SYMTAB : SHT_DYNSYM;
  bool found = false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != wanted ||
        header.sh_entsize == 0)
      continue;
    Elf_Data* const content = elf_getdata(section, nullptr);
    if (content == nullptr)
      continue;
    found = true;
    const std::size_t count = content->d_size / header.sh_entsize;
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Sym entry;
      if (gelf_getsym(content, static_cast<int>(i), &entry) == nullptr)
        break;
      if (entry.st_shndx == SHN_UNDEF || entry.st_size == 0 ||
          entry.st_value + entry.st_size < entry.st_value)
        continue;
      const char* const name = elf_strptr(elf_, header.sh_link, entry.st_name);
      if (name == nullptr || *name == '\0')
        continue;
      const Symbol symbol{entry.st_value, entry.st_value + entry.st_size, name};
      const int type = GELF_ST_TYPE(entry.st_info);
      if (type == STT_FUNC || type == STT_GNU_IFUNC)
        code.add(symbol);
      else if (type == STT_OBJECT || type == STT_COMMON)
        data.add(symbol);
    }
  }
  return found;
}

}  // namespace longpole::symbols
