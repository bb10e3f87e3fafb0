// A run made by hand: what the recorder and the kernel say of it, and the events that come of that.
// One time stamp is one nanosecond here, and the run begins at 0.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "raw_bytes.h"
#include "recording/merge.h"
#include "trace/event_forms.h"

namespace longpole::recording {

inline constexpr std::int64_t end_of_run = 1'000'000;
inline constexpr std::uint64_t lock_address = 0x1000;
inline constexpr std::uint64_t condition_address = 0x2000;

// "thread time kind object cpu=… took=… from=… outcome", the parts that are not usual.
inline std::vector<std::string> describe(const MergedRun& run) {
  std::vector<std::string> lines;
  for (std::size_t t = 0; t < run.threads.size(); ++t)
    for (const Event& e : run.threads[t].events) {
      std::string line = fmt::format("{} {} {}", t, e.time.count(), event_form(e.kind).word);
      if (e.subject != unknown_count)
        line += fmt::format(" {}", e.subject);
      if (e.other != unknown_count)
        line += fmt::format(" {}", e.other);
      line += fmt::format(" cpu={}", e.cpu.count());
      if (e.duration.count() != 0)
        line += fmt::format(" took={}", e.duration.count());
      if (e.waker.known())
        line += fmt::format(" from={}", e.waker.value);
      if (e.outcome != Outcome::ok)
        line += fmt::format(" {}", outcome_word(e.outcome));
      lines.push_back(line);
    }
  return lines;
}

// A run with the kernel source: threads 100, 101, … on one CPU, as the test says.
class HandMadeRun {
 public:
  HandMadeRun() {
    control.version = LONGPOLE_RAW_VERSION;
    control.pid = PerfSpool::pid;
    control.start = {0, 0};
    control.sample_hz = 1000;
    result.pid = PerfSpool::pid;
    result.ended_ns = end_of_run;
    result.exit_status = 0;
    result.kernel_source = true;
    result.clock_pairs = {{0, 0}, {end_of_run, end_of_run}};
    spool.exec(0, 100);
  }

  Expected<MergedRun> merge() {
    MergeInput input;
    control.next_unit = events.units();
    input.control = control;
    input.events = events.bytes();
    input.result = result;
    input.command = {"program"};
    input.run_delays = run_delays;
    if (is_barrier_wait)
      input.is_barrier_wait = is_barrier_wait;
    const std::vector<std::span<const std::uint8_t>> spools = {spool.bytes()};
    const std::vector<std::span<const std::uint8_t>> wake_spools = {wakes.bytes()};
    std::optional<WakeSpools> privileged;
    if (result.tracepoints)
      privileged = {*result.tracepoints, wake_spools};
    if (result.kernel_source)
      input.kernel = read_kernel_log(
          spools, PerfSpool::pid, {0, end_of_run, result.cpu_time_ns, StolenTime(result.stolen, 0)},
          privileged, {}, result.costs);
    return merge_run(input);
  }

  longpole_control control{};
  Result result;
  EventsFile events;
  PerfSpool spool;
  std::map<std::int32_t, CpuCurve> run_delays;
  IsBarrierWait is_barrier_wait;
  PerfSpool wakes;  // read when result.tracepoints says so
};

inline RecordFields call(unsigned kind, std::uint64_t tsc, std::uint64_t object = 0,
                         int result = 0) {
  return {kind, tsc, object, 0x5000 + kind, 0, result, 0};
}
inline RecordFields begins(unsigned kind, std::uint64_t tsc, std::uint64_t object,
                           std::uint64_t other = 0) {
  return {kind, tsc, object, 0x5000 + kind, LONGPOLE_BEGINS, 0, other};
}
inline RecordFields returns(unsigned kind, std::uint64_t tsc, std::uint64_t object, int result = 0,
                            std::uint64_t other = 0) {
  return {kind, tsc, object, 0x5000 + kind, LONGPOLE_RETURNS, result, other};
}

inline RecordFields begins_io(longpole_io way, std::uint64_t tsc, std::uint64_t descriptor) {
  RecordFields fields = begins(LONGPOLE_IO, tsc, descriptor);
  fields.result = way;
  return fields;
}

inline RecordFields clocked(RecordFields fields, std::uint64_t cpu) {
  fields.other = cpu;
  return fields;
}

inline std::vector<std::string> notice_codes(const MergedRun& run) {
  std::vector<std::string> codes;
  for (const Notice& notice : run.notices)
    codes.push_back(notice.code);
  return codes;
}

}  // namespace longpole::recording
