// Opening whatever a user names, and never leaving half a file.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "storage/load.h"
#include "synthetic_recording.h"

namespace longpole::storage {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Storage : public testing::Test {
 public:
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

 protected:
  Storage() {
    std::string name = fs::temp_directory_path() / "longpole-storage-XXXXXX";
    directory_ = ::mkdtemp(name.data());
  }
  ~Storage() override { fs::remove_all(directory_); }

  [[nodiscard]] fs::path file(const std::string& name, std::string_view content) const {
    std::ofstream(directory_ / name, std::ios::binary) << content;
    return directory_ / name;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(directory_))
      out.push_back(entry.path().filename());
    std::sort(out.begin(), out.end());
    return out;
  }

  fs::path directory_;
};

Error refusal(const fs::path& path) {
  auto read = load_recording(path);
  EXPECT_FALSE(read) << path;
  if (read)
    return {};
  EXPECT_EQ(read.error().what, "cannot read " + path.string());
  return read.error();
}

TEST_F(Storage, TellsFormsApartByContentThenByEnding) {
  const Recording r = tests::synthetic_recording(100, 2);
  ASSERT_TRUE(save_recording(r, directory_ / "run.lptrace"));
  ASSERT_TRUE(save_recording(r, directory_ / "renamed.prog"));
  for (const char* name : {"run.lptrace", "renamed.prog"}) {
    const auto read = load_recording(directory_ / name);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(*read, r);
  }
  const auto program = load_recording(file("a.prog", "thread a\n run f 1\n"));
  ASSERT_TRUE(program);
  EXPECT_EQ(program->run.source, Source::program);
  const auto text = load_recording(file("a.rec", "0 a yield\n"));
  ASSERT_TRUE(text);
  EXPECT_EQ(text->run.source, Source::text);
}

TEST_F(Storage, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(refusal(directory_ / "none.prog").kind, ErrorKind::not_found);
  EXPECT_EQ(refusal(directory_ / "none.prog").why, "there is no such file");
  EXPECT_EQ(refusal(file("f", "") / "below").why, "there is no such file");
  EXPECT_EQ(refusal(directory_).why, "it is a directory");
  EXPECT_EQ(refusal("/dev/null").why, "it is not a regular file");
  EXPECT_EQ(refusal(file("empty.prog", "")).why, "it is empty");
  EXPECT_EQ(refusal(file("empty.lptrace", "")).why, "it is empty");
  EXPECT_EQ(refusal(file("notes.txt", "some text\n")).why,
            "it is no recording file, and its name ends neither in .prog nor in .rec");
  EXPECT_EQ(refusal("/proc/self/exe").why, "it is a program, not a recording");
  EXPECT_THAT(refusal("/proc/self/exe").remedy, HasSubstr("longpole record -- "));
  EXPECT_EQ(refusal(file("text.lptrace", "thread a\n")).why,
            "it does not begin as a recording file does");
  EXPECT_EQ(refusal(file("a.prog", "thread a\n lok M\n")).why.substr(0, 17), "line 2, column 2:");
  for (const char* name : {"none.prog", "empty.prog", "notes.txt", "a.prog"})
    EXPECT_NE(refusal(directory_ / name).kind, ErrorKind::failure) << name;
}

TEST_F(Storage, AFifoDoesNotHang) {
  ASSERT_EQ(::mkfifo((directory_ / "fifo.rec").c_str(), 0600), 0);
  EXPECT_EQ(refusal(directory_ / "fifo.rec").why, "it is not a regular file");
}

TEST_F(Storage, ReplacesAFileWholeAndLeavesNothingElse) {
  const fs::path path = file("out", "old");
  ASSERT_TRUE(write_file_whole("new", path));
  EXPECT_EQ(read_file_whole(path).value_or(""), "new");
  EXPECT_THAT(names(), ElementsAre("out"));
}

TEST_F(Storage, ALinkStaysAndItsFileIsReplaced) {
  const fs::path path = file("out", "old");
  fs::create_symlink("out", directory_ / "link");
  ASSERT_TRUE(write_file_whole("new", directory_ / "link"));
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(read_file_whole(path).value_or(""), "new");
}

TEST_F(Storage, RefusesToWriteWhereThereIsNoFile) {
  EXPECT_EQ(write_file_whole("x", directory_).error().why, "it is a directory");
  EXPECT_EQ(write_file_whole("x", "/dev/null").error().why,
            "it is there and is not a regular file");
  const auto error = write_file_whole("x", directory_ / "no" / "file").error();
  EXPECT_EQ(error.kind, ErrorKind::not_found);
  EXPECT_EQ(error.why, "there is no such directory");
  EXPECT_THAT(names(), testing::IsEmpty());
}

// A full disk, as a limit on the size of files brings about.
TEST_F(Storage, LeavesTheOldFileWhenTheNewOneDoesNotFit) {
  const fs::path path = file("out", "old");
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  const ::rlimit small{.rlim_cur = 4096, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = write_file_whole(std::string(100'000, 'x'), path);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::failure);
  EXPECT_EQ(read_file_whole(path).value_or(""), "old");
  EXPECT_THAT(names(), ElementsAre("out"));
}

}  // namespace
}  // namespace longpole::storage
