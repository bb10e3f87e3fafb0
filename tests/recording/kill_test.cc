// A program that is killed with SIGKILL at any moment leaves a recording that holds each call that had
// returned by then.
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "record_program.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t threads = 3;
constexpr std::size_t words_of_a_line = 8;

// How often to kill. The usual run is short; LONGPOLE_KILLS=200 is the one that proves it.
int kills() {
  const char* wanted = std::getenv("LONGPOLE_KILLS");
  return wanted != nullptr ? std::atoi(wanted) : 6;
}

std::array<std::uint64_t, threads> read_counters(const fs::path& path) {
  std::array<std::uint64_t, threads * words_of_a_line> words{};
  std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(words.data()), sizeof words);
  return {words[0], words[words_of_a_line], words[2 * words_of_a_line]};
}

// Of the program's own calls: where wake-ups are recorded, those inside the kernel are events too.
bool has_returned(const Recording& recording, const Event& event) {
  return event.outcome == Outcome::ok && event.subject < recording.objects.size() &&
         !recording.objects[event.subject].name.starts_with("wake-ups of ") &&
         (event.kind == EventKind::mutex_lock || event.kind == EventKind::mutex_unlock ||
          event.kind == EventKind::semaphore_post || event.kind == EventKind::semaphore_wait);
}

class Kill : public testing::TestWithParam<SourceChoice> {};
INSTANTIATE_TEST_SUITE_P(Sources, Kill,
                         testing::Values(SourceChoice::automatic, SourceChoice::portable),
                         [](const auto& source) {
                           return source.param == SourceChoice::automatic ? "automatic"
                                                                          : "portable";
                         });

TEST_P(Kill, AtAnyMomentLeavesEachCallThatHadReturned) {
  const fs::path counters =
      fs::temp_directory_path() / ("longpole-kill-test-" + std::to_string(::getpid()));
  std::mt19937 random(GetParam() == SourceChoice::portable ? 2 : 1);
  std::uniform_int_distribution<int> microseconds(0, 20'000);
  for (int i = 0; i < kills(); ++i) {
    Options options = options_for(specimen("counting"), {counters.string()});
    options.source = GetParam();
    options.cpus = i % 2 == 0 ? Cpus::one : Cpus::all;
    const auto delay = std::chrono::microseconds(microseconds(random));
    // Its process id and its word that it runs come in either order.
    pid_t pid = 0;
    bool runs = false;
    const auto kill_when_ready = [&] {
      if (pid <= 0 || !runs)
        return;
      std::this_thread::sleep_for(delay);
      EXPECT_EQ(::kill(pid, SIGKILL), 0);
    };
    const Recorded recorded = record(
        options,
        [&](Session&, const std::string& output) {
          const bool said = output.find("running") != std::string::npos;
          if (said && !std::exchange(runs, true))
            kill_when_ready();
        },
        [&](pid_t started) {
          pid = started;
          kill_when_ready();
        });
    ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
    const Recording& recording = *recorded.recording;
    EXPECT_EQ(recording.run.exit_signal, SIGKILL);
    ASSERT_EQ(recording.threads.size(), threads + 1);
    for (const Notice& notice : recording.notices)
      EXPECT_NE(notice.code, "records-dropped") << notice.count;
    const auto counted = read_counters(counters);
    for (std::size_t t = 0; t < threads; ++t) {
      const std::vector<Event>& events = recording.threads[t + 1].events;
      const auto returned = static_cast<std::uint64_t>(
          std::count_if(events.begin(), events.end(),
                        [&](const Event& event) { return has_returned(recording, event); }));
      EXPECT_GE(returned, counted.at(t)) << "run " << i << ", thread " << t;
      // What the thread was doing may be recorded and not yet counted.
      EXPECT_LE(returned, counted.at(t) + 1) << "run " << i << ", thread " << t;
    }
  }
  fs::remove(counters);
}

}  // namespace
}  // namespace longpole::recording
