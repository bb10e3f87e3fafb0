// By the field numbers of https://perfetto.dev/docs/reference/trace-packet-proto, and what its readers
// ask of the order of packets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "runs.h"
#include "sampled.h"

namespace longpole::exporting {
namespace {

using ::testing::ElementsAre;

enum Type { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };

struct Slice {
  std::string name;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::size_t depth = 0;
  std::int64_t inner = 0;  // time of slices within it
};
struct Instant {
  std::string name;
  std::int64_t time = 0;
  std::string place;
};
struct Track {
  std::string name;
  std::vector<Slice> slices;  // in order of their ends
  std::vector<Instant> instants;
  std::vector<std::pair<std::int64_t, std::int64_t>> values;
};
struct Trace {
  std::map<std::string, Track> tracks;
  // Of each flow: the times where it begins and where it ends.
  std::map<std::int64_t, std::vector<std::int64_t>> begins;
  std::map<std::int64_t, std::vector<std::int64_t>> ends;
};

std::string track_name(const Message& descriptor) {
  if (descriptor.has(4))
    return "thread " + descriptor.message(4).text(5);
  return descriptor.text(2);
}

Trace read(const Run& run) {
  Trace trace;
  std::map<std::int64_t, std::string> names;
  std::map<std::int64_t, std::string> categories;
  std::map<std::int64_t, std::string> places;
  std::map<std::int64_t, std::string> tracks;
  std::map<std::int64_t, std::vector<Slice>> open;
  std::map<std::int64_t, std::int64_t> at;
  bool is_first = true;
  for (const Message& packet : Message(write(run, Format::perfetto).value()).messages(1)) {
    EXPECT_NE(packet.number(10), 0);
    EXPECT_EQ((packet.number(13) & 1) != 0, is_first);
    EXPECT_NE(packet.number(13) & 2, 0);
    is_first = false;
    const Message interned = packet.message(12);
    const auto intern = [&](int field, auto& table) {
      for (const Message& entry : interned.messages(field))
        EXPECT_TRUE(table.try_emplace(entry.number(1), entry.text(2)).second);
    };
    intern(1, categories);
    intern(2, names);
    for (const Message& entry : interned.messages(4))
      places[entry.number(1)] = entry.text(2) + ":" + std::to_string(entry.number(4));
    if (packet.has(60)) {
      const Message descriptor = packet.message(60);
      EXPECT_TRUE(tracks.try_emplace(descriptor.number(1), track_name(descriptor)).second);
      if (descriptor.has(5)) {
        EXPECT_TRUE(tracks.contains(descriptor.number(5)));
      }
      trace.tracks[track_name(descriptor)].name = track_name(descriptor);
    }
    if (!packet.has(11))
      continue;
    EXPECT_TRUE(packet.has(8));
    const std::int64_t time = packet.number(8);
    const Message event = packet.message(11);
    const std::int64_t id = event.number(11);
    Track& track = trace.tracks[tracks.at(id)];
    EXPECT_GE(time, at[id]);
    at[id] = time;
    const auto name = [&] { return names.at(event.number(10)); };
    if (event.has(10)) {
      EXPECT_TRUE(categories.contains(event.numbers(3).at(0)));
    }
    for (const std::int64_t flow : event.numbers(47))
      trace.begins[flow].push_back(time);
    for (const std::int64_t flow : event.numbers(48))
      trace.ends[flow].push_back(time);
    switch (event.number(9)) {
      case slice_begin:
        open[id].push_back({name(), time, 0, open[id].size(), 0});
        break;
      case slice_end: {
        EXPECT_FALSE(open[id].empty());
        Slice slice = open[id].back();
        open[id].pop_back();
        slice.end = time;
        if (!open[id].empty())
          open[id].back().inner += slice.end - slice.start;
        track.slices.push_back(slice);
        break;
      }
      case instant:
        track.instants.push_back(
            {name(), time, event.has(34) ? places.at(event.number(34)) : std::string()});
        break;
      case counter:
        EXPECT_TRUE(event.has(30));
        track.values.emplace_back(time, event.number(30));
        break;
      default:
        ADD_FAILURE() << event.number(9);
    }
  }
  for (const auto& [id, slices] : open)
    EXPECT_TRUE(slices.empty()) << tracks.at(id);
  return trace;
}

std::int64_t own_time(const Track& track, const std::string& prefix) {
  std::int64_t sum = 0;
  for (const Slice& slice : track.slices) {
    if (slice.name.rfind(prefix, 0) == 0)
      sum += slice.end - slice.start - slice.inner;
  }
  return sum;
}

std::int64_t integral(const Track& counter) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i + 1 < counter.values.size(); ++i)
    sum += counter.values[i].second * (counter.values[i + 1].first - counter.values[i].first);
  EXPECT_TRUE(counter.values.empty() || counter.values.back().second == 0);
  return sum;
}

TEST(Perfetto, WritesFigure4OnTwoCpus) {
  const Trace trace = read(
      simulated_run(*execution_of(golden("ecp-figure4.prog"), "linux", 2), "figure 4", "linux"));
  const auto on_cpus =
      trace.tracks.at("CPU 0").slices.size() + trace.tracks.at("CPU 1").slices.size();
  EXPECT_GE(on_cpus, 3U);
  const Track& first = trace.tracks.at("thread 1");
  ASSERT_GE(first.slices.size(), 2U);
  EXPECT_EQ(first.slices[0].name, "a");
  EXPECT_EQ(first.slices[0].end, 1'000'000);
  EXPECT_EQ(first.slices[1].name, "b");
  EXPECT_EQ(first.instants.at(0).name, "post X");
  EXPECT_EQ(first.instants.at(0).time, 1'000'000);
  const Track& path = trace.tracks.at("critical path");
  std::int64_t on_path = 0;
  for (const Slice& slice : path.slices)
    on_path += slice.end - slice.start;
  EXPECT_EQ(on_path, 12'000'000);
}

TEST(Perfetto, AddsUpToTheRun) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto recording = random_recording(seed);
    for (const char* scheduler : {"ideal", "shared", "linux"}) {
      const auto execution = execution_of(recording, scheduler, 2);
      const Trace trace = read(simulated_run(*execution, "random", scheduler));
      analysis::SpanTimes sums{};
      for (std::uint32_t t = 0; t < execution->thread_count(); ++t) {
        analysis::SpanTimes of_thread{};
        execution->spans(t, Nanoseconds{-1}, [&](const analysis::Span& span) {
          of_thread[static_cast<std::size_t>(span.state)] += span.end - span.start;
          return true;
        });
        const Track& track = trace.tracks.at("thread " + recording->threads[t].name);
        EXPECT_EQ(own_time(track, ""),
                  std::accumulate(of_thread.begin(), of_thread.end(), Nanoseconds{}).count());
        EXPECT_EQ(own_time(track, "waits for a CPU"), of_thread[1].count());
        EXPECT_EQ(own_time(track, "off the CPU"),
                  (of_thread[2] + of_thread[3] + of_thread[4]).count());
        for (std::size_t i = 0; i < sums.size(); ++i)
          sums[i] += of_thread[i];
      }
      EXPECT_EQ(integral(trace.tracks.at("threads that run")), sums[0].count());
      EXPECT_EQ(integral(trace.tracks.at("threads that wait for a CPU")), sums[1].count());
      std::int64_t on_cpus = 0;
      for (const auto& [name, track] : trace.tracks) {
        if (name.rfind("CPU ", 0) == 0)
          on_cpus += own_time(track, "");
      }
      if (std::string(scheduler) == "linux") {
        EXPECT_EQ(on_cpus, sums[0].count());
      }
      // Every wake-up comes from one call, and not later than it is seen.
      EXPECT_EQ(trace.begins.size(), trace.ends.size());
      for (const auto& [flow, ends] : trace.ends) {
        ASSERT_EQ(ends.size(), 1U);
        ASSERT_TRUE(trace.begins.contains(flow)) << seed << " " << scheduler;
        EXPECT_EQ(trace.begins.at(flow).size(), 1U);
        EXPECT_LE(trace.begins.at(flow)[0], ends[0]);
      }
    }
  }
}

TEST(Perfetto, ShowsTheRecordedRun) {
  const Trace trace = read(recorded_run(recording_of(sampled), "sampled"));
  const Track& other = trace.tracks.at("thread T2");
  EXPECT_EQ(own_time(other, "off the CPU: lock M"), 6'000'000);
  // Within the functions that made the call.
  const auto wait = std::find_if(other.slices.begin(), other.slices.end(), [](const Slice& slice) {
    return slice.name == "off the CPU: lock M";
  });
  EXPECT_EQ(wait->depth, 2U);
  std::vector<std::string> instants;
  for (const Instant& instant : other.instants)
    instants.push_back(instant.name + " " + instant.place);
  EXPECT_THAT(instants, ElementsAre("lock M /src/work.c:12", "let go by main: unlock M ",
                                    "unlock M /src/work.c:12", "end "));
  EXPECT_EQ(trace.begins.size(), 1U);
  EXPECT_EQ(trace.ends.at(1).at(0), 9'000'000);
  EXPECT_FALSE(trace.tracks.contains("critical path"));
}

}  // namespace
}  // namespace longpole::exporting
