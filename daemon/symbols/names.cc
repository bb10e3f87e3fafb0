#include "symbols/names.h"

#include <cxxabi.h>
#include <fmt/format.h>
// Else it declares basename() in its own way.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace longpole::symbols {
namespace {

// No name that a person reads is longer; it bounds what damaged files can ask for.
constexpr std::size_t longest_name = 16384;

struct NameTooLong {};

// Rust's names, of the scheme v0 and of the one before it, which looks like C++'s. In v0 a short symbol can
// stand for a name that fills any memory: what gets too long is given up.
std::optional<std::string> demangled_rust(const std::string& symbol) {
  std::string name;
  const auto append = [](const char* text, std::size_t bytes, void* to) {
    auto& so_far = *static_cast<std::string*>(to);
    so_far.append(text, bytes);
    if (so_far.size() > longest_name)
      throw NameTooLong{};
  };
  try {
    if (rust_demangle_callback(symbol.c_str(), 0, append, &name) == 0)
      return std::nullopt;
  } catch (const NameTooLong&) {
    return std::nullopt;
  }
  return name;
}

std::string demangled(const std::string& symbol) {
  if (std::optional<std::string> name = demangled_rust(symbol))
    return *std::move(name);
  if (symbol.compare(0, 2, "_Z") != 0)
    return symbol;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || name == nullptr)
    return symbol;
  return std::string(name.get(), strnlen(name.get(), longest_name));
}

std::string without_version(const char* symbol) {
  std::string_view name(symbol, strnlen(symbol, longest_name));
  return std::string(name.substr(0, name.find('@')));
}

}  // namespace

std::string function_name(const char* symbol) {
  std::string name = without_version(symbol);
  // What gcc and clang append to the parts and copies they make of a function.
  static constexpr std::array<const char*, 6> clones = {".cold",  ".part.",     ".constprop.",
                                                        ".isra.", ".lto_priv.", ".llvm."};
  for (const char* clone : clones)
    name.resize(std::min(name.size(), name.find(clone)));
  // glibc's own name for a function of its own, when it calls it.
  if (name.compare(0, 5, "__GI_") == 0 && name.size() > 5)
    name.erase(0, 5);
  return name.empty() ? symbol : demangled(name);
}

bool is_openmp_runtime(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return name.starts_with("libomp") || name.starts_with("libiomp") || is_openmp_of_gcc(path);
}

bool is_openmp_of_gcc(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1).starts_with("libgomp.");
}

std::string variable_name(const char* symbol) {
  std::string name = without_version(symbol);
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last != std::string::npos && last > 0 && last + 1 < name.size() && name[last] == '.')
    name.resize(last);
  return demangled(name);
}

std::string unknown_name(const std::string& module_path) {
  if (!module_path.empty() && module_path.front() == '[')
    return module_path;
  std::string_view name = module_path;
  constexpr std::string_view deleted = " (deleted)";
  if (name.size() > deleted.size() && name.substr(name.size() - deleted.size()) == deleted)
    name.remove_suffix(deleted.size());
  name.remove_prefix(name.rfind('/') + 1);
  return fmt::format("[{}]", name);
}

}  // namespace longpole::symbols
