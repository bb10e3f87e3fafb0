// Whole recordings of the processes that a program starts, and of what it becomes.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "record_program.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FollowedRun : public testing::TestWithParam<SourceChoice> {
 protected:
  static Recorded followed(const std::string& how, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), how);
    Options options = options_for(recorder_specimen("family"), std::move(arguments));
    options.source = GetParam();
    options.follow = true;
    Recorded recorded = record(options);
    EXPECT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
    for (const ChildRecording& child : recorded.children)
      EXPECT_TRUE(child.recording.has_value()) << child.recording.error().text();
    return recorded;
  }
};
INSTANTIATE_TEST_SUITE_P(Sources, FollowedRun,
                         testing::Values(SourceChoice::automatic, SourceChoice::portable),
                         [](const auto& source) {
                           return source.param == SourceChoice::automatic ? "automatic"
                                                                          : "portable";
                         });

std::vector<std::ptrdiff_t> locks(const Recording& recording) {
  std::vector<std::ptrdiff_t> counts;
  for (const Thread& thread : recording.threads)
    counts.push_back(std::ranges::count(thread.events, EventKind::mutex_lock, &Event::kind));
  return counts;
}

std::vector<std::string> notices(const Recording& recording, const std::string& code) {
  std::vector<std::string> texts;
  for (const Notice& notice : recording.notices)
    if (notice.code == code)
      texts.push_back(notice.text);
  return texts;
}

// Work of its own, within the time that it was there.
void expect_sound(const Recording& recording) {
  EXPECT_THAT(locks(recording), ElementsAre(0, 30));
  EXPECT_GT(recording.run.cpu_time.count(), 0);
  EXPECT_LE(recording.run.cpu_time, recording.run.elapsed) << "it had one CPU";
  EXPECT_EQ(recording.threads[1].name, "lock_thirty_times.1");
}

TEST_P(FollowedRun, HasForkedChildrenWithWhatTheyDidThemselves) {
  const Recorded recorded = followed("forked", {"3"});
  EXPECT_EQ(recorded.output, "status 7\nstatus 0\nstatus 1\nstatus 2\n");
  expect_sound(*recorded.recording);
  ASSERT_EQ(recorded.children.size(), 4U);
  for (const ChildRecording& child : recorded.children) {
    expect_sound(*child.recording);
    EXPECT_THAT(notices(*child.recording, "cut-short"), IsEmpty());
    EXPECT_EQ(child.program, recorder_specimen("family"));
    EXPECT_THAT(child.recording->run.command, ElementsAre(child.program, "forked", "3"));
    EXPECT_LT(child.recording->run.elapsed, recorded.recording->run.elapsed);
  }
  EXPECT_EQ(recorded.children[0].parent, recorded.pid);
  EXPECT_EQ(recorded.children[1].parent, recorded.children[0].pid);
}

TEST_P(FollowedRun, SaysThatAChildWasKilled) {
  const Recorded recorded = followed("killed");
  ASSERT_EQ(recorded.children.size(), 1U);
  const Recording& child = *recorded.children[0].recording;
  expect_sound(child);
  EXPECT_FALSE(child.run.complete);
  EXPECT_THAT(notices(child, "cut-short"), ElementsAre(HasSubstr("was killed")));
  EXPECT_THAT(notices(*recorded.recording, "cut-short"), IsEmpty());
}

TEST_P(FollowedRun, HasAChildThatNeverSynchronises) {
  const Recorded recorded = followed("quiet");
  ASSERT_EQ(recorded.children.size(), 1U);
  const Recording& child = *recorded.children[0].recording;
  ASSERT_EQ(child.threads.size(), 1U);
  EXPECT_GT(child.run.cpu_time, Nanoseconds{100'000});
}

TEST_P(FollowedRun, SaysThatAChildStillRan) {
  const Recorded recorded = followed("outlives");
  ASSERT_EQ(recorded.children.size(), 1U);
  EXPECT_THAT(notices(*recorded.children[0].recording, "cut-short"),
              ElementsAre(HasSubstr("still ran")));
}

TEST_P(FollowedRun, EndsWhereTheProgramBecomesAnother) {
  const Recorded recorded = followed("replaced");
  EXPECT_EQ(recorded.recording->run.exit_status, 5);
  expect_sound(*recorded.recording);
  EXPECT_THAT(notices(*recorded.recording, "program-replaced"), IsEmpty());
  ASSERT_EQ(recorded.children.size(), 1U);
  EXPECT_EQ(recorded.children[0].pid, recorded.pid);
  const Recording& after = *recorded.children[0].recording;
  expect_sound(after);
  EXPECT_THAT(after.run.command, ElementsAre(recorder_specimen("family"), "work"));
  EXPECT_LT(after.run.cpu_time, recorded.recording->run.cpu_time) << "without what was before";
}

TEST_P(FollowedRun, HasProgramsThatItStarts) {
  for (const char* how : {"spawned", "vforked"}) {
    const Recorded recorded = followed(how, {recorder_specimen("family")});
    ASSERT_EQ(recorded.children.size(), 1U) << how;
    expect_sound(*recorded.children[0].recording);
    EXPECT_THAT(notices(*recorded.recording, "children-not-recorded"), IsEmpty()) << how;
  }
}

TEST_P(FollowedRun, CountsWhatCouldNotBeRecorded) {
  for (const char* how : {"spawned", "vforked"}) {
    const Recorded recorded = followed(how, {specimen("static")});
    EXPECT_THAT(recorded.children, IsEmpty());
    EXPECT_THAT(
        notices(*recorded.recording, "children-not-recorded"),
        ElementsAre(testing::AllOf(HasSubstr("One program"), HasSubstr("it is statically linked"))))
        << how;
  }
  const Recorded recorded = followed("bare", {recorder_specimen("family")});
  EXPECT_THAT(notices(*recorded.recording, "children-not-recorded"),
              ElementsAre(HasSubstr("the recorder was not loaded into it")));
}

TEST_P(FollowedRun, StartsSanitizedPrograms) {
  const Recorded recorded = followed("spawned", {specimen("address_sanitized")});
  EXPECT_EQ(recorded.error_output, "");
}

TEST(UnfollowedRun, LeavesChildrenAlone) {
  const Recorded recorded = record(options_for(recorder_specimen("family"), {"forked", "2"}));
  EXPECT_THAT(recorded.children, IsEmpty());
  EXPECT_THAT(locks(*recorded.recording), ElementsAre(0, 30));
}

}  // namespace
}  // namespace longpole::recording
