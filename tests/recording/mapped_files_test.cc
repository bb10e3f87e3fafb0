#include "recording/mapped_files.h"

#include <gtest/gtest.h>

#include "recording/run_files.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

constexpr const char* program =
    "55e0000-55e1000 r-xp 00000000 08:01 17                  /usr/bin/program\n";
constexpr const char* library =
    "7f00000-7f01000 r-xp 00002000 08:01 18                  /usr/lib/with blank.so\n";
constexpr const char* vdso = "7ffe000-7ffe100 r-xp 00000000 00:00 0                      [vdso]\n";
constexpr const char* heap = "56e0000-56f0000 rw-p 00000000 00:00 0                      [heap]\n";
constexpr const char* anonymous = "7e00000-7e01000 rw-p 00000000 00:00 0 \n";

TEST(MappedFiles, AreWrittenOnceHoweverOftenTheProgramMapsAnythingElse) {
  const fs::path directory = fs::path(testing::TempDir()) / "MappedFiles";
  fs::create_directories(directory);
  const auto written = [&] { return read_special_file(directory / maps_file); };
  MappedFiles files(directory);
  const std::string first = std::string(program) + heap + vdso;
  files.add(first);
  EXPECT_EQ(written(), std::string(program) + vdso);
  files.add(first + anonymous);
  files.add(first);
  EXPECT_EQ(written(), std::string(program) + vdso);
  files.add(std::string(program) + anonymous + library + vdso);
  files.add(std::string(program) + library);
  EXPECT_EQ(written(), std::string(program) + vdso + library);
  fs::remove_all(directory);
}

}  // namespace
}  // namespace longpole::recording
