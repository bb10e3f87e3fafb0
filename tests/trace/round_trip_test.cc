// Whatever is valid can be written in every form and read again without loss, and writing it twice
// gives the same bytes.
#include <gtest/gtest.h>

#include <set>

#include "random_recording.h"
#include "trace/event_forms.h"
#include "trace/recording_file.h"
#include "trace/recording_text.h"

namespace longpole {
namespace {

constexpr std::uint32_t seeds = 1000;

TEST(RoundTrip, RandomRecordingsAreValidAndHoldEverything) {
  std::set<EventKind> kinds;
  std::set<std::pair<EventKind, Outcome>> outcomes;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const Recording r = tests::random_recording(seed);
    const auto valid = validate(r);
    ASSERT_TRUE(valid) << "seed " << seed << ": " << valid.error().text();
    for (const Thread& thread : r.threads)
      for (const Event& event : thread.events) {
        kinds.insert(event.kind);
        outcomes.emplace(event.kind, event.outcome);
      }
  }
  EXPECT_EQ(kinds.size(), event_kind_count);
  std::size_t possible = 0;
  for (std::size_t kind = 0; kind < event_kind_count; ++kind)
    for (std::size_t outcome = 0; outcome < outcome_count; ++outcome)
      if (event_form(static_cast<EventKind>(kind)).allows(static_cast<Outcome>(outcome)))
        ++possible;
  // `create` is made where it belongs, and there it succeeds.
  EXPECT_EQ(outcomes.size(), possible - 2);
}

TEST(RoundTrip, TextLosesNothing) {
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const Recording r = tests::random_recording(seed);
    const std::string text = write_recording_text(r);
    const auto read = read_recording_text(text, "test.rec");
    ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().text() << "\n" << text;
    ASSERT_EQ(*read, r) << "seed " << seed << "\n" << text << "\n" << write_recording_text(*read);
    EXPECT_EQ(write_recording_text(*read), text);
  }
}

TEST(RoundTrip, FilesLoseNothing) {
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const Recording r = tests::random_recording(seed);
    const std::vector<std::uint8_t> bytes = encode_recording(r);
    const auto read = decode_recording(bytes, "test.lptrace");
    ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().text();
    ASSERT_EQ(*read, r) << "seed " << seed;
    EXPECT_EQ(encode_recording(*read), bytes) << "seed " << seed;
  }
}

}  // namespace
}  // namespace longpole
