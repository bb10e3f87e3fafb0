#include "recording/stolen_time.h"

#include <gmock/gmock.h>

namespace longpole::recording {
namespace {

using testing::ElementsAre;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t base = 5'000 * ms;

// Nothing in the first tenth of a second, 40 ms in the second, and nothing from there on.
StolenTime forty_in_the_second_tenth() {
  const std::vector<StolenLook> looks{{base, 7 * ms},
                                      {base + 100 * ms, 7 * ms},
                                      {base + 200 * ms, 47 * ms},
                                      {base + 500 * ms, 47 * ms}};
  return {looks, base};
}

TEST(StolenTime, IsKnownBetweenLooksAndToAStepOfItsCounter) {
  const StolenTime stolen = forty_in_the_second_tenth();
  EXPECT_EQ(stolen.total(), 40 * ms);
  EXPECT_EQ(stolen.most_between(110 * ms, 120 * ms), 50 * ms);
  EXPECT_EQ(stolen.most_between(90 * ms, 110 * ms), 50 * ms);
  EXPECT_EQ(stolen.most_between(190 * ms, 600 * ms), 50 * ms);
  EXPECT_EQ(stolen.most_between(-10 * ms, 600 * ms), 50 * ms);
}

TEST(StolenTime, IsNoneWhereTheCounterStands) {
  const StolenTime stolen = forty_in_the_second_tenth();
  EXPECT_EQ(stolen.most_between(10 * ms, 100 * ms), 0);
  EXPECT_EQ(stolen.most_between(200 * ms, 450 * ms), 0);
  EXPECT_EQ(StolenTime().total(), 0);
  EXPECT_EQ(StolenTime().most_between(0, 100 * ms), 0);
}

TEST(StolenTime, IsSharedOutAmongWhatRanBetweenTheLooks) {
  const StolenTime stolen = forty_in_the_second_tenth();
  // In the second tenth they ran for 50, 10 and 20 ms.
  const std::vector<StolenTime::Run> runs{
      {50 * ms, 150 * ms}, {150 * ms, 160 * ms}, {180 * ms, 300 * ms}, {300 * ms, 400 * ms}};
  EXPECT_THAT(stolen.shared_out(runs), ElementsAre(25 * ms, 5 * ms, 10 * ms, 0));
  EXPECT_THAT(StolenTime().shared_out(runs), ElementsAre(0, 0, 0, 0));
}

TEST(StolenTime, IsNeverMoreThanWhatRan) {
  const std::vector<StolenTime::Run> runs{{150 * ms, 160 * ms}, {170 * ms, 190 * ms}};
  EXPECT_THAT(forty_in_the_second_tenth().shared_out(runs), ElementsAre(10 * ms, 20 * ms));
}

TEST(StolenTimeWatch, KeepsTheLooksBeforeAndAfterEachChange) {
  StolenTimeWatch watch({});
  for (const StolenLook& look :
       {StolenLook{0, 7}, {1, 7}, {2, 7}, {3, 9}, {4, 10}, {5, 10}, {6, 10}})
    watch.note(look);
  EXPECT_THAT(watch.take(), ElementsAre(StolenLook{0, 7}, StolenLook{2, 7}, StolenLook{3, 9},
                                        StolenLook{4, 10}, StolenLook{6, 10}));
  EXPECT_THAT(watch.take(), testing::IsEmpty());
}

}  // namespace
}  // namespace longpole::recording
