// By the field numbers of https://github.com/google/pprof/blob/main/proto/profile.proto, and the
// rules that its comments state.
#include <gmock/gmock.h>
#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "analysis/study.h"
#include "runs.h"
#include "sampled.h"

namespace longpole::exporting {
namespace {

struct Profile {
  std::vector<std::string> types;
  std::string default_type;
  // By function and type: what its own samples have; and the same by thread.
  std::map<std::string, std::map<std::string, std::int64_t>> flat;
  std::map<std::string, std::map<std::string, std::int64_t>> by_thread;
  // Call paths, the innermost function first; inlined ones in brackets.
  std::set<std::string> paths;
};

std::string gunzipped(const std::string& bytes) {
  google::protobuf::io::ArrayInputStream in(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::GzipInputStream gzip(&in, google::protobuf::io::GzipInputStream::GZIP);
  std::string out;
  const void* data = nullptr;
  int size = 0;
  while (gzip.Next(&data, &size))
    out.append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  EXPECT_EQ(gzip.ZlibErrorCode(), 1);  // Z_STREAM_END
  return out;
}

Profile read_profile(const Run& run) {
  const Message message(gunzipped(write(run, Format::pprof).value()));
  const std::vector<std::string> strings = message.texts(6);
  EXPECT_EQ(strings.at(0), "");
  EXPECT_EQ(std::set<std::string>(strings.begin(), strings.end()).size(), strings.size());
  const auto string = [&](std::int64_t index) {
    return strings.at(static_cast<std::size_t>(index));
  };
  Profile profile;
  for (const Message& type : message.messages(1)) {
    profile.types.push_back(string(type.number(1)));
    EXPECT_EQ(string(type.number(2)), "nanoseconds");
  }
  profile.default_type = string(message.number(14));
  std::set<std::int64_t> mappings;
  for (const Message& mapping : message.messages(3))
    EXPECT_TRUE(mappings.insert(mapping.number(1)).second);
  std::map<std::int64_t, std::string> functions;
  for (const Message& function : message.messages(5)) {
    EXPECT_NE(function.number(1), 0);
    EXPECT_TRUE(functions.try_emplace(function.number(1), string(function.number(2))).second);
  }
  std::map<std::int64_t, std::vector<std::string>> locations;
  for (const Message& location : message.messages(4)) {
    if (location.has(2)) {
      EXPECT_TRUE(mappings.contains(location.number(2)));
    }
    std::vector<std::string> lines;
    for (const Message& line : location.messages(4))
      lines.push_back(functions.at(line.number(1)));
    EXPECT_NE(location.number(1), 0);
    EXPECT_TRUE(locations.try_emplace(location.number(1), lines).second);
  }
  for (const Message& sample : message.messages(2)) {
    const std::vector<std::int64_t> values = sample.packed_numbers(2);
    EXPECT_EQ(values.size(), profile.types.size());
    const std::vector<std::int64_t> path = sample.packed_numbers(1);
    std::string text;
    for (const std::int64_t id : path) {
      const std::vector<std::string>& lines = locations.at(id);
      for (std::size_t i = 0; i < lines.size(); ++i)
        text += (i + 1 < lines.size() ? "[" + lines[i] + "]" : lines[i]) + ";";
    }
    profile.paths.insert(text);
    const Message label = sample.message(3);
    EXPECT_EQ(string(label.number(1)), "thread");
    for (std::size_t i = 0; i < values.size(); ++i) {
      profile.flat[locations.at(path.at(0)).at(0)][profile.types[i]] += values[i];
      profile.by_thread[string(label.number(2))][profile.types[i]] += values[i];
    }
  }
  return profile;
}

TEST(Pprof, HasTheCpuTimeOfProgramsThatNobodyHasRun) {
  const auto recording = golden("figure1.prog");
  const Profile profile = read_profile(recorded_run(recording, "figure 1"));
  EXPECT_THAT(profile.types, ::testing::ElementsAre("waiting", "cpu"));
  EXPECT_EQ(profile.default_type, "cpu");
  std::int64_t cpu = 0;
  for (const auto& [name, values] : profile.flat)
    cpu += values.at("cpu");
  EXPECT_EQ(cpu, recording->run.cpu_time.count());
}

// Whose functions are all the user's own, so that pprof's flat values are what `report` says.
TEST(Pprof, HasTheCriticalTimesOfTheReport) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto recording = random_recording(seed);
    const analysis::Study study(recording);
    if (study.ideal().deadlock)
      continue;
    const auto table = study.functions(2, analysis::Scheduler::shared, analysis::WithHeadroom::no);
    Profile profile =
        read_profile(simulated_run(*execution_of(recording, "shared", 2), "random", "shared"));
    EXPECT_EQ(profile.default_type, "critical");
    for (const analysis::FunctionRow& row : table.rows) {
      if (!row.function.known())
        continue;
      const std::string& name = recording->functions[row.function.index()].name;
      EXPECT_NEAR(static_cast<double>(profile.flat[name]["critical"]), row.critical_self_ns,
                  static_cast<double>(recording->threads.size()))
          << seed << " " << name;
      EXPECT_EQ(static_cast<double>(profile.flat[name]["cpu"]), row.self_ns) << seed;
    }
    double all = 0;
    for (const auto& [name, values] : profile.flat)
      all += static_cast<double>(values.at("critical"));
    EXPECT_NEAR(all, table.total_ns, 100) << seed;
  }
}

TEST(Pprof, SharesSamplesOutToTheLastNanosecond) {
  Profile profile = read_profile(recorded_run(recording_of(sampled), "sampled"));
  EXPECT_EQ(profile.by_thread["main"]["cpu"], 9'000'000);
  EXPECT_EQ(profile.by_thread["T2"]["cpu"], 2'500'000);
  EXPECT_EQ(profile.by_thread["T2"]["waiting"], 6'000'000);
  EXPECT_EQ(profile.flat["slow"]["cpu"], 8'050'000);
  EXPECT_EQ(profile.flat["fast"]["cpu"], 3'450'000);
  // `fast` is inlined: it has the place of its caller.
  EXPECT_THAT(profile.paths, ::testing::ElementsAre("[fast];main;", "slow;main;"));
}

}  // namespace
}  // namespace longpole::exporting
