// Records of the kernel that find no room, on the disk or in its rings: what is recorded then.
#include <gmock/gmock.h>
#include <signal.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "file_limit.h"
#include "record_program.h"
#include "simulation/simulate.h"

namespace longpole::recording {
namespace {

using testing::Contains;

// Stops whoever empties the kernel's rings until the program has used so much CPU time, so that they overflow.
class HeldLauncher {
 public:
  void hold(pid_t program, Nanoseconds until_used) {
    std::ifstream status("/proc/" + std::to_string(program) + "/stat");
    const std::string text((std::istreambuf_iterator<char>(status)), {});
    pid_t launcher = 0;
    ASSERT_EQ(std::sscanf(text.c_str() + text.rfind(')'), ") %*c %d", &launcher), 1);
    ASSERT_EQ(::kill(launcher, SIGSTOP), 0);
    waiter_ = std::jthread([=] {
      clockid_t clock{};
      timespec used{};
      while (::clock_getcpuclockid(program, &clock) == 0 && ::clock_gettime(clock, &used) == 0 &&
             std::chrono::seconds(used.tv_sec) + Nanoseconds(used.tv_nsec) < until_used &&
             state_of(program) != 'Z')
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ::kill(launcher, SIGCONT);
    });
  }

 private:
  static char state_of(pid_t process) {
    std::ifstream status("/proc/" + std::to_string(process) + "/stat");
    const std::string text((std::istreambuf_iterator<char>(status)), {});
    const std::size_t name_end = text.rfind(')');
    return name_end == std::string::npos || name_end + 2 >= text.size() ? 'Z' : text[name_end + 2];
  }

  std::jthread waiter_;
};

// As where the disk is full.
TEST(LostRecords, WithoutRoomForTheKernelsTheRecordingEndsWithTheProgram) {
  Options options = options_for(specimen("compute"));
  options.rate_hz = 10'000;
  const FileLimit limit(200 * 1024);
  const Recorded recorded = record(options);
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  EXPECT_EQ(recorded.recording->run.exit_status, 7) << "its own";
  if (recorded.recording->run.source == Source::kernel) {
    EXPECT_THAT(notice_codes(*recorded.recording), Contains("recording-stopped"));
  }
}

TEST(LostRecords, OfTheKernelAreToldAndTheRestCanBeSimulated) {
  Options options = options_for(specimen("compute"));
  options.rate_hz = 10'000;
  HeldLauncher launcher;
  const Recorded recorded =
      record(options, {}, [&](pid_t pid) { launcher.hold(pid, std::chrono::milliseconds(500)); });
  ASSERT_TRUE(recorded.recording.has_value()) << recorded.recording.error().text();
  const Recording& recording = *recorded.recording;
  // Where the kernel refuses its records none can be lost, and all else holds as well.
  if (recording.run.source == Source::kernel) {
    EXPECT_THAT(notice_codes(recording), Contains("samples-lost"));
  }
  const std::ptrdiff_t locks =
      calls_of(recording.threads.at(1)) + calls_of(recording.threads.at(2));
  EXPECT_EQ(locks, 2 * (20 + 40) + 2) << "no call is lost with them";
  // Where an interrupt takes 30 us, so many samples take most of the CPU time. That is taken out, and no more than that: half of
  // what the program takes with few samples is left at the least.
  const Recorded with_few = record(options_for(specimen("compute")));
  ASSERT_TRUE(with_few.recording.has_value()) << with_few.recording.error().text();
  EXPECT_GT(cpu_of(recording), cpu_of(*with_few.recording) / 2);
  const auto taken_out = static_cast<double>(recording.run.cost_per_event.count()) *
                         static_cast<double>(recording.event_count());
  const auto cpu_time = static_cast<double>(recording.run.cpu_time.count());
  EXPECT_GT(cpu_of(recording) + taken_out, cpu_time * 0.7);
  EXPECT_LT(cpu_of(recording) + taken_out, cpu_time * 1.1);
  EXPECT_FALSE(simulation::simulate_ideal(recording).deadlock);
}

}  // namespace
}  // namespace longpole::recording
