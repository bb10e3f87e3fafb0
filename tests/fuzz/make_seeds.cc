// Writes seeds for the fuzz targets: make_seeds DIRECTORY. Recording files both compressed and not,
// since a fuzzer cannot see through compression.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "random_recording.h"
#include "trace/recording_file_format.h"
#include "trace/recording_text.h"

int main(int argc, char** argv) {
  using namespace longpole;
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  for (const char* name : {"recording_file", "recording_text"})
    std::filesystem::create_directories(directory / name);
  const auto write = [&](const std::string& name, const auto& bytes) {
    std::ofstream out(directory / name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  };
  constexpr std::uint32_t count = 24;
  for (std::uint32_t seed = 0; seed < count; ++seed) {
    const Recording recording = tests::random_recording(seed);
    const std::string number = std::to_string(seed);
    write("recording_text/" + number + ".rec", write_recording_text(recording));
    write("recording_file/" + number + "-plain.lptrace",
          encode_recording_with(recording, Compression::none));
    write("recording_file/" + number + "-zstd.lptrace",
          encode_recording_with(recording, Compression::zstd));
  }
  return 0;
}
