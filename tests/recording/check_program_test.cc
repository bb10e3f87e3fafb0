// Every program that cannot be recorded is refused with one sentence that says what to do.
#include "recording/check_program.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path specimens = fs::path(LONGPOLE_BUILD_DIRECTORY) / "tests/recording/specimens";

class CheckProgram : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "longpole-check-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  fs::path write(const std::string& name, const std::string& content, mode_t mode = 0755) {
    fs::path path = directory_ / name;
    std::ofstream(path, std::ios::binary) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }
  // A copy of a program that can be recorded, with one byte of its header changed.
  fs::path changed_program(std::size_t at, char byte) {
    fs::path path = directory_ / "changed";
    fs::copy_file(specimens / "no_threads", path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    return path;
  }
  void expect_refused(const std::string& program, const std::string& why, const std::string& remedy,
                      ErrorKind kind = ErrorKind::bad_input) {
    const auto checked = check_program(program, directory_, "/usr/bin:/bin");
    ASSERT_FALSE(checked.has_value()) << program;
    EXPECT_EQ(checked.error().kind, kind);
    EXPECT_THAT(checked.error().why, HasSubstr(why));
    EXPECT_THAT(checked.error().remedy, HasSubstr(remedy));
  }

  fs::path directory_;
};

TEST_F(CheckProgram, AProgramIsFoundByItsPathOrItsName) {
  const auto by_path =
      check_program("./../" + directory_.filename().string() + "/script", directory_, "");
  EXPECT_FALSE(by_path.has_value());
  write("script", "#!/bin/sh\nexit 0\n");
  EXPECT_EQ(check_program("./script", directory_, "")->path, directory_ / "script");
  EXPECT_EQ(check_program("script", {}, "/nowhere:" + directory_.string())->path,
            directory_ / "script");
  EXPECT_EQ(check_program((specimens / "no_threads").string(), {}, "")->address_sanitizer, "");
}

TEST_F(CheckProgram, NothingNamed) {
  expect_refused("", "no program was named", "give a program");
}

TEST_F(CheckProgram, NoSuchProgram) {
  expect_refused("/nowhere/at/all", "no such program", "check the path", ErrorKind::not_found);
  expect_refused("surely-no-such-program", "no such program in PATH", "check the name",
                 ErrorKind::not_found);
  write("here", "#!/bin/sh\n");
  expect_refused("here", "no such program in PATH", "say ./here", ErrorKind::not_found);
}

TEST_F(CheckProgram, ADirectory) {
  expect_refused("/usr/bin/", "it is a directory", "inside it");
}

TEST_F(CheckProgram, ATextFile) {
  expect_refused(write("notes", "remember the milk\n").string(), "neither a program", "compiled");
  expect_refused(write("empty", "").string(), "neither a program", "compiled");
}

TEST_F(CheckProgram, NotExecutable) {
  expect_refused(write("script", "#!/bin/sh\n", 0644).string(), "not executable", "chmod +x");
}

TEST_F(CheckProgram, StaticallyLinked) {
  expect_refused((specimens / "static").string(), "statically linked", "without -static");
}

TEST_F(CheckProgram, AScriptIsJudgedByItsInterpreter) {
  expect_refused(write("script", "#! " + (specimens / "static").string() + " -x\n").string(),
                 "its interpreter " + (specimens / "static").string() + ": it is statically linked",
                 "without -static");
  expect_refused(write("none", "#!\n").string(), "names no interpreter", "#!");
  expect_refused(write("itself", "#!" + (directory_ / "itself").string() + "\n").string(),
                 "names no interpreter", "#!");
}

TEST_F(CheckProgram, Valgrind) {
  expect_refused(write("valgrind", "#!/bin/sh\n").string(), "a processor that it simulates",
                 "the program itself");
}

TEST_F(CheckProgram, SetUserId) {
  const fs::path program = directory_ / "privileged";
  fs::copy_file(specimens / "no_threads", program);
  ::chmod(program.c_str(), 04755);
  expect_refused(program.string(), "set-user-ID", "record a copy");
  ::chmod(program.c_str(), 02755);
  expect_refused(program.string(), "set-user-ID", "record a copy");
}

TEST_F(CheckProgram, AnotherArchitecture) {
  expect_refused(changed_program(18, 21).string(), "built for 64-bit PowerPC", "build it for");
}

TEST_F(CheckProgram, ThirtyTwoBits) {
  const std::string program = changed_program(4, 1).string();
  const auto checked = check_program(program, {}, "");
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().kind, ErrorKind::bad_input);
}

TEST_F(CheckProgram, ADamagedHeader) {
  expect_refused(write("damaged", "\177ELF and nothing else").string(), "damaged", "build it");
}

TEST_F(CheckProgram, AnAddressSanitizedProgramNamesItsSanitizer) {
  const auto checked = check_program((specimens / "address_sanitized").string(), {}, "");
  ASSERT_TRUE(checked.has_value()) << checked.error().text();
  EXPECT_THAT(checked->address_sanitizer, testing::StartsWith("libasan.so."));
}

}  // namespace
}  // namespace longpole::recording
