// Records real programs, from the first check to the Recording.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include "analysis/confidence.h"
#include "record_program.h"
#include "recording/system.h"
#include "simulation/simulate.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> thread_names(const Recording& recording) {
  std::vector<std::string> names;
  for (const Thread& thread : recording.threads)
    names.push_back(thread.name);
  return names;
}

// Both sources; the kernel's where this machine allows it.
class SessionOfSource : public testing::TestWithParam<SourceChoice> {
 protected:
  static Options options_of(const std::string& name, std::vector<std::string> arguments = {}) {
    Options options = options_for(specimen(name), std::move(arguments));
    options.source = GetParam();
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Sources, SessionOfSource,
                         testing::Values(SourceChoice::automatic, SourceChoice::portable),
                         [](const auto& source) {
                           return source.param == SourceChoice::automatic ? "automatic"
                                                                          : "portable";
                         });

TEST_P(SessionOfSource, CpuTimeIsThatOfTheProcessClock) {
  for (const Cpus cpus : {Cpus::one, Cpus::all}) {
    Options options = options_of("compute");
    options.cpus = cpus;
    const Recorded recorded = record(options);
    ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
    const Recording& recording = *recorded.recording;
    double by_the_program = 0;
    double by_its_threads[2] = {};
    std::istringstream(recorded.output) >> by_the_program >> by_its_threads[0] >> by_its_threads[1];
    EXPECT_NEAR(cpu_of(recording) / by_the_program, 1, 0.03);
    EXPECT_EQ(recording.run.exit_status, 7);
    EXPECT_TRUE(recording.run.complete);
    EXPECT_THAT(thread_names(recording), ElementsAre("main", "work.1", "work.2"));
    for (const std::size_t thread : {1U, 2U})
      EXPECT_NEAR(static_cast<double>(cpu_of(recording.threads[thread]).count()) /
                      by_its_threads[thread - 1],
                  1, 0.05)
          << thread;
    ASSERT_EQ(recording.objects.size(), 1U);
    EXPECT_EQ(recording.objects[0].name, "turn");
    // 20 and 40 rounds of lock and unlock, and the end.
    EXPECT_EQ(calls_of(recording.threads[1]), 41);
    EXPECT_EQ(calls_of(recording.threads[2]), 81);
    EXPECT_GT(recording.run.samples, 20U);
  }
}

TEST_P(SessionOfSource, SaysHowOftenItSampled) {
  Options options = options_of("no_threads");
  const Recorded by_default = record(options);
  ASSERT_TRUE(by_default.recording.has_value()) << by_default.recording.error().text();
  EXPECT_GT(by_default.recording->run.sample_hz, 0U);
  options.rate_hz = 50;  // less than there are ticks anywhere
  const Recorded as_asked = record(options);
  ASSERT_TRUE(as_asked.recording.has_value()) << as_asked.recording.error().text();
  EXPECT_EQ(as_asked.recording->run.sample_hz, 50U);
}

// Functions on the way from the innermost frame outwards.
std::vector<std::string> functions_on(const Recording& recording, StackId stack) {
  std::vector<std::string> names;
  for (; stack.known(); stack = recording.stacks[stack.index()].caller)
    names.push_back(recording.functions[recording.stacks[stack.index()].function.index()].name);
  return names;
}

TEST_P(SessionOfSource, PathsLeadThroughCodeWithoutFramePointers) {
  Options options = options_of("frameless");
  options.rate_hz = 1000;
  const Recorded recorded = record(options);
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  const Recording& recording = *recorded.recording;
  if (recording.run.source == Source::portable)
    GTEST_SKIP() << "its samples carry no stack";
  std::uint64_t samples = 0;
  std::uint64_t complete = 0;
  for (const Profile& profile : recording.profiles)
    for (const ProfileEntry& entry : profile.entries) {
      const std::vector<std::string> path = functions_on(recording, entry.stack);
      samples += entry.samples;
      const auto caller = std::find(path.begin(), path.end(), "copy_all");
      if (caller != path.begin() && path.end() - caller >= 3 && caller[1] == "prepare" &&
          caller[2] == "work")
        complete += entry.samples;
    }
  EXPECT_GT(samples, 20U);
  EXPECT_GT(complete, samples * 8 / 10);
}

using CpuByFunction = std::map<std::string, double>;

// Of the stretch that ends in the event, by the samples in its profile.
void add_cpu(const Recording& recording, const Event& event, CpuByFunction& cpu) {
  if (!event.profile.known())
    return;
  const Profile& profile = recording.profiles[event.profile.index()];
  double samples = 0;
  for (const ProfileEntry& entry : profile.entries)
    samples += entry.samples;
  for (const ProfileEntry& entry : profile.entries)
    cpu[functions_on(recording, entry.stack).front()] +=
        static_cast<double>(event.cpu.count()) *
        (samples > 0 ? entry.samples / samples : 1 / static_cast<double>(profile.entries.size()));
}

TEST_P(SessionOfSource, InstrumentedFunctionsAreCountedExactly) {
  Options options = options_of("instrumented");
  options.function_depth = 64;
  const Recorded recorded = record(options);
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  const Recording& recording = *recorded.recording;
  std::map<std::string, int> entries;
  std::map<std::string, int> exits;
  CpuByFunction in_all;
  std::vector<Nanoseconds> own;     // of `twice`, each time that it computes by itself
  std::vector<Nanoseconds> called;  // of `work`
  for (const Thread& thread : recording.threads) {
    std::vector<std::uint32_t> open;
    bool has_left_inlined = false;
    for (const Event& event : thread.events) {
      add_cpu(recording, event, in_all);
      if (std::exchange(has_left_inlined, false))
        own.push_back(event.cpu);
      const bool enters = event.kind == EventKind::enter;
      if (!enters && event.kind != EventKind::leave)
        continue;
      const std::string name = recording.functions[event.callee().index()].name;
      ++(enters ? entries : exits)[name];
      if (enters) {
        open.push_back(event.subject);
      } else {
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(open.back(), event.subject) << "what is left is what was entered last";
        open.pop_back();
      }
      has_left_inlined = !enters && name == "inlined";
      if (!enters && name == "work")
        called.push_back(event.cpu);
    }
    EXPECT_TRUE(open.empty());
  }
  // The 201 levels of `descend` lie in `main`: 63 of them are within the depth.
  const std::map<std::string, int> expected = {{"main", 1},   {"worker", 2},    {"twice", 7},
                                               {"work", 140}, {"inlined", 140}, {"fibonacci", 1973},
                                               {"jump", 400}, {"fail", 400},    {"descend", 63}};
  EXPECT_EQ(entries, expected);
  EXPECT_EQ(exits, expected);
  // As many rounds of the loop in the one as in the other. Some may be slow.
  ASSERT_EQ(own.size(), 140U);
  ASSERT_EQ(called.size(), 140U);
  std::sort(own.begin(), own.end());
  std::sort(called.begin(), called.end());
  EXPECT_NEAR(static_cast<double>(own[70].count()) / static_cast<double>(called[70].count()), 1,
              0.15);
  EXPECT_GT(in_all["twice"], 0.3 * cpu_of(recording));
  EXPECT_GT(in_all["work"], 0.3 * cpu_of(recording));
  EXPECT_GT(in_all["twice"] + in_all["work"], 0.8 * cpu_of(recording));
}

TEST(Session, ExactFunctionsOfAProgramThatDoesNotSaySoAreSampled) {
  Options options = options_for(specimen("counting"));
  options.function_depth = 64;
  const Recorded recorded = record(options);
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  EXPECT_THAT(notice_codes(*recorded.recording), Contains("functions-not-recorded"));
}

TEST_P(SessionOfSource, StoppingKeepsWhatWasRecorded) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{}, std::vector<std::string>{"stubborn"}}) {
    const Recorded recorded =
        record(options_of("endless", arguments), [](Session& session, const std::string& output) {
          if (output.find("running") != std::string::npos)
            session.stop();
        });
    ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
    const Recording& recording = *recorded.recording;
    EXPECT_FALSE(recording.run.complete);
    EXPECT_EQ(recording.run.exit_signal, arguments.empty() ? SIGTERM : SIGKILL);
    EXPECT_THAT(notice_codes(recording), Contains("cut-short"));
    ASSERT_EQ(recording.threads.size(), 2U);
    EXPECT_GE(recording.threads[1].events.size(), 40U);
    EXPECT_EQ(recording.threads[0].events.rbegin()[1].outcome, Outcome::unfinished);
    EXPECT_NEAR(cpu_of(recording) / static_cast<double>(recording.run.cpu_time.count()), 1, 0.1);
  }
}

TEST_P(SessionOfSource, AKilledProgramLeavesAllThatReturned) {
  const Recorded recorded = record(options_of("crash"));
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  const Recording& recording = *recorded.recording;
  EXPECT_EQ(recording.run.exit_signal, SIGKILL);
  EXPECT_FALSE(recording.run.exit_status.has_value());
  EXPECT_THAT(notice_codes(recording), Contains("cut-short"));
  ASSERT_EQ(recording.threads.size(), 2U);
  const std::vector<Event>& waiting = recording.threads[1].events;
  ASSERT_EQ(waiting.size(), 3U);
  EXPECT_EQ(waiting[0].kind, EventKind::mutex_lock);
  EXPECT_EQ(waiting[1].kind, EventKind::condition_wait);
  EXPECT_EQ(waiting[1].outcome, Outcome::unfinished);
  EXPECT_EQ(waiting[2].kind, EventKind::thread_end);
}

TEST_P(SessionOfSource, SleepsAreSegmentsOffTheCpu) {
  const Recorded recorded = record(options_of("sleeper"));
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  int sleeps = 0;
  Nanoseconds slept{};
  for (const Event& event : recorded.recording->threads.at(0).events)
    if (event.kind == EventKind::sleep || event.kind == EventKind::external_wait) {
      slept += event.duration;
      sleeps += event.duration >= std::chrono::milliseconds(40) ? 1 : 0;
    }
  // The kernel sees each of the four. Of the thread clocks' time off the CPU, what the other thread
  // had is taken out as far as it is known.
  if (recorded.recording->run.source == Source::kernel) {
    EXPECT_EQ(sleeps, 4);
  } else {
    EXPECT_GE(slept, std::chrono::milliseconds(100));
  }
}

TEST(Session, PhasesComeInOrderAndTheOutputIsTheProgramsOwn) {
  Options options = options_for(specimen("environment"), {"one", "two words"});
  options.environment["SPECIMEN"] = "a value";
  options.directory = "/usr";
  options.as_cpus = 48;
  const Recorded recorded = record(options);
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  EXPECT_EQ(recorded.output, "one\ntwo words\na value\n/usr\n48\n");
  EXPECT_EQ(recorded.error_output, "complaint\n");
  EXPECT_THAT(recorded.phases,
              ElementsAre(Phase::starting, Phase::running, Phase::merging, Phase::symbolizing));
  EXPECT_GT(recorded.pid, 0);
  EXPECT_THAT(recorded.recording->run.command,
              ElementsAre(specimen("environment"), "one", "two words"));
  EXPECT_EQ(recorded.recording->run.directory, "/usr");
}

// A program that writes much would wait for whoever reads it, as long as its other threads run.
TEST(Session, PipesTakeAMegabyteBeforeTheProgramWaits) {
  const Options options =
      options_for("/usr/bin/perl", {"-e", fmt::format("print fcntl(STDOUT, {}, 0)", F_GETPIPE_SZ)});
  EXPECT_EQ(record(options).output, fmt::format("{}", 1 << 20));
}

TEST(Session, APinnedProgramIsToldOfAllCpus) {
  Options options = options_for(specimen("environment"));
  options.environment["SPECIMEN"] = "";
  const Recorded recorded = record(options);
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  EXPECT_EQ(recorded.recording->run.cpus, 1U);
  EXPECT_THAT(recorded.output,
              HasSubstr("\n" + std::to_string(recorded.recording->run.machine_cpus) + "\n"));
}

TEST(Session, CallsThroughTheStandardLibraryBelongToTheUsersLines) {
  const Recorded recorded = record(options_for(specimen("standard_threads")));
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  const Recording& recording = *recorded.recording;
  EXPECT_THAT(recording.threads.at(1).name, HasSubstr("count_up"));
  EXPECT_THAT(recording.threads.at(2).name, HasSubstr("count_up"));
  EXPECT_THAT(recording.threads.at(3).name, HasSubstr("main::"));
  int of_main = 0;
  for (const Event& event : recording.threads[0].events)
    if (event.kind == EventKind::thread_create || event.kind == EventKind::thread_join) {
      ASSERT_TRUE(event.site.known());
      const Stack& place = recording.stacks[event.site.index()];
      ASSERT_TRUE(place.file.known());
      EXPECT_THAT(recording.files[place.file.index()].path,
                  testing::EndsWith("standard_threads.cc"));
      ++of_main;
    }
  EXPECT_EQ(of_main, 6);
}

bool may_sample_cpus() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.disabled = 1;
  return Descriptor(static_cast<int>(::syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0)))
      .
      operator bool();
}

// The kernel's records of a thread have samples from its second period on; those of a CPU, which not everybody may have, at
// any time.
TEST_P(SessionOfSource, ShortThreadsComeInForTheirShareOfSamples) {
  const Recorded recorded = record(options_of("short_threads"));
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  const std::uint64_t samples = recorded.recording->run.samples;
  if (recorded.recording->run.source == Source::portable || may_sample_cpus()) {
    EXPECT_GE(samples, 10U);
  }
  std::vector<std::string> doubts;
  for (const Notice& doubt : analysis::doubts_of(*recorded.recording))
    doubts.push_back(doubt.code);
  if (samples < 10) {
    EXPECT_THAT(doubts, Contains("threads-too-short"));
  }
}

TEST(Session, AProgramWithoutThreadsIsRecordedAndSaysSo) {
  const Recorded recorded = record(options_for(specimen("no_threads")));
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  EXPECT_THAT(notice_codes(*recorded.recording), Contains("no-threads-created"));
  EXPECT_EQ(recorded.recording->threads.size(), 1U);
}

// What comes behind is another program: its threads and times would be told of one that had none.
TEST_P(SessionOfSource, SeesWhoWaitsOnAVariableAndAdvisesLockstep) {
  const auto advice = [&](const Options& options) {
    const Recorded recorded = record(options);
    EXPECT_TRUE(recorded.recording) << recorded.recording.error().text();
    const auto& notices = recorded.recording->notices;
    const auto found = std::ranges::find(notices, "waiting-loops", &Notice::code);
    return found == notices.end() ? std::string() : found->text;
  };
  Options options = options_of("flag");
  options.rate_hz = 1000;  // it is over in 0.1 s
  EXPECT_THAT(advice(options), testing::ContainsRegex("most of it in wait_for \\(flag.c:1[89]\\)"));
  options.lockstep = 2;
  EXPECT_EQ(advice(options), "") << "it is in lockstep";
  EXPECT_EQ(advice(options_of("compute")), "");
}

TEST_P(SessionOfSource, EndsWhereTheProgramBecomesAnotherAndSaysSo) {
  Options options = options_of("no_threads");
  options.program = "/bin/sh";
  options.arguments = {"-c", "exec " + specimen("compute")};
  const Recorded recorded = record(options);
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  const Recording& recording = *recorded.recording;
  EXPECT_EQ(notice_codes(recording).front(), "program-replaced");
  EXPECT_THAT(recording.notices.front().text,
              testing::HasSubstr(" by " + specimen("compute") + " (exec)"));
  EXPECT_THAT(notice_codes(recording), testing::Not(Contains("no-threads-created")));
  EXPECT_EQ(recording.threads.size(), 1U);
  EXPECT_EQ(recording.run.exit_status, 7) << "that of what it became";
  EXPECT_LT(cpu_of(recording), std::strtod(recorded.output.c_str(), nullptr) / 2);
}

TEST(Session, AnAddressSanitizedProgramRuns) {
  const Recorded recorded = record(options_for(specimen("address_sanitized")));
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  EXPECT_EQ(recorded.error_output, "");
  EXPECT_EQ(recorded.recording->run.exit_status, 0);
  EXPECT_EQ(recorded.recording->threads.size(), 2U);
}

TEST(Session, WhatCannotBeRecordedIsRefusedBeforeAnythingIsStarted) {
  Options wrong_rate = options_for(specimen("no_threads"));
  wrong_rate.rate_hz = max_rate_hz + 1;
  Options wrong_directory = options_for(specimen("no_threads"));
  wrong_directory.directory = "/nowhere";
  Options wrong_recorder = options_for(specimen("no_threads"));
  wrong_recorder.recorder = "/nowhere/liblongpole-recorder.so";
  for (const Options& options : {options_for(specimen("static")), options_for("/nowhere"),
                                 wrong_rate, wrong_directory, wrong_recorder}) {
    const Recorded recorded = record(options);
    ASSERT_FALSE(recorded.recording.has_value());
    EXPECT_NE(recorded.recording.error().kind, ErrorKind::failure);
    EXPECT_FALSE(recorded.recording.error().remedy.empty());
    EXPECT_TRUE(recorded.phases.empty());
  }
}

TEST(Session, NothingIsLeftBehind) {
  const fs::path directory = fs::temp_directory_path() / "longpole-session-test";
  fs::create_directory(directory);
  ::setenv("XDG_RUNTIME_DIR", directory.c_str(), 1);
  const Recorded recorded = record(options_for(specimen("no_threads")));
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_TRUE(recorded.recording.has_value());
  EXPECT_TRUE(fs::is_empty(directory));
  fs::remove_all(directory);
}

}  // namespace
}  // namespace longpole::recording
