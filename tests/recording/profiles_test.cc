// Which stretches are described by which samples.
#include "recording/profiles.h"

#include <gmock/gmock.h>

#include <vector>

namespace longpole::recording {
namespace {

using testing::ElementsAre;

constexpr StackId heavy{0};
constexpr StackId light{1};
constexpr StackId site{2};

SampleCounts counts(std::uint64_t of_heavy, std::uint64_t of_light) {
  SampleCounts out;
  if (of_heavy != 0)
    out[heavy] = of_heavy;
  if (of_light != 0)
    out[light] = of_light;
  return out;
}

bool groups_differ(const std::vector<SampleCounts>& groups) {
  std::vector<const SampleCounts*> pointers;
  for (const SampleCounts& group : groups)
    pointers.push_back(&group);
  return differ(pointers);
}

TEST(Agreement, OfGroupsThatAreAlikeIsChance) {
  EXPECT_FALSE(groups_differ({}));
  EXPECT_FALSE(groups_differ({counts(1, 0)}));
  EXPECT_FALSE(groups_differ({counts(50, 50)}));
  EXPECT_FALSE(groups_differ({counts(48, 52), counts(55, 45), counts(50, 50)}));
  EXPECT_FALSE(groups_differ({counts(30, 0), counts(40, 0)}));
  EXPECT_FALSE(groups_differ({counts(2, 0), counts(0, 2)})) << "as likely as not";
}

TEST(Agreement, BeyondChanceTellsGroupsApart) {
  EXPECT_TRUE(groups_differ({counts(30, 0), counts(0, 30)}));
  EXPECT_TRUE(groups_differ({counts(80, 20), counts(20, 80)}));
  std::vector<SampleCounts> tasks(20, counts(3, 0));
  tasks.resize(40, counts(0, 3));
  EXPECT_TRUE(groups_differ(tasks));
}

TEST(Agreement, OfGroupsOfOneTellsNothing) {
  std::vector<SampleCounts> groups(100, counts(1, 0));
  groups.resize(200, counts(0, 1));
  EXPECT_FALSE(groups_differ(groups));
}

TEST(Agreement, ThatDiffersByLittleDoesNotMatter) {
  EXPECT_FALSE(groups_differ({counts(52'000, 48'000), counts(48'000, 52'000)}));
}

// Threads whose stretches all lie between calls from the same place, and hold so many samples.
class Profiles : public testing::Test {
 protected:
  void add(const std::vector<SampleCounts>& stretches) {
    MergedThread merged;
    for (const SampleCounts& samples : stretches) {
      const auto event = static_cast<std::uint32_t>(merged.events.size());
      for (const auto& [stack, weight] : samples)
        merged.samples.push_back({.event = event,
                                  .path = static_cast<std::uint32_t>(stack.index()),
                                  .weight = static_cast<std::uint32_t>(weight)});
      Event computes;
      computes.kind = EventKind::mutex_lock;
      computes.cpu = Nanoseconds{1000};
      merged.events.push_back(computes);
      merged.sites.push_back(0);
    }
    pools_.add_thread(merged, threads_.size(), FunctionId{0}, StackId::none());
    threads_.emplace_back();
    threads_.back().events = std::move(merged.events);
  }

  // By thread and event, what is known of where it was: samples in `heavy` and in `light`.
  std::vector<std::vector<std::pair<int, int>>> result() {
    const std::vector<Profile> profiles = pools_.take_profiles(threads_);
    used_ = profiles.size();
    std::vector<std::vector<std::pair<int, int>>> out;
    for (const Thread& thread : threads_) {
      out.emplace_back();
      for (const Event& event : thread.events) {
        std::pair<int, int> samples;
        for (const ProfileEntry& entry : profiles.at(event.profile.index()).entries)
          (entry.stack == heavy ? samples.first : samples.second) +=
              static_cast<int>(entry.samples);
        out.back().push_back(samples);
      }
    }
    return out;
  }

  std::size_t used_ = 0;

 private:
  std::vector<StackId> sites_ = {site};
  std::vector<StackId> paths_ = {heavy, light};
  ProfilePools pools_{sites_, paths_};
  std::vector<Thread> threads_;
};

std::vector<SampleCounts> repeated(std::size_t times, const SampleCounts& samples) {
  return std::vector<SampleCounts>(times, samples);
}

using Pairs = std::vector<std::pair<int, int>>;

TEST_F(Profiles, OfStretchesThatAreAlikeArePooled) {
  add({counts(1, 0), counts(1, 1), {}, counts(0, 1)});
  add({counts(2, 0), counts(0, 2), {}});
  // The first stretch of a thread has no call before it, and is another kind.
  EXPECT_THAT(result(),
              ElementsAre(Pairs{{3, 0}, {1, 4}, {1, 4}, {1, 4}}, Pairs{{3, 0}, {1, 4}, {1, 4}}));
  EXPECT_EQ(used_, 2U);
}

TEST_F(Profiles, OfThreadsThatDifferAreTheirOwn) {
  std::vector<SampleCounts> first = repeated(20, counts(2, 0));
  first.emplace_back();
  add(first);
  add(repeated(20, counts(0, 2)));
  add({{}, {}});
  const auto samples = result();
  EXPECT_EQ(samples[0][1], std::pair(38, 0));
  EXPECT_EQ(samples[0].back(), std::pair(38, 0)) << "it has none of its own";
  EXPECT_EQ(samples[1][1], std::pair(0, 38));
  EXPECT_EQ(samples[2][1], std::pair(38, 38)) << "nothing is known of that thread";
}

TEST_F(Profiles, OfStretchesThatDifferAreTheirOwn) {
  for (int thread = 0; thread < 2; ++thread) {
    std::vector<SampleCounts> tasks = {{}};
    for (int task = 0; task < 15; ++task) {
      tasks.push_back(counts(3, 0));
      tasks.push_back(counts(0, 4));
    }
    tasks.emplace_back();
    add(tasks);
  }
  const auto samples = result();
  for (const auto& thread : samples) {
    EXPECT_EQ(thread[1], std::pair(3, 0));
    EXPECT_EQ(thread[2], std::pair(0, 4));
    EXPECT_EQ(thread.back(), std::pair(90, 120));
  }
}

}  // namespace
}  // namespace longpole::recording
