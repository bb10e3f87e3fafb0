#include "recording/check_program.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "recording/system.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr GElf_Half our_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr GElf_Half our_machine = EM_AARCH64;
#else
#error "Longpole reads the time-stamp counter of x86-64 and Arm64 only"
#endif

// An interpreter that is itself a script, and so on: the kernel's own limit.
constexpr int max_interpreters = 5;

tl::unexpected<Error> refusal(const fs::path& path, std::string why, std::string remedy) {
  return bad_input(fmt::format("cannot record {}", path.string()), std::move(why),
                   std::move(remedy));
}

std::string machine_name(GElf_Half machine) {
  switch (machine) {
    case EM_386:
      return "32-bit x86";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "32-bit Arm";
    case EM_AARCH64:
      return "Arm64";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "64-bit PowerPC";
    case EM_S390:
      return "S/390";
    default:
      return fmt::format("machine {}", machine);
  }
}

std::optional<fs::path> find_in_path(const std::string& name, std::string_view search_path) {
  while (true) {
    const std::size_t colon = search_path.find(':');
    const std::string_view directory = search_path.substr(0, colon);
    const fs::path candidate = fs::path(directory.empty() ? "." : directory) / name;
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
      return fs::absolute(candidate, ignored);
    if (colon == std::string_view::npos)
      return std::nullopt;
    search_path.remove_prefix(colon + 1);
  }
}

bool has_program_header(Elf* elf, GElf_Word type) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0)
    return false;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) != nullptr && header.p_type == type)
      return true;
  }
  return false;
}

std::string needed_address_sanitizer(Elf* elf) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNAMIC ||
        header.sh_entsize == 0)
      continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const GElf_Xword count = header.sh_size / header.sh_entsize;
    for (GElf_Xword i = 0; data != nullptr && i < count; ++i) {
      GElf_Dyn entry;
      if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr)
        break;
      if (entry.d_tag != DT_NEEDED)
        continue;
      const char* name = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
      if (name != nullptr && std::string_view(name).starts_with("libasan.so"))
        return name;
    }
  }
  return {};
}

Expected<Program> check_elf(const fs::path& path, int fd) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr), &elf_end);
  GElf_Ehdr header;
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF ||
      gelf_getehdr(elf.get(), &header) == nullptr)
    return refusal(path, "its ELF header is damaged", "build it again");
  if (header.e_machine != our_machine)
    return refusal(path,
                   fmt::format("it is built for {}, this is {}", machine_name(header.e_machine),
                               machine_name(our_machine)),
                   fmt::format("build it for {}", machine_name(our_machine)));
  if (header.e_ident[EI_CLASS] != ELFCLASS64)
    return refusal(path, "it is a 32-bit program", "build it for 64 bits (without -m32 or -mx32)");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return refusal(path, "it is an object file, not a program", "link it first");
  if (!has_program_header(elf.get(), PT_INTERP))
    return refusal(path, "it is statically linked, so the recorder cannot be loaded into it",
                   "link it dynamically (without -static)");
  return Program{path, needed_address_sanitizer(elf.get())};
}

// The interpreter that a script names in its first line.
std::string interpreter(std::string_view start) {
  start.remove_prefix(2);
  start = start.substr(0, start.find('\n'));
  const std::size_t first = start.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  start.remove_prefix(first);
  return std::string(start.substr(0, start.find_first_of(" \t\r")));
}

Expected<Program> check_file(const fs::path& path, int interpreters_left) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return not_found(fmt::format("cannot record {}", path.string()), "no such program",
                       "check the path");
    return refusal(path, std::strerror(errno), "check the path");
  }
  if (S_ISDIR(status.st_mode))
    return refusal(path, "it is a directory", "name the program inside it");
  if (!S_ISREG(status.st_mode))
    return refusal(path, "it is not a file", "name a program");

  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0)
    return refusal(path, fmt::format("it cannot be read ({})", std::strerror(errno)),
                   "give yourself permission to read it (chmod u+r)");
  std::array<char, 256> buffer{};
  const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
  const std::string_view start(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const bool is_elf = start.starts_with(ELFMAG);
  const bool is_script = start.starts_with("#!");
  if (!is_elf && !is_script)
    return refusal(path, "it is neither a program (ELF) nor a script (#!)",
                   "name a compiled program");
  if (::access(path.c_str(), X_OK) != 0)
    return refusal(path, "it is not executable", fmt::format("chmod +x {}", path.string()));
  if ((status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
      ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    return refusal(path,
                   "it is set-user-ID, set-group-ID or has file capabilities, and the system does "
                   "not load the recorder into such programs",
                   "record a copy without them (cp makes one)");
  if (const std::string name = path.filename().string();
      name == "valgrind" || name == "valgrind.bin")
    return refusal(path,
                   "it runs programs on a processor that it simulates, one thread at a time and "
                   "many times slower, and the recorder is not loaded there",
                   "record the program itself, without valgrind");
  if (is_elf)
    return check_elf(path, file.get());

  const fs::path next = interpreter(start);
  if (next.empty() || interpreters_left == 0)
    return refusal(path, "its first line names no interpreter that can be run",
                   "correct the line that starts with #!");
  auto checked = check_file(next, interpreters_left - 1);
  if (!checked) {
    Error error = checked.error();
    error.what = fmt::format("cannot record the script {}", path.string());
    error.why = fmt::format("its interpreter {}: {}", next.string(), error.why);
    return tl::unexpected(std::move(error));
  }
  return Program{path, checked->address_sanitizer};
}

}  // namespace

std::string own_search_path() {
  const char* const path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

Expected<Program> check_program(const std::string& name, const fs::path& directory,
                                std::string_view search_path) {
  if (name.empty())
    return bad_input("cannot record", "no program was named", "give a program and its arguments");
  if (name.find('/') != std::string::npos) {
    std::error_code ignored;
    const fs::path base = directory.empty() ? fs::current_path(ignored) : directory;
    return check_file((fs::absolute(base, ignored) / name).lexically_normal(), max_interpreters);
  }
  const std::optional<fs::path> found = find_in_path(name, search_path);
  if (found)
    return check_file(*found, max_interpreters);
  std::error_code ignored;
  const fs::path here = (directory.empty() ? fs::path(".") : directory) / name;
  return not_found(fmt::format("cannot record {}", name), "no such program in PATH",
                   fs::exists(here, ignored) ? fmt::format("say ./{} for the one here", name)
                                             : "check the name, or give its path");
}

bool waits_in_ways_of_its_own(const fs::path& program) {
  const Descriptor file(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.get(), ELF_C_READ_MMAP, nullptr),
                                                &elf_end);
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF)
    return false;
  bool calls_the_system = false;
  bool has_waiters = false;
  bool has_header = false;  // longpole/sync.h, which has them inside and tells of them
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr;
       section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0 ||
        (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
      continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const GElf_Xword count = data != nullptr ? header.sh_size / header.sh_entsize : 0;
    for (GElf_Xword i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr)
        break;
      const char* text = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
      const std::string_view name = text != nullptr ? text : "";
      calls_the_system |= name == "syscall" && symbol.st_shndx == SHN_UNDEF;
      has_waiters |= name.find("__waiter_pool_base") != std::string_view::npos ||
                     name.find("__platform_wait") != std::string_view::npos;
      has_header |= name.find("8longpole4sync") != std::string_view::npos;
    }
  }
  return calls_the_system && has_waiters && !has_header;
}

}  // namespace longpole::recording
