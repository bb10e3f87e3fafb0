// Damaged ELF and DWARF: whatever is in the file, every request is answered.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "specimen.h"

namespace longpole::symbols {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

class DamagedFiles : public testing::Test {
 protected:
  DamagedFiles() {
    folder_ =
        std::filesystem::temp_directory_path() / ("longpole_damaged_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~DamagedFiles() override { std::filesystem::remove_all(folder_); }

  // Asks everything about a copy of `specimen` that holds `bytes`.
  void ask_everything(const Specimen& specimen, const std::string& bytes) {
    const std::string copy = (folder_ / "specimen").string();
    std::ofstream(copy, std::ios::binary) << bytes;
    SymbolTable symbols("/nonexistent");
    for (Mapping mapping : specimen.mappings) {
      if (mapping.path == specimen.path)
        mapping.path = copy;
      else if (mapping.path.find("specimen") == std::string::npos)
        continue;  // libraries of the system are not damaged
      symbols.add_mapping(mapping);
    }
    for (const auto& [name, mark] : specimen.marks) {
      const std::uint64_t addresses[] = {mark.address};
      const StackId stack = symbols.stack(addresses, Addresses::returns);
      ASSERT_TRUE(stack.known());
      static_cast<void>(symbols.user_frame(stack));
    }
    for (const auto& [name, address] : specimen.objects)
      static_cast<void>(symbols.object_name(address));
    static_cast<void>(symbols.function(specimen.functions.at("outer")));
    Recording recording;
    symbols.move_into(recording);
    ASSERT_FALSE(recording.functions.empty());
    for (const Function& function : recording.functions)
      ASSERT_FALSE(function.name.empty());
  }

  std::filesystem::path folder_;
};

TEST_F(DamagedFiles, CutOffAnywhere) {
  const Specimen specimen = run_specimen("specimen_optimised");
  const std::string whole = content_of(specimen.path);
  for (std::size_t size = 0; size < whole.size(); size += size < 512 ? 16 : whole.size() / 200)
    ask_everything(specimen, whole.substr(0, size));
}

TEST_F(DamagedFiles, GarbledAnywhere) {
  for (const char* name : {"specimen_optimised", "specimen_dwarf4"}) {
    const Specimen specimen = run_specimen(name);
    const std::string whole = content_of(specimen.path);
    std::mt19937 random(20240229);
    for (int round = 0; round < 300; ++round) {
      std::string garbled = whole;
      // From a single byte to a fiftieth of the file.
      const std::size_t changes = std::size_t{1} << (static_cast<unsigned>(round) % 10);
      for (std::size_t i = 0; i < changes; ++i)
        garbled[random() % garbled.size()] = static_cast<char>(random());
      ask_everything(specimen, garbled);
    }
  }
}

// Damage where it hurts: the headers, and each table of the debug information.
TEST_F(DamagedFiles, GarbledHeadersAndTables) {
  const Specimen specimen = run_specimen("specimen_optimised");
  const std::string whole = content_of(specimen.path);
  std::mt19937 random(19990101);
  // Half of the bytes of one stretch of 4 KiB, everywhere in the file.
  for (std::size_t start = 0; start < whole.size(); start += 2048) {
    std::string garbled = whole;
    const std::size_t end = std::min(start + 4096, whole.size());
    for (std::size_t i = start; i < end; ++i)
      if (random() % 2 == 0)
        garbled[i] = static_cast<char>(random());
    // The magic stays, or there would be nothing to read.
    if (start == 0)
      std::memcpy(garbled.data(), whole.data(), 24);
    ask_everything(specimen, garbled);
  }
}

}  // namespace
}  // namespace longpole::symbols
