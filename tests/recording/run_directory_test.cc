#include <gtest/gtest.h>

#include <cstdlib>

#include "file_limit.h"
#include "recording/run_files.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

class Variable {
 public:
  Variable(const char* name, const fs::path& value) : name_(name) {
    if (const char* before = ::getenv(name))
      before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_.empty())
      ::unsetenv(name_);
    else
      ::setenv(name_, before_.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

TEST(RunDirectory, IsWhereTheUserWantsTemporaryFiles) {
  const fs::path chosen = fs::path(testing::TempDir()) / "chosen";
  const fs::path usual = fs::path(testing::TempDir()) / "usual";
  fs::create_directories(chosen);
  fs::create_directories(usual);
  const Variable temporary("TMPDIR", chosen);
  const Variable runtime("XDG_RUNTIME_DIR", usual);
  {
    const auto directory = RunDirectory::create();
    ASSERT_TRUE(directory);
    EXPECT_EQ(directory->path().parent_path(), chosen);
  }
  EXPECT_TRUE(fs::is_empty(chosen)) << "it goes with the object";
  const Variable none("TMPDIR", "relative");
  const auto directory = RunDirectory::create();
  ASSERT_TRUE(directory);
  EXPECT_EQ(directory->path().parent_path(), usual);
}

TEST(RunDirectory, IsRefusedWhereFilesMayHaveNextToNothing) {
  const FileLimit limit(16 * 1024);
  const auto directory = RunDirectory::create();
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().why, "no file may have more than 16384 bytes");
}

}  // namespace
}  // namespace longpole::recording
