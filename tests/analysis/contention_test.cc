// What threads wait for, the path that this makes, and the threads themselves.
#include "analysis/contention.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "../trace/worker_recording.h"
#include "analysis/change.h"
#include "analysis/study.h"
#include "programs.h"
#include "random_program.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

Study study_of(Recording recording) {
  return Study(std::make_shared<const Recording>(std::move(recording)));
}

// A holds M from 0 to 4 and from 8 to 10; B waits for it from 1 to 4, holds it to 8; C waits from 2 to
// 8, but A came at 5 and is first; C has it from 10 to 11.
const char* const contended = R"(
thread A
  lock M
  run f 4
  unlock M
  run g 1
  lock M
  run f 2
  unlock M
thread B
  run g 1
  lock M
  run h 4
  unlock M
thread C
  run g 6
  lock M
  run h 1
  unlock M
  run k 1
)";

TEST(Contention, OfALockByHand) {
  const Study study = study_of(read_text(contended));
  const ObjectTable table = study.objects(3, Scheduler::shared);
  EXPECT_EQ(table.total_ns, 12e6);
  ASSERT_EQ(table.rows.size(), 1U);
  const ObjectRow& row = table.rows[0];
  EXPECT_EQ(row.acquisitions, 4U);
  EXPECT_EQ(row.contended, 3U);
  EXPECT_EQ(row.wait, milliseconds(3 + 3 + 4));
  EXPECT_EQ(row.longest_wait, milliseconds(4));
  EXPECT_EQ(row.hold, milliseconds(4 + 4 + 2 + 1));
  EXPECT_EQ(row.longest_hold, milliseconds(4));
  // One waits from 1 to 4, from 5 to 6 and from 8 to 10; two from 6 to 8.
  EXPECT_THAT(row.queue, ElementsAre(milliseconds(4), milliseconds(6), milliseconds(2)));
  EXPECT_EQ(row.critical_ns, 11e6);
  EXPECT_EQ(row.freed_ns, 8e6);  // C alone: 6, 1 and 1
  std::vector<std::string> collisions;
  for (const Collision& collision : row.collisions)
    collisions.push_back(fmt::format("{}-{} {} {}",
                                     study.recording().threads[collision.waker.index()].name,
                                     study.recording().threads[collision.waiter.index()].name,
                                     collision.times, collision.wait.count() / 1'000'000));
  EXPECT_THAT(collisions, ElementsAre("A-C 1 4", "A-B 1 3", "B-A 1 3"));
}

TEST(Contention, ObjectsThatAreNotHeldAndDevices) {
  const Study study = study_of(read_text(R"(
thread A
  run f 2
  post S
  io disk 3
  barrier B 2
thread B
  wait S
  io disk 3
  barrier B 2
)"));
  const ObjectTable table = study.objects(2, Scheduler::shared);
  std::vector<std::string> rows;
  for (const ObjectRow& row : table.rows)
    rows.push_back(fmt::format(
        "{} {}/{} wait {} held {} free {}", study.recording().objects[row.object.index()].name,
        row.contended, row.acquisitions, static_cast<double>(row.wait.count()) / 1e6,
        row.hold ? static_cast<double>(row.hold->count()) / 1e6 : -1, *row.freed_ns / 1e6));
  EXPECT_THAT(rows, ElementsAre("disk 1/2 wait 3 held 6 free 5", "S 1/1 wait 2 held -1 free 6",
                                "B 1/2 wait 3 held -1 free 8"));
}

// W took M when it was free, and waited there for what it found done in the recording: for the condition, then. Who frees M
// does not free it of that.
TEST(Contention, WhoWaitsForWhatItFoundDoneWaitsForTheCondition) {
  const Study study = study_of(read_recording(worker_that_finds_its_task));
  const ObjectTable table = study.objects(2, Scheduler::shared);
  EXPECT_EQ(table.total_ns, 14e6);
  std::vector<std::string> rows;
  for (const ObjectRow& row : table.rows)
    rows.push_back(fmt::format(
        "{} {}/{} wait {} free {}", study.recording().objects[row.object.index()].name,
        row.contended, row.acquisitions, row.wait.count() / 1'000'000, *row.freed_ns / 1e6));
  EXPECT_THAT(rows, ElementsAre("C 2/2 wait 9 free 10", "M 0/4 wait 0 free 14"));
  const auto freed = changed(study.recording(), {{}, {}, {ObjectId{0}}});
  ASSERT_TRUE(freed);
  EXPECT_EQ(study.recording().objects[0].name, "M");
  EXPECT_EQ(simulation::simulate_ideal(*freed).total, milliseconds(14));
}

// Sums that must hold on any program: the time in queues is the time waited, the times at all
// lengths are the whole run.
TEST(Contention, QueuesAddUpOnRandomPrograms) {
  std::size_t waited = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Study study = study_of(read_text(random_program(seed)));
    for (const ObjectRow& row : study.objects(2, Scheduler::shared).rows) {
      Nanoseconds all{};
      Nanoseconds in_queue{};
      for (std::size_t length = 0; length < row.queue.size(); ++length) {
        all += row.queue[length];
        in_queue += row.queue[length] * static_cast<std::int64_t>(length);
      }
      EXPECT_EQ(all, study.ideal().total);
      EXPECT_EQ(in_queue, row.wait);
      Nanoseconds of_pairs{};
      for (const Collision& collision : row.collisions)
        of_pairs += collision.wait;
      EXPECT_EQ(of_pairs, row.wait);
      waited += row.contended;
    }
  }
  EXPECT_GT(waited, 60U);
}

std::vector<std::string> path_of(const Study& study, std::uint32_t cpus) {
  std::vector<std::string> rows;
  for (const PathRow& row : study.path(cpus, Scheduler::shared).rows)
    rows.push_back(fmt::format(
        "{} {} {}-{} {:.2g}{}", study.recording().threads[row.step.thread.index()].name,
        row.function.known() ? study.recording().functions[row.function.index()].name : "?",
        row.step.start.count() / 1'000'000, row.step.end.count() / 1'000'000, row.step.weight,
        row.step.woken_by.known()
            ? " after " + study.recording().threads[row.step.woken_by.index()].name
            : ""));
  return rows;
}

// Thesis, Paper VI, Figure 4.
TEST(Path, OfFigure4) {
  const Study study = study_of(read_golden("ecp-figure4.prog"));
  EXPECT_THAT(path_of(study, 3), ElementsAre("1 a 0-1 1", "1 b 1-5 1", "3 g 5-6 1 after 1",
                                             "3 h 6-7 1", "3 a 7-8 1", "3 f 8-11 1"));
  EXPECT_THAT(path_of(study, 2), ElementsAre("1 a 0-1 1", "1 b 1-5 1", "3 g 5-6 1 after 1",
                                             "3 h 6-7 1", "3 a 7-8 0.5", "3 f 8-11 1"));
}

// With a CPU for each thread the path has no gaps, weighs one throughout and is as long as the program.
TEST(Path, IsTheWholeProgramWhereThereAreCpusForAll) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Study study = study_of(read_text(random_program(seed)));
    const auto path = study.path(64, Scheduler::shared);
    Nanoseconds at{};
    for (const PathRow& row : path.rows) {
      EXPECT_EQ(row.step.start, at);
      EXPECT_EQ(row.step.weight, 1);
      at = row.step.end;
    }
    EXPECT_EQ(at, study.ideal().total);
  }
}

TEST(Threads, TimesAddUpToTheWhole) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Study study = study_of(read_text(random_program(seed)));
    for (const std::uint32_t cpus : {1U, 3U}) {
      const ThreadTable table = study.threads(cpus, Scheduler::shared);
      double critical = 0;
      for (const ThreadRow& row : table.rows) {
        critical += row.critical_ns + row.critical_waiting_ns;
        EXPECT_EQ(row.running + row.waiting + row.blocked, row.end - row.start);
      }
      EXPECT_NEAR(critical, table.total_ns, 1e-9 * table.total_ns);
    }
  }
}

// One thread, all of which its first profile describes.
void compute_for(Nanoseconds time, Recording& recording) {
  Event end;
  end.cpu = time;
  end.profile = ProfileId{0};
  end.kind = EventKind::thread_end;
  recording.threads.emplace_back();
  recording.threads[0].name = "main";
  recording.threads[0].events = {end};
}

// 60 of 100 samples and 40 of 100 are two lines; 11 and 9 of 20 are not to be told apart.
TEST(Honesty, LinesCarryTheirUncertainty) {
  const auto lines = [](std::uint32_t first, std::uint32_t second) {
    Recording recording;
    recording.run.source = Source::kernel;
    recording.files = {{"/a.c", "", false}};
    recording.functions = {{"f", FileId{0}, 1, 9, {}}};
    recording.stacks = {{StackId::none(), FunctionId{0}, FileId{0}, 2, false},
                        {StackId::none(), FunctionId{0}, FileId{0}, 3, false}};
    recording.profiles = {{false, {{StackId{0}, first}, {StackId{1}, second}}}};
    compute_for(milliseconds(100), recording);
    return study_of(std::move(recording)).lines(1, Scheduler::shared).rows;
  };
  const auto many = lines(600, 400);
  EXPECT_NEAR(many[0].margin_ns, 3.03e6, 0.02e6);
  EXPECT_TRUE(many[0].distinct);
  EXPECT_TRUE(many[1].distinct);
  const auto few = lines(11, 9);
  EXPECT_NEAR(few[0].margin_ns, 20e6, 0.2e6);
  EXPECT_FALSE(few[0].distinct);
  const auto none = lines(0, 0);  // a guess: all of it is uncertain
  EXPECT_NEAR(none[0].margin_ns, 50e6, 1);
}

// What a line takes from its neighbour stays within their function.
TEST(Honesty, FunctionsCarryTheirUncertaintyAsLinesDo) {
  Recording recording;
  recording.run.source = Source::kernel;
  recording.files = {{"/a.c", "", false}};
  recording.functions = {{"f", FileId{0}, 1, 9, {}}, {"g", FileId{0}, 10, 19, {}}};
  recording.stacks = {{StackId::none(), FunctionId{0}, FileId{0}, 2, false},
                      {StackId::none(), FunctionId{0}, FileId{0}, 3, false},
                      {StackId::none(), FunctionId{1}, FileId{0}, 12, false}};
  recording.profiles = {{false, {{StackId{0}, 300}, {StackId{1}, 300}, {StackId{2}, 400}}}};
  compute_for(milliseconds(100), recording);
  const auto rows =
      study_of(std::move(recording)).functions(1, Scheduler::shared, WithHeadroom::no).rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[0].margin_ns, 3.03e6, 0.02e6);
  EXPECT_NEAR(rows[1].margin_ns, 3.03e6, 0.02e6);
}

}  // namespace
}  // namespace longpole::analysis
