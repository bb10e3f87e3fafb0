// Whole recordings of the recorder's own specimens: from the calls that a program makes to the events that
// are simulated.
#include <gmock/gmock.h>

#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>

#include "record_program.h"
#include "recording/tracepoints.h"
#include "simulation/simulate.h"
#include "simulation/simulator.h"
#include "trace/recording_text.h"

namespace longpole::recording {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class WholeRecording : public testing::TestWithParam<SourceChoice> {
 protected:
  static Recording recorded(const std::string& name, std::vector<std::string> arguments = {}) {
    Options options = options_for(name, std::move(arguments));
    options.source = GetParam();
    Recorded recorded = record(options);
    EXPECT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
    return recorded.recording.has_value() ? *std::move(recorded.recording) : Recording{};
  }
};
INSTANTIATE_TEST_SUITE_P(Sources, WholeRecording,
                         testing::Values(SourceChoice::automatic, SourceChoice::portable),
                         [](const auto& source) {
                           return source.param == SourceChoice::automatic ? "automatic"
                                                                          : "portable";
                         });

// Where wake-ups are recorded, those inside the kernel are events too.
bool is_inside_the_kernel(const Recording& recording, const Event& event) {
  return (event.kind == EventKind::semaphore_post || event.kind == EventKind::semaphore_wait) &&
         recording.objects[event.subject].name.starts_with("wake-ups of ");
}

// The program's own.
std::ptrdiff_t calls(const Recording& recording, EventKind kind) {
  std::ptrdiff_t count = 0;
  for (const Thread& thread : recording.threads)
    count += std::ranges::count_if(thread.events, [&](const Event& event) {
      return event.kind == kind && !is_inside_the_kernel(recording, event);
    });
  return count;
}

// What the program's waits with a known waker waited for, by its first word: how the rest is called is a matter
// of debug information, which these programs do not have.
std::multiset<std::string> awaited(const Recording& recording) {
  std::multiset<std::string> words;
  for (const Thread& thread : recording.threads)
    for (const Event& event : thread.events)
      if (event.kind == EventKind::semaphore_wait && event.waker.known() &&
          !is_inside_the_kernel(recording, event)) {
        const std::string& name = recording.objects[event.subject].name;
        words.insert(name.substr(0, name.find(' ')));
      }
  return words;
}

double speedup_on(std::uint32_t cpus, const Recording& recording) {
  const auto total = [&](std::uint32_t count) {
    simulation::Machine machine;
    machine.cpus = count;
    return static_cast<double>(simulation::simulate(recording, machine)->end.total.count());
  };
  return total(1) / total(cpus);
}

TEST_P(WholeRecording, HasTenThousandShortThreads) {
  const Recording recording = recorded(recorder_specimen("many_short_threads"));
  ASSERT_EQ(recording.threads.size(), 10'001U);
  EXPECT_EQ(calls(recording, EventKind::thread_create), 10'000);
  EXPECT_EQ(calls(recording, EventKind::semaphore_post), 10'000);
  EXPECT_EQ(calls(recording, EventKind::thread_detach), 2000);
  EXPECT_TRUE(std::ranges::all_of(recording.threads, [&](const Thread& thread) {
    return thread.creator.known() == (&thread != recording.threads.data());
  }));
}

TEST_P(WholeRecording, OfAProgramWhoseLibraryStartedAThreadBeginsWithMain) {
  for (const char* how : {"locks", "asks"})
    for (int round = 0; round < 10; ++round) {
      Options options = options_for(recorder_specimen("early_threads"), {how});
      options.source = GetParam();
      options.cpus = Cpus::all;
      const Recorded recorded = record(options);
      ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
      const Recording& recording = *recorded.recording;
      ASSERT_EQ(recording.threads.size(), 2U);
      EXPECT_EQ(recording.threads[0].name, "main") << how;
      EXPECT_EQ(
          std::ranges::count(recording.threads[0].events, EventKind::mutex_lock, &Event::kind), 10)
          << how;
    }
}

TEST_P(WholeRecording, HasTwoThousandThreadsAtOnce) {
  const Recording recording = recorded(recorder_specimen("threads_at_once"));
  ASSERT_EQ(recording.threads.size(), 2001U);
  EXPECT_EQ(calls(recording, EventKind::barrier_wait), 2001);
  EXPECT_EQ(calls(recording, EventKind::mutex_unlock), 2001 - 1);
}

TEST_P(WholeRecording, KnowsWhoSentTheSignalThatEndedAWait) {
  const Recording recording = recorded(recorder_specimen("signal_waits"));
  ASSERT_EQ(recording.threads.size(), 8U);
  EXPECT_THAT(awaited(recording), UnorderedElementsAre("SIGUSR1", "SIGUSR1", "SIGUSR1", "SIGUSR2",
                                                       "SIGUSR2", "signal", "signal"));
}

TEST_P(WholeRecording, KnowsWhoWroteWhatAThreadWaitedToRead) {
  const Recording recording = recorded(recorder_specimen("channels"));
  // A pipe, a socket, a counter, the pipe behind a poll, much through it, for which its writer waits too, and
  // the end of another.
  EXPECT_THAT(awaited(recording),
              UnorderedElementsAre("data", "data", "data", "data", "data", "data", "room"));
  const std::string text = write_recording_text(recording);
  EXPECT_THAT(text, HasSubstr(" bytes=5"));
  EXPECT_THAT(text, HasSubstr(" fd="));
}

TEST_P(WholeRecording, KnowsWhoSentWhatAThreadWaitedForOnAConnection) {
  const Recording recording = recorded(recorder_specimen("connections"));
  const auto connections = recording.threads.size() - 1;
  ASSERT_GE(connections, 2U);
  EXPECT_THAT(awaited(recording), testing::SizeIs(connections));
  EXPECT_THAT(awaited(recording), testing::Each("data"));
}

// Its children have its memory, close its ends of the pipes, lock and compute for 250 ms.
void expect_nothing_of_children(const Recording& recording) {
  EXPECT_EQ(calls(recording, EventKind::mutex_lock), 0);
  EXPECT_THAT(awaited(recording), UnorderedElementsAre("data", "data", "data", "data", "data"));
  EXPECT_LT(cpu_of(recording.threads.front()), std::chrono::milliseconds(125));
}

TEST_P(WholeRecording, HasNothingOfWhatAChildOfVforkDoes) {
  expect_nothing_of_children(recorded(recorder_specimen("vforks")));
}

TEST(LockstepRecording, HasNothingOfWhatAChildOfVforkDoes) {
  Options options = options_for(recorder_specimen("vforks"));
  options.lockstep = 2;
  const Recorded recorded = record(options);
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  expect_nothing_of_children(*recorded.recording);
}

// Each turn asks the clock twice, which falls into libc: a third of all samples would.
TEST(LockstepRecording, HasNothingOfItsOwnReadingOfTheClock) {
  Options options = options_for(recorder_specimen("turns_at_a_condition"));
  options.lockstep = 2;
  options.rate_hz = 1000;
  const Recorded recorded = record(options);
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  const Recording& recording = *recorded.recording;
  double all = 0;
  double of_clock = 0;
  for (const Profile& profile : recording.profiles)
    for (const ProfileEntry& entry : profile.entries) {
      const Stack& innermost = recording.stacks[entry.stack.index()];
      all += entry.samples;
      if (recording.functions[innermost.function.index()].name.find("clock_gettime") !=
          std::string::npos)
        of_clock += entry.samples;
    }
  EXPECT_GT(all, 20);
  EXPECT_LT(of_clock, all / 20);
}

// How often it looked on one CPU says nothing of others.
TEST_P(WholeRecording, KnowsWhatAThreadLookedForAgainAndAgain) {
  const Recording recording = recorded(specimen("polling"));
  EXPECT_THAT(awaited(recording), UnorderedElementsAre("what"));
  EXPECT_TRUE(std::ranges::any_of(recording.notices,
                                  [](const Notice& notice) { return notice.code == "polls"; }));
  std::vector<Nanoseconds> times;
  for (const std::uint32_t cpus : {1U, 2U}) {
    simulation::Machine machine;
    machine.cpus = cpus;
    const auto simulated = simulation::simulate(recording, machine);
    ASSERT_TRUE(simulated.has_value());
    EXPECT_FALSE(simulated->end.deadlock);
    times.push_back(simulated->end.total);
  }
  EXPECT_LT(times[1], times[0] * 3 / 4);
}

TEST_P(WholeRecording, EndsACancelledWaitWhenItIsCancelled) {
  const Recording recording = recorded(recorder_specimen("cancellations"));
  EXPECT_THAT(awaited(recording), UnorderedElementsAre("cancellation", "cancellation"));
}

TEST_P(WholeRecording, EndsWhereMainReturnsOrSomebodyCallsExit) {
  for (const char* ending : {"return", "exit", "pthread_exit"}) {
    const Recording recording = recorded(specimen("outlived"), {ending});
    ASSERT_EQ(recording.threads.size(), 2U);
    const Nanoseconds main = cpu_of(recording.threads[0]);
    const Nanoseconds other = cpu_of(recording.threads[1]);
    ASSERT_GT(other, 2 * main) << ending;
    const simulation::Schedule schedule = simulation::simulate_ideal(recording);
    Nanoseconds end_of_main{};
    for (const simulation::Segment& segment : schedule.segments) {
      if (segment.thread == ThreadId{0})
        end_of_main = std::max(end_of_main, segment.end);
    }
    if (std::string(ending) == "pthread_exit")
      EXPECT_GE(schedule.total, other) << ending;
    else
      EXPECT_EQ(schedule.total, end_of_main) << ending;
  }
}

constexpr std::uint32_t openmp_threads = 4;

// libstdc++ waits for a future by a system call of its own.
TEST_P(WholeRecording, OfFuturesKnowsWhomAThreadWaitedFor) {
  const Recording recording = recorded(specimen("futures"));
  EXPECT_EQ(recording.run.exit_status, 0);
  const std::vector<Event>& events = recording.threads.at(0).events;
  const auto of_kind = [&](EventKind kind) {
    return std::ranges::count_if(events, [&](const Event& event) {
      return event.kind == kind && event.duration > Nanoseconds{10'000'000};
    });
  };
  EXPECT_GE(of_kind(EventKind::semaphore_wait), 1);
  EXPECT_EQ(of_kind(EventKind::external_wait), 0);
  EXPECT_GT(speedup_on(4, recording), 3);
}

// On one CPU each would find done what it waits for on two, as it yields before it waits and is set aside when it has
// woken the other: 4 CPUs would take half the time then. Where another program wants the CPU, too, some turns are lost.
TEST_P(WholeRecording, OfTurnsThroughAnAtomicKnowsThatNobodyWorksMeanwhile) {
  const Recording recording = recorded(specimen("turns"));
  EXPECT_EQ(recording.run.exit_status, 0);
  EXPECT_LT(speedup_on(4, recording), 4.0 / 3);
}

// Whoever comes last in the recording: in each phase one thread does 6 parts of 12. It would be 2.3 or more if who came last
// did so always. Where another program wants the CPU, too, some meetings are lost.
TEST_P(WholeRecording, OfBarriersKnowsThatEachThreadWaitsForAll) {
  const Recording recording = recorded(specimen("barriers"));
  EXPECT_EQ(recording.run.exit_status, 0);
  EXPECT_GT(speedup_on(4, recording), 1.6);
  EXPECT_LT(speedup_on(4, recording), 2.15);
  EXPECT_GE(std::ranges::count(recording.objects, ObjectKind::barrier, &Object::kind), 1);
}

// In each phase four threads do 2 parts of 12, and then one of them 4, alone: on two CPUs it takes 8. How much is done alone is
// told by samples, and where another program wants the CPU, too, up to half more is taken for that.
TEST_P(WholeRecording, OfBarriersKnowsWhatIsDoneAloneThere) {
  const Recording recording = recorded(specimen("completions"));
  EXPECT_EQ(recording.run.exit_status, 0);
  EXPECT_GT(speedup_on(2, recording), 1.15) << "it would be 1 if all were done alone";
  EXPECT_LT(speedup_on(2, recording), 1.75) << "it would be 2 if nothing were";
}

TEST_P(WholeRecording, LeavesYieldsAloneThatNoWaitFollows) {
  const Recording recording = recorded(specimen("yielding"));
  EXPECT_EQ(recording.run.exit_status, 0);
  EXPECT_LT(std::ranges::count(recording.threads.at(0).events, EventKind::yield, &Event::kind),
            2000);
}

// Its loops take 3 parts of time on four CPUs, and then main alone 4: it gets (12 + 4) / (3 + 4) times as fast, which would be
// nearly 4 if nobody had to wait. On one CPU the others yield meanwhile; in lockstep they sleep until main has work for them.
TEST_P(WholeRecording, OfTasksOfTbbKnowsWhoWokeThreadsThatHadNone) {
  ASSERT_TRUE(std::filesystem::exists(specimen("tasks_of_tbb")))
      << "oneTBB is missing: run scripts/setup test, and configure again";
  constexpr std::uint32_t none = 0;
  for (const std::uint32_t lockstep : {none, 4U}) {
    Options options = options_for(specimen("tasks_of_tbb"), {});
    options.source = GetParam();
    options.as_cpus = 4;
    options.lockstep = lockstep;
    const Recorded recorded = record(options);
    ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
    const Recording& recording = *recorded.recording;
    EXPECT_EQ(recording.run.exit_status, 0);
    EXPECT_EQ(recording.threads.size(), 4U);
    EXPECT_GT(speedup_on(4, recording), 1.8) << lockstep;
    EXPECT_LT(speedup_on(4, recording), 2.6) << lockstep;
    if (lockstep == none)
      continue;
    std::ptrdiff_t known = 0;
    for (const Thread& thread : recording.threads)
      for (const Event& event : thread.events)
        if (event.duration > Nanoseconds{10'000'000}) {
          EXPECT_NE(event.kind, EventKind::external_wait);
          known += event.kind == EventKind::semaphore_wait && event.waker.known() ? 1 : 0;
        }
    EXPECT_GE(known, 3);
  }
}

class OpenMPRecording : public WholeRecording {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(specimen("openmp")))
        << "LLVM's libomp is missing: run scripts/setup test, and configure again";
  }
  // More CPUs than there are, perhaps.
  static Recording recorded_way(const std::string& way) {
    Options options = options_for(specimen("openmp"), {way});
    options.source = GetParam();
    options.as_cpus = openmp_threads;
    const Recorded recorded = record(options);
    EXPECT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
    EXPECT_EQ(recorded.error_output, "");
    return recorded.recording.has_value() ? *recorded.recording : Recording{};
  }
};
INSTANTIATE_TEST_SUITE_P(Sources, OpenMPRecording,
                         testing::Values(SourceChoice::automatic, SourceChoice::portable),
                         [](const auto& source) {
                           return source.param == SourceChoice::automatic ? "automatic"
                                                                          : "portable";
                         });

TEST_P(OpenMPRecording, CanBeSimulatedOnAnyNumberOfCpus) {
  for (const char* way : {"loop", "locks", "ordered", "nested", "tasks"}) {
    const Recording recording = recorded_way(way);
    EXPECT_EQ(recording.run.exit_status, 0) << way;
    EXPECT_GE(recording.threads.size(), openmp_threads) << way;
    EXPECT_EQ(std::ranges::count(recording.notices, "dependencies-may-be-missing", &Notice::code),
              0)
        << way;
    EXPECT_FALSE(simulation::simulate_ideal(recording, nullptr).deadlock) << way;
    for (const std::uint32_t cpus : {1U, 2U, 4U, 8U}) {
      simulation::Machine machine;
      machine.cpus = cpus;
      const auto simulated = simulation::simulate(recording, machine);
      ASSERT_TRUE(simulated.has_value()) << way;
      EXPECT_FALSE(simulated->end.deadlock) << way << " on " << cpus << " CPUs";
    }
  }
}

TEST_P(OpenMPRecording, HasALoopsBarriersAndWhatEachThreadDidOfIt) {
  const Recording recording = recorded_way("loop");
  ASSERT_EQ(recording.threads.size(), openmp_threads);
  std::vector<std::string> names;
  for (const Thread& thread : recording.threads)
    names.push_back(thread.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("main", "OpenMP.1", "OpenMP.2", "OpenMP.3"));
  EXPECT_EQ(calls(recording, EventKind::semaphore_post), openmp_threads - 1);
  EXPECT_EQ(calls(recording, EventKind::semaphore_wait), openmp_threads - 1);
  EXPECT_EQ(calls(recording, EventKind::mutex_lock), openmp_threads);
  EXPECT_EQ(calls(recording, EventKind::barrier_wait), 2 * openmp_threads);
  Nanoseconds sum{};
  Nanoseconds most{};
  for (const Thread& thread : recording.threads) {
    sum += cpu_of(thread);
    most = std::max(most, cpu_of(thread));
    for (const Event& event : thread.events)
      EXPECT_TRUE(event.kind != EventKind::barrier_wait || event.other == openmp_threads);
  }
  EXPECT_LT(most, sum * 2 / 3) << "the largest part is 58 of 136";
}

// GCC's library tells nothing: only a kernel that may be asked for wake-ups knows what its threads wait for.
class GccOpenMP : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(specimen("openmp_of_gcc")))
        << "another compiler than GCC has another library: configure with gcc 12";
  }
  static Recording recorded_way(const std::string& way, SourceChoice source) {
    Options options = options_for(specimen("openmp_of_gcc"), {way});
    options.source = source;
    options.as_cpus = openmp_threads;
    const Recorded recorded = record(options);
    EXPECT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
    return recorded.recording.has_value() ? *recorded.recording : Recording{};
  }
  static void expect_no_deadlock(const Recording& recording, const std::string& way) {
    for (const std::uint32_t cpus : {1U, 2U, 4U, 8U}) {
      simulation::Machine machine;
      machine.cpus = cpus;
      const auto simulated = simulation::simulate(recording, machine);
      ASSERT_TRUE(simulated.has_value()) << way;
      EXPECT_FALSE(simulated->end.deadlock) << way << " on " << cpus << " CPUs";
    }
  }
};

class GccOpenMPRecording : public GccOpenMP, public testing::WithParamInterface<SourceChoice> {};
INSTANTIATE_TEST_SUITE_P(Sources, GccOpenMPRecording,
                         testing::Values(SourceChoice::automatic, SourceChoice::portable),
                         [](const auto& source) {
                           return source.param == SourceChoice::automatic ? "automatic"
                                                                          : "portable";
                         });

TEST_P(GccOpenMPRecording, CanBeSimulatedOnAnyNumberOfCpus) {
  for (const char* way : {"loop", "locks", "ordered", "nested", "tasks"}) {
    const Recording recording = recorded_way(way, GetParam());
    EXPECT_EQ(recording.run.exit_status, 0) << way;
    EXPECT_GE(recording.threads.size(), openmp_threads) << way;
    if (GetParam() == SourceChoice::portable) {
      EXPECT_EQ(std::ranges::count(recording.notices, "dependencies-may-be-missing", &Notice::code),
                1)
          << way;
    }
    expect_no_deadlock(recording, way);
  }
}

// In a mount namespace of this process, where the wake-ups may be looked at for a while.
class WakeUpsShown {
 public:
  WakeUpsShown() {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", place, "tracefs", 0, nullptr) != 0)
      problem_ = std::strerror(errno);
  }
  ~WakeUpsShown() {
    if (problem_.empty())
      ::umount2(place, MNT_DETACH);
  }
  WakeUpsShown(const WakeUpsShown&) = delete;
  WakeUpsShown& operator=(const WakeUpsShown&) = delete;

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  static constexpr const char* place = "/sys/kernel/tracing";
  std::string problem_;
};

TEST_F(GccOpenMP, HasItsThreadsWokenByWhomThePrivilegedKernelNames) {
  const WakeUpsShown shown;
  const bool kernel_names_wakers = find_tracepoints(true).has_value();
  for (const char* way : {"locks", "ordered", "nested", "tasks"})
    expect_no_deadlock(recorded_way(way, SourceChoice::automatic), way);
  const Recording recording = recorded_way("loop", SourceChoice::automatic);
  expect_no_deadlock(recording, "loop");
  // Whoever is done first waits for the last, which has 58 of 136 parts, and nobody waits for a fixed time.
  std::size_t waits = 0;
  Nanoseconds most{};
  Nanoseconds sum{};
  for (const Thread& thread : recording.threads) {
    sum += cpu_of(thread);
    most = std::max(most, cpu_of(thread));
    waits += static_cast<std::size_t>(std::ranges::count_if(thread.events, [&](const Event& event) {
      return event.kind == EventKind::semaphore_wait && event.waker.known() &&
             is_inside_the_kernel(recording, event);
    }));
  }
  if (!kernel_names_wakers) {
    EXPECT_EQ(waits, 0U) << shown.problem();
    return;
  }
  EXPECT_EQ(std::ranges::count(recording.notices, "wakers-unknown", &Notice::code), 0);
  EXPECT_GE(waits, openmp_threads - 1);
  const Nanoseconds total = simulation::simulate_ideal(recording).total;
  EXPECT_GE(total, most);
  EXPECT_LT(total, sum * 9 / 10);
}

TEST_P(WholeRecording, OfAThreadSanitizedProgramHasWhatTheProgramDid) {
  const Recording recording = recorded(specimen("thread_sanitized"));
  EXPECT_EQ(recording.run.exit_status, 0);
  const auto threads_with = [&](std::ptrdiff_t locks) {
    return std::ranges::count_if(recording.threads, [locks](const Thread& thread) {
      return std::ranges::count(thread.events, EventKind::mutex_lock, &Event::kind) == locks;
    });
  };
  EXPECT_EQ(threads_with(100), 2);
  EXPECT_EQ(threads_with(10), 40);
}

}  // namespace
}  // namespace longpole::recording
