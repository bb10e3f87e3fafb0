// By https://www.speedscope.app/file-format-schema.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "runs.h"
#include "sampled.h"

namespace longpole::exporting {
namespace {

using Json = nlohmann::json;

// What the schema asks for, and what the program takes for granted; returns the time of each
// innermost frame on the thread.
std::map<std::string, std::int64_t> times_of(const Json& file, const Json& profile) {
  const Json& frames = file["shared"]["frames"];
  EXPECT_EQ(profile["type"], "sampled");
  EXPECT_EQ(profile["unit"], "nanoseconds");
  EXPECT_TRUE(profile["name"].is_string());
  EXPECT_EQ(profile["samples"].size(), profile["weights"].size());
  std::int64_t at = profile["startValue"].get<std::int64_t>();
  std::map<std::string, std::int64_t> times;
  for (std::size_t i = 0; i < profile["samples"].size(); ++i) {
    const std::int64_t weight = profile["weights"][i].get<std::int64_t>();
    EXPECT_GT(weight, 0);
    at += weight;
    std::string innermost;
    for (const Json& frame : profile["samples"][i])
      innermost = frames.at(frame.get<std::size_t>())["name"].get<std::string>();
    times[innermost] += weight;
  }
  EXPECT_EQ(at, profile["endValue"].get<std::int64_t>());
  return times;
}

Json parsed(const Run& run) {
  Json file = Json::parse(write(run, Format::speedscope).value());
  EXPECT_EQ(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
  EXPECT_EQ(file["profiles"].size(), run.threads.size());
  return file;
}

TEST(Speedscope, WritesFigure4OnTwoCpus) {
  const auto execution = execution_of(golden("ecp-figure4.prog"), "shared", 2);
  const Json file = parsed(simulated_run(*execution, "figure 4", "shared"));
  EXPECT_EQ(file["name"], "figure 4, simulated on 2 CPUs, scheduler shared");
  const auto times = times_of(file, file["profiles"][0]);
  EXPECT_EQ(times, (std::map<std::string, std::int64_t>{{"a", 1000000},
                                                        {"b", 4500000},
                                                        {"c", 1000000},
                                                        {"e", 1000000},
                                                        {"i", 1500000},
                                                        {"off the CPU: wait X2", 1000000},
                                                        {"", 2000000}}));
}

TEST(Speedscope, GivesEachThreadTheTimesOfItsRun) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto recording = random_recording(seed);
    for (const char* scheduler : {"ideal", "shared", "linux"}) {
      const auto execution = execution_of(recording, scheduler, 2);
      const Json file = parsed(simulated_run(*execution, "random", scheduler));
      for (std::uint32_t t = 0; t < execution->thread_count(); ++t) {
        std::int64_t computing = 0;
        std::int64_t ready = 0;
        execution->spans(t, Nanoseconds{-1}, [&](const analysis::Span& span) {
          const std::int64_t length = (span.end - span.start).count();
          computing += span.state == analysis::SpanState::running ? length : 0;
          ready += span.state == analysis::SpanState::runnable ? length : 0;
          return true;
        });
        auto times = times_of(file, file["profiles"][t]);
        EXPECT_EQ(times["waits for a CPU"], ready) << seed << " " << scheduler << " " << t;
        for (const auto& [name, time] : times) {
          if (!name.empty() && name != "waits for a CPU" && name.rfind("off the CPU", 0) != 0)
            computing -= time;
        }
        EXPECT_EQ(computing, 0) << seed << " " << scheduler << " " << t;
      }
    }
  }
}

TEST(Speedscope, SpreadsSamplesByTheirShares) {
  const auto run = recorded_run(recording_of(sampled), "sampled");
  const Json file = parsed(run);
  const auto main = times_of(file, file["profiles"][0]);
  // 9 ms of computing: none is off by more than what a sample stands for.
  const std::int64_t grain = 115'000;
  EXPECT_NEAR(static_cast<double>(main.at("slow")), 6.3e6, grain);
  EXPECT_EQ(main.at("slow") + main.at("fast"), 9'000'000);
  const auto other = times_of(file, file["profiles"][1]);
  EXPECT_EQ(other.at("off the CPU: lock M"), 6'000'000);
  // Created at 1 ms; at 3 ms it had computed for half a millisecond.
  EXPECT_EQ(other.at("waits for a CPU"), 1'500'000);
  EXPECT_EQ(other.at(""), 1'000'000);
}

TEST(Speedscope, KnowsTheFilesOfFunctions) {
  const Json file = parsed(recorded_run(recording_of(sampled), "sampled"));
  EXPECT_THAT(file["shared"]["frames"],
              ::testing::Contains(Json({{"name", "slow"}, {"file", "/src/work.c"}, {"line", 10}})));
}

TEST(Speedscope, RefusesProgramsThatNobodyHasRun) {
  const auto refused = write(recorded_run(golden("figure1.prog"), "figure1"), Format::speedscope);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
}

}  // namespace
}  // namespace longpole::exporting
