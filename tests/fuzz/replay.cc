// Stands in for libFuzzer: runs a target over seeds and over mutations of them, always the same.
//
//   fuzz_NAME MUTATIONS FILE-OR-DIRECTORY…
//
// When a target crashes, the last line printed says which seed and which mutation.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

struct Seed {
  std::string name;
  Bytes bytes;
};

std::vector<Seed> read_seeds(const std::vector<fs::path>& places) {
  std::vector<fs::path> paths;
  for (const fs::path& place : places) {
    if (!fs::is_directory(place)) {
      paths.push_back(place);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(place))
      paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Seed> seeds;
  for (const fs::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    seeds.push_back({path.string(), Bytes(std::istreambuf_iterator<char>(in), {})});
  }
  return seeds;
}

// The words of the grammars and the numbers at the edges of the formats, so that mutations meet
// them.
const std::vector<std::string>& dictionary() {
  static const std::vector<std::string> words{"\n",
                                              "thread ",
                                              "run ",
                                              "enter ",
                                              "leave ",
                                              "create ",
                                              "join ",
                                              "end\n",
                                              "lock ",
                                              "from ",
                                              "cpu=",
                                              "took=",
                                              "woke=",
                                              "profile=",
                                              "site=",
                                              "?",
                                              "@0",
                                              "\"",
                                              "\\x",
                                              "=",
                                              "#",
                                              "incomplete",
                                              "stack 0",
                                              "semaphore ",
                                              "barrier ",
                                              "99999999999999999999",
                                              "0.000001",
                                              "834",
                                              "-1",
                                              "exact",
                                              "failed",
                                              "unfinished",
                                              std::string(4, '\0'),
                                              "\xff\xff\xff\xff",
                                              "\x80",
                                              "\x7f"};
  return words;
}

Bytes mutate(Bytes bytes, const std::vector<Seed>& seeds, std::mt19937& random) {
  const auto position = [&] { return random() % (bytes.size() + 1); };
  const auto insert = [&](std::size_t at, auto begin, auto end) {
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), begin, end);
  };
  for (auto n = 1 + random() % 4; n > 0; --n) {
    switch (random() % 6) {
      case 0:
        if (!bytes.empty())
          bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        if (!bytes.empty())
          bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1U << (random() % 8));
        break;
      case 2: {
        const std::string& word = dictionary()[random() % dictionary().size()];
        insert(position(), word.begin(), word.end());
        break;
      }
      case 3: {
        const std::size_t from = position();
        const std::size_t size = std::min<std::size_t>(random() % 32, bytes.size() - from);
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(from);
        bytes.erase(begin, begin + static_cast<std::ptrdiff_t>(size));
        break;
      }
      case 4: {
        const Bytes& other = seeds[random() % seeds.size()].bytes;
        const std::size_t from = random() % (other.size() + 1);
        const std::size_t size = std::min<std::size_t>(random() % 64, other.size() - from);
        const auto begin = other.begin() + static_cast<std::ptrdiff_t>(from);
        insert(position(), begin, begin + static_cast<std::ptrdiff_t>(size));
        break;
      }
      default:
        bytes.resize(position());
        break;
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s MUTATIONS FILE-OR-DIRECTORY…\n", argv[0]);
    return 2;
  }
  const std::vector<Seed> seeds = read_seeds({argv + 2, argv + argc});
  if (seeds.empty()) {
    std::fprintf(stderr, "no seeds\n");
    return 2;
  }
  const long mutations = std::strtol(argv[1], nullptr, 10);
  for (const Seed& seed : seeds) {
    std::printf("%s\n", seed.name.c_str());
    std::fflush(stdout);
    LLVMFuzzerTestOneInput(seed.bytes.data(), seed.bytes.size());
  }
  std::mt19937 random(1);
  for (long i = 0; i < mutations; ++i) {
    const Seed& seed = seeds[random() % seeds.size()];
    const Bytes input = mutate(seed.bytes, seeds, random);
    std::printf("\r%ld ", i);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("\n%zu seeds and %ld mutations\n", seeds.size(), mutations);
  return 0;
}
