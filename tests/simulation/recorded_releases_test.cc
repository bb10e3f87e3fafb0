// Which calls of a recorded run let threads go on: recording in, a line per call out.
#include "simulation/recorded_releases.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "trace/recording_text.h"

namespace longpole::simulation {
namespace {

// "A0 2, B1 ended": the first call of A let two threads go on, and it is known by what the second of B ended.
std::string releases(const std::string& text) {
  const auto recording = read_recording_text(text, "test");
  if (!recording)
    return recording.error().text();
  const RecordedReleases releases(*recording);
  std::string lines;
  for (std::size_t t = 0; t < recording->threads.size(); ++t) {
    for (std::size_t i = 0; i < recording->threads[t].events.size(); ++i) {
      const std::string call = recording->threads[t].name + std::to_string(i);
      const std::string separator = lines.empty() ? "" : ", ";
      if (const std::uint32_t made = releases.made_by(t, i); made > 0)
        lines += separator + call + " " + std::to_string(made);
      else if (releases.ended(t, i))
        lines += separator + call + " ended";
    }
  }
  return lines;
}

constexpr const char* costs = "cost release 0.5\n";

TEST(RecordedReleases, AreTheLastCallsOnTheSameThingBeforeAWaitEnds) {
  EXPECT_EQ(releases(std::string(costs) + R"(
1 A lock M
2 B lock M took=4 from A
3 A unlock M
4 A lock N
5 A unlock N
7 A lock M took=1 from B
7 B unlock M
9 A unlock M
)"),
            "A1 1, A4 ended, B0 ended, B1 1");
}

TEST(RecordedReleases, OfABarrierAreAllMadeByWhoCameLast) {
  EXPECT_EQ(releases(std::string(costs) + R"(
1 A barrier X 3 took=3 from C
2 B barrier X 3 took=2 from C
4 C barrier X 3
5 A barrier X 3
6 C barrier X 3 took=2 from B
7 B barrier X 3
)"),
            "A0 ended, C0 2, C1 ended, B0 ended, B1 1");
}

TEST(RecordedReleases, AreNotFoundWhereNobodyIsKnownOrTheWakerDidNothing) {
  EXPECT_EQ(releases(std::string(costs) + R"(
1 A wait S took=2
2 B post S
4 A lock M took=1 from B
5 B post S
)"),
            "");
}

TEST(RecordedReleases, AreLookedForWhereTheyAreTakenOutOnly) {
  const std::string run = "1 A wait S took=2 from B\n2 B post S\n";
  EXPECT_EQ(releases(costs + run), "A0 ended, B0 1");
  EXPECT_EQ(releases(run), "");
  EXPECT_EQ(releases("cpus 2\n" + (costs + run)), "");
}

// Farther back than a jump of the search is long.
TEST(RecordedReleases, AreFoundAmongMany) {
  std::string text = costs + std::string("0 B wait S took=3 from A\n");
  for (int i = 0; i < 100; ++i) {
    if (i == 50 || i == 60)
      text += fmt::format("{} B wait S took={} from A\n", 10 * i, i == 50 ? 93 : 400);
    text += fmt::format("{} A post S\n{} A post T\n", 10 * i + 1, 10 * i + 2);
  }
  EXPECT_EQ(releases(text), "B0 ended, B1 ended, B2 ended, A0 1, A118 1, A198 1");
}

}  // namespace
}  // namespace longpole::simulation
