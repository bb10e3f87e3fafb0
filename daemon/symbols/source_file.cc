#include "symbols/source_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

namespace longpole::symbols {
namespace {

// Nothing that a person edits is larger; debug information may name anything.
constexpr off_t largest_source = off_t{64} << 20;

bool begins_with_any(const std::string& path, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    return path.compare(0, prefix.size(), prefix) == 0;
  });
}

bool is_regular_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool is_system_library(const std::string& module_path) {
  static const std::vector<std::string_view> folders = {"/usr/lib", "/lib"};
  return module_path == "[vdso]" || begins_with_any(module_path, folders);
}

}  // namespace

std::string normalised(const char* path) {
  return std::filesystem::path(path).lexically_normal().string();
}

bool is_system_source(const std::string& path, const std::string& module_path) {
  static const std::vector<std::string_view> folders = {
      "/usr/include/", "/usr/local/include/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/",
      "/usr/libexec/", "/usr/src/",           "/lib/",     "/lib64/"};
  // Of gcc, libstdc++, libc++ and clang, below any prefix; of Rust and Go as they were built; and what
  // stands in for the library's.
  static constexpr std::array<std::string_view, 6> compilers = {
      "/lib/gcc/", "/include/c++/",    "/lib/clang/",
      "/rustc/",   "/go/src/runtime/", "/longpole/sync.h"};
  if (begins_with_any(path, folders))
    return true;
  if (std::any_of(compilers.begin(), compilers.end(),
                  [&](std::string_view part) { return path.find(part) != std::string::npos; }))
    return true;
  if (!is_system_library(module_path))
    return false;
  return path.empty() || path.front() != '/' || !is_regular_file(path);
}

std::string sha256_of_file(const std::string& path) {
  if (path.empty() || path.front() != '/')
    return {};
  // O_NONBLOCK: a name may turn out to be a FIFO.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return {};
  struct Closer {
    int descriptor;
    ~Closer() { close(descriptor); }
  } const closer{descriptor};
  struct stat status {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > largest_source)
    return {};

  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> digest(EVP_MD_CTX_new(),
                                                                  EVP_MD_CTX_free);
  if (digest == nullptr || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1)
    return {};
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return {};
    if (count == 0)
      break;
    if (EVP_DigestUpdate(digest.get(), buffer.data(), static_cast<std::size_t>(count)) != 1)
      return {};
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
  unsigned length = 0;
  if (EVP_DigestFinal_ex(digest.get(), bytes.data(), &length) != 1)
    return {};
  std::string out;
  for (unsigned i = 0; i < length; ++i)
    out += fmt::format("{:02x}", bytes[i]);
  return out;
}

}  // namespace longpole::symbols
