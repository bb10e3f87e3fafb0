#include "recording/record_counter.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <vector>

#include "longpole/raw_record.h"
#include "recording/children.h"
#include "recording/run_files.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t page = LONGPOLE_PAGE_BYTES;

// The files of a process that is recorded, as its recorder writes them.
class WrittenRun {
 public:
  explicit WrittenRun(fs::path directory) : directory_(std::move(directory)) {
    fs::create_directories(directory_);
    events_ = Descriptor(::open((directory_ / events_file).c_str(), O_RDWR | O_CREAT, 0600));
    control_ = Descriptor(::open((directory_ / control_file).c_str(), O_RDWR | O_CREAT, 0600));
    claim(0, 0);
  }

  void claim(std::uint32_t pages, std::uint32_t children) const {
    longpole_control control{};
    control.next_unit = pages * (LONGPOLE_PAGE_BYTES / LONGPOLE_UNIT_BYTES);
    control.next_child = children;
    write(control_, 0, control);
  }

  void chunk(std::uint64_t at, std::uint32_t bytes, longpole_form form,
             std::uint32_t closed_with = 0) const {
    longpole_chunk header{};
    header.bytes = bytes;
    header.form = form;
    header.used =
        closed_with == 0
            ? 0
            : static_cast<std::uint32_t>(sizeof header + closed_with * sizeof(longpole_record));
    write(events_, at, header);
  }

  void fill(std::uint64_t chunk, std::size_t records) const {
    longpole_record record{};
    record.kind_and_flags = LONGPOLE_YIELD;
    constexpr std::size_t slots = (page - LONGPOLE_FIRST_SLOT) / sizeof record;
    for (std::size_t i = 0; i < records; ++i)
      write(events_, chunk + i / slots * page + LONGPOLE_FIRST_SLOT + i % slots * sizeof record,
            record);
  }

 private:
  template <typename T>
  static void write(const Descriptor& file, std::uint64_t at, const T& value) {
    ASSERT_EQ(::pwrite(file.get(), &value, sizeof value, static_cast<off_t>(at)),
              static_cast<ssize_t>(sizeof value));
  }

  fs::path directory_;
  Descriptor events_;
  Descriptor control_;
};

class RecordCounterTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(directory); }

  const fs::path directory =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  const WrittenRun run{directory};
  RecordCounter counter{directory};
};

TEST_F(RecordCounterTest, FollowsWhatThreadsWrite) {
  EXPECT_EQ(counter.count(), 0U);
  run.chunk(0, 4 * page, LONGPOLE_FORM_RECORDS);
  run.chunk(4 * page, 2 * page, LONGPOLE_FORM_RECORDS);
  run.claim(6, 0);
  run.fill(0, 3);
  EXPECT_EQ(counter.count(), 3U);
  run.fill(0, 5);
  run.fill(4 * page, 1);
  EXPECT_EQ(counter.count(), 6U);
}

TEST_F(RecordCounterTest, CountsNoRoomBetweenPages) {
  constexpr std::size_t slots = (page - LONGPOLE_FIRST_SLOT) / sizeof(longpole_record);
  run.chunk(0, 8 * page, LONGPOLE_FORM_RECORDS);
  run.claim(8, 0);
  for (const std::size_t records : {slots - 1, slots, slots + 1, 4 * slots + 3, 8 * slots}) {
    run.fill(0, records);
    EXPECT_EQ(counter.count(), records);
  }
  constexpr std::size_t closed_at = 2 * page + LONGPOLE_FIRST_SLOT + 5 * sizeof(longpole_record);
  run.chunk(0, 8 * page, LONGPOLE_FORM_RECORDS,
            (closed_at - sizeof(longpole_chunk)) / sizeof(longpole_record));
  EXPECT_EQ(counter.count(), 2 * slots + 5);
}

TEST_F(RecordCounterTest, WaitsForWhatIsClaimedAndNotYetWritten) {
  run.chunk(2 * page, page, LONGPOLE_FORM_ENCODED, 10);
  run.claim(3, 0);
  EXPECT_EQ(counter.count(), 10U) << "what lies behind it counts";
  run.chunk(0, 2 * page, LONGPOLE_FORM_RECORDS);
  run.fill(0, 7);
  EXPECT_EQ(counter.count(), 17U);
}

TEST_F(RecordCounterTest, CountsOnceWhatIsCopiedAndThenEmptied) {
  run.chunk(0, 2 * page, LONGPOLE_FORM_RECORDS);
  run.fill(0, 20);
  run.chunk(2 * page, 2 * page, LONGPOLE_FORM_NOTHING, 20);  // still being written
  run.claim(4, 0);
  EXPECT_EQ(counter.count(), 20U);
  run.chunk(2 * page, 2 * page, LONGPOLE_FORM_ENCODED, 20);
  run.chunk(0, 2 * page, LONGPOLE_FORM_NOTHING);
  EXPECT_EQ(counter.count(), 20U);
}

TEST_F(RecordCounterTest, DoesNotLookAgainAtWhatIsSettled) {
  run.chunk(0, page, LONGPOLE_FORM_ENCODED, 30);
  run.chunk(page, page, LONGPOLE_FORM_NOTHING, 40);
  run.claim(2, 0);
  EXPECT_EQ(counter.count(), 30U);
  run.chunk(page, page, LONGPOLE_FORM_ENCODED, 40);
  EXPECT_EQ(counter.count(), 70U);
  run.chunk(0, page, LONGPOLE_FORM_NOTHING);
  run.chunk(page, page, LONGPOLE_FORM_NOTHING);
  EXPECT_EQ(counter.count(), 70U) << "it was read again";
}

TEST_F(RecordCounterTest, CountsTheProcessesThatAreFollowed) {
  const WrittenRun child(directory / child_directory(2));
  run.chunk(0, page, LONGPOLE_FORM_ENCODED, 1);
  run.claim(1, 2);  // the first has claimed its number and made no directory yet
  child.chunk(0, page, LONGPOLE_FORM_ENCODED, 2);
  child.claim(1, 0);
  EXPECT_EQ(counter.count(), 3U);
  EXPECT_EQ(counter.count(), 3U);
}

TEST(RecordCounter, OfNoRunIsNothing) {
  EXPECT_EQ(RecordCounter("/nowhere").count(), 0U);
}

}  // namespace
}  // namespace longpole::recording
