// Recording files: what is damaged, cut off, newer or too large is refused with a reason, and
// nothing that can be read is invalid. That nothing is lost is shown in round_trip_test.cc.
#include "trace/recording_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <random>
#include <string>
#include <utility>

#include "random_recording.h"
#include "storage/load.h"
#include "synthetic_recording.h"
#include "trace/event_forms.h"
#include "trace/host_costs.h"
#include "trace/recording_file_format.h"

namespace longpole {
namespace {

using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

Error refusal(std::span<const std::uint8_t> bytes) {
  auto read = decode_recording(bytes, "test.lptrace");
  if (read)
    return {ErrorKind::failure, "", "was accepted", ""};
  EXPECT_EQ(read.error().what, "cannot read test.lptrace");
  return read.error();
}

// Small, with several threads and every table.
Bytes small_file(Compression compression = Compression::zstd) {
  for (std::uint32_t seed = 0;; ++seed) {
    const Recording r = tests::random_recording(seed);
    if (r.threads.size() > 2 && r.event_count() > 40 && r.profiles.size() > 1 && !r.files.empty() &&
        !r.modules.empty() && !r.notices.empty() && r.run.source == Source::kernel)
      return encode_recording_with(r, compression);
  }
}

TEST(RecordingFile, LargeRecordingsTakeManyBlocks) {
  const Recording r = tests::synthetic_recording(150'000, 3);
  const Bytes bytes = encode_recording(r);
  const auto read = decode_recording(bytes, "test.lptrace");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(*read == r);
  EXPECT_LE(bytes.size(), 6 * r.event_count());
}

// Files from before there were costs, or a rate of samples, end where these would follow: they read on.
TEST(RecordingFile, EndsBehindTheLastThatIsKnownOfTheRun) {
  Recording r = *decode_recording(small_file(), "test.lptrace");
  r.run.costs = {};
  r.run.sample_hz = 0;
  const auto size = [&] { return encode_recording_with(r, Compression::none).size(); };
  const std::size_t without = size();
  r.run.costs.wake_up = Nanoseconds{10};
  EXPECT_EQ(size(), without + 3) << "that there is one, which, and what it is";
  EXPECT_EQ(decode_recording(encode_recording(r), "test.lptrace")->run.sample_hz, 0U);
  r.run.sample_hz = 100;
  EXPECT_EQ(size(), without + 4);
  r.run.costs = {};
  EXPECT_EQ(size(), without + 2) << "that there are no costs, and the rate";
}

TEST(RecordingFile, ManyThreadsShareBlocks) {
  Recording r;
  for (int i = 0; i < 40'000; ++i)
    r.threads.push_back({.name = std::to_string(i),
                         .events = {{.time = Nanoseconds{i}, .kind = EventKind::thread_end}}});
  r.threads[5].events.clear();
  r.run.complete = false;
  const auto read = decode_recording(encode_recording(r), "test.lptrace");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(*read == r);
}

TEST(RecordingFile, UncompressedFilesReadTheSame) {
  const auto compressed = decode_recording(small_file(), "a");
  const auto plain = decode_recording(small_file(Compression::none), "b");
  ASSERT_TRUE(compressed);
  ASSERT_TRUE(plain);
  EXPECT_EQ(*compressed, *plain);
}

TEST(RecordingFile, EveryTruncationIsRefusedWithItsOffset) {
  const Bytes whole = small_file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = refusal(std::span(whole).first(size));
    EXPECT_EQ(error.kind, ErrorKind::bad_input);
    EXPECT_THAT(error.why,
                HasSubstr("it is damaged at byte " + std::to_string(size) + ": it is cut off"));
    EXPECT_THAT(error.remedy, HasSubstr("record again"));
  }
}

TEST(RecordingFile, EveryChangedByteIsRefused) {
  const Bytes whole = small_file();
  std::mt19937 random(7);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes changed = whole;
    changed[at] ^= static_cast<std::uint8_t>(1 + random() % 255);
    EXPECT_NE(refusal(changed).why, "was accepted") << "byte " << at;
  }
}

// Times would go to other events in a file that says it is older.
TEST(RecordingFile, EveryOtherFormatIsRefused) {
  const Bytes whole = small_file();
  for (unsigned changed = 1; changed < 256; ++changed) {
    Bytes other = whole;
    other[recording_magic.size()] ^= static_cast<std::uint8_t>(changed);
    EXPECT_NE(refusal(other).why, "was accepted") << changed;
  }
}

// Behind the checksum: whatever the bytes say, the result is an error or a valid Recording.
TEST(RecordingFile, DamageThatNoChecksumShowsIsRefusedOrHarmless) {
  std::mt19937 random(11);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (const Compression compression : {Compression::none, Compression::zstd}) {
    const Bytes whole = small_file(compression);
    for (int i = 0; i < 10'000; ++i) {
      Bytes changed = whole;
      for (auto n = 1 + random() % 4; n > 0; --n)
        changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
      const auto read = decode_recording_with(changed, "test.lptrace", Checksums::ignored,
                                              {.events = 100'000, .table_bytes = 1 << 20});
      if (!read) {
        ++refused;
        EXPECT_FALSE(read.error().why.empty());
        continue;
      }
      ++accepted;
      const auto valid = validate(*read);
      EXPECT_TRUE(valid) << valid.error().text();
      const auto again = decode_recording(encode_recording(*read), "again");
      EXPECT_TRUE(again && *again == *read);
    }
  }
  EXPECT_GT(accepted, 100U) << "else the damage never got past the first checks";
  EXPECT_GT(refused, 100U);
}

TEST(RecordingFile, BytesAfterTheEndAreRefused) {
  Bytes bytes = small_file();
  const std::size_t size = bytes.size();
  bytes.push_back(0);
  EXPECT_EQ(refusal(bytes).why,
            "it is damaged at byte " + std::to_string(size) + ": something follows the end");
}

TEST(RecordingFile, OtherFilesAreToldApart) {
  const std::string text = "thread a\n run f 1\n";
  const Error error = refusal({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  EXPECT_EQ(error.why, "it does not begin as a recording file does");
  EXPECT_THAT(error.remedy, HasSubstr("longpole record"));
}

TEST(RecordingFile, NewerFormatsAreNamedWithWhatToDo) {
  Bytes bytes = small_file();
  bytes[recording_magic.size()] = 5;
  const Error error = refusal(bytes);
  EXPECT_EQ(error.why,
            "it was written by a newer longpole, in format 5; this one reads formats up to 4");
  EXPECT_EQ(error.remedy, "update longpole, or record again with this one");
}

// Written by programs of their time: format 3 has the times of its events in order of time.
TEST(RecordingFile, OlderFormatsAreReadOn) {
  const std::filesystem::path data(LONGPOLE_TEST_DATA);
  const std::filesystem::path golden(LONGPOLE_GOLDEN);
  for (const auto& [file, text] :
       {std::pair(data / "formats/format-1.lptrace", golden / "model-q.rec"),
        std::pair(data / "formats/format-3.lptrace", data / "formats/format-3.rec")}) {
    const auto old = storage::load_recording(file);
    ASSERT_TRUE(old) << old.error().text();
    const auto same = storage::load_recording(text);
    ASSERT_TRUE(same) << same.error().text();
    EXPECT_TRUE(*old == *same) << file;
  }
}

// The same calls in turns, at different times: each gets its own back.
TEST(RecordingFile, TimesThatStandByCallsGoBackToTheirEvents) {
  const auto recording =
      storage::load_recording(std::filesystem::path(LONGPOLE_TEST_DATA) / "formats/format-3.rec");
  ASSERT_TRUE(recording);
  const auto read = decode_recording(encode_recording(*recording), "test.lptrace");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_TRUE(*read == *recording);
}

TEST(RecordingFile, CostsKeepTheNumbersThatTheyHadBeforeInterrupts) {
  EXPECT_EQ(number_in_file(*host_cost_of("context-switch")), 0U);
  EXPECT_EQ(number_in_file(*host_cost_of("wake-up")), 2U);
  EXPECT_EQ(number_in_file(*host_cost_of("interrupt")), 1000U);
  EXPECT_EQ(number_in_file(*host_cost_of("block")), 1001U);
  EXPECT_EQ(number_in_file(*host_cost_of("release-afar")), 1003U);
  EXPECT_EQ(number_in_file(*host_cost_of("lock-afar")), 1004U);
  EXPECT_EQ(number_in_file(*host_cost_of("idle-look")), 1006U);
  EXPECT_EQ(number_in_file(*host_cost_of("packed-use")), 1007U);
  EXPECT_EQ(number_in_file(*host_cost_of("interruption")), 1008U);
  EXPECT_EQ(number_in_file(*host_cost_of("deep-sleep")), 1009U);
  EXPECT_EQ(number_in_file(*host_cost_of("deep-release")), 1011U);
  for (std::size_t kind = 0; kind < event_kind_count; ++kind)
    EXPECT_EQ(number_in_file(*host_cost_of(event_form(static_cast<EventKind>(kind)).word)),
              3 + kind);
  for (std::size_t cost = 0; cost < host_cost_count; ++cost)
    EXPECT_EQ(host_cost_numbered(number_in_file(cost)), cost);
  EXPECT_EQ(host_cost_numbered(host_cost_count), std::nullopt);
}

TEST(RecordingFile, NamesTheLimitThatRefuses) {
  const Bytes bytes = small_file();
  const auto why = [&](const Limits& limits) {
    const auto read = decode_recording_with(bytes, "test.lptrace", Checksums::verified, limits);
    EXPECT_FALSE(read);
    if (read)
      return std::string();
    EXPECT_EQ(read.error().kind, ErrorKind::limit);
    return read.error().why;
  };
  EXPECT_EQ(why({.threads = 1}).substr(0, 7), "it has ");
  EXPECT_THAT(why({.threads = 1}), HasSubstr("threads; the limit is 1"));
  EXPECT_EQ(why({.events = 10}), "it has more than 10 events, the limit");
  EXPECT_THAT(why({.name_bytes = 1}), HasSubstr("bytes of a name; the limit is 1"));
  EXPECT_THAT(why({.table_bytes = 16}), HasSubstr("bytes; the limit is 16"));
}

// A block that claims to be huge is refused before any memory is set aside for it.
TEST(RecordingFile, SizesAreCheckedBeforeMemoryIsSetAside) {
  Bytes bytes = small_file();
  const std::size_t tables = recording_magic.size() + 4;
  for (std::size_t i = 12; i < 16; ++i)
    bytes[tables + i] = 0xff;
  const auto read =
      decode_recording_with(bytes, "test.lptrace", Checksums::ignored, {.table_bytes = 1 << 20});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().why, "its tables have 4294967295 bytes; the limit is 1048576");
}

}  // namespace
}  // namespace longpole
