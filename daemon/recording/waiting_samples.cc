#include "recording/waiting_samples.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "recording/waiting_loop.h"

namespace longpole::recording {
namespace {

#if defined(__x86_64__)
constexpr bool is_known_code = true;
#else
constexpr bool is_known_code = false;
#endif
constexpr std::uint64_t telling_samples = 3;
constexpr std::uint64_t telling_part = 100;  // one in so many
// The few instructions of a loop with a telling part of the samples have far more each than a thousandth; so no more
// than a thousand places have to be looked at, however many samples there are.
constexpr std::uint64_t part_of_a_place = 1000;

bool is_libc(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.starts_with("libc.so") || name.starts_with("libpthread");
}

bool waits_at(std::uint64_t address, const std::vector<symbols::Mapping>& mappings) {
  // The last one took the place of those before it.
  const auto mapping = std::find_if(
      mappings.rbegin(), mappings.rend(),
      [address](const symbols::Mapping& one) { return one.start <= address && address < one.end; });
  if (!is_known_code || mapping == mappings.rend() || is_libc(mapping->path))
    return false;
  const std::uint64_t before =
      std::min<std::uint64_t>(address - mapping->start, furthest_of_waiting_loop);
  const std::uint64_t after =
      std::min<std::uint64_t>(mapping->end - address, furthest_of_waiting_loop);
  std::ifstream file(mapping->path, std::ios::binary);
  file.seekg(
      static_cast<std::streamoff>(mapping->file_offset + (address - mapping->start) - before));
  std::vector<std::uint8_t> code(before + after);
  file.read(reinterpret_cast<char*>(code.data()), static_cast<std::streamsize>(code.size()));
  code.resize(static_cast<std::size_t>(file.gcount()));
  return is_in_waiting_loop(code, before);
}

}  // namespace

std::optional<WaitingSamples> waiting_samples(const MergedRun& run,
                                              const std::vector<symbols::Mapping>& mappings) {
  std::map<std::uint32_t, std::uint64_t> by_path;
  std::map<std::uint64_t, std::uint64_t> by_address;
  std::uint64_t all = 0;
  for (const MergedThread& thread : run.threads)
    for (const MergedSample& sample : thread.samples) {
      by_path[sample.path] += sample.weight;
      by_address[run.paths[sample.path].front()] += sample.weight;
      all += sample.weight;
    }
  std::uint64_t waiting = 0;
  for (auto& [address, weight] : by_address) {
    if (weight * part_of_a_place < all || !waits_at(address, mappings))
      weight = 0;
    waiting += weight;
  }
  if (waiting < telling_samples || waiting * telling_part < all)
    return std::nullopt;
  WaitingSamples out{static_cast<double>(waiting) / static_cast<double>(all), 0};
  std::uint64_t most = 0;
  for (const auto& [path, weight] : by_path)
    if (weight > most && by_address.at(run.paths[path].front()) != 0) {
      most = weight;
      out.most_sampled = path;
    }
  return out;
}

}  // namespace longpole::recording
