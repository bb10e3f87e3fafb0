#include "recording/read_run.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include "longpole/raw_record.h"
#include "recording/barrier_code.h"
#include "recording/check_program.h"
#include "recording/clock.h"
#include "recording/kernel_log.h"
#include "recording/merge.h"
#include "recording/raw_chunks.h"
#include "recording/run_delays.h"
#include "recording/symbolize.h"
#include "recording/system.h"
#include "symbols/names.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

std::optional<longpole_control> read_control(const fs::path& run_directory) {
  const Descriptor file(::open((run_directory / control_file).c_str(), O_RDONLY | O_CLOEXEC));
  return read_at<longpole_control>(file.get(), 0);
}

// Snapshots of the whole come before the single mappings of a process that was mapped already when it began, and after
// those of one that was not.
std::vector<symbols::Mapping> mappings_of(const KernelLog& kernel, const fs::path& maps_path,
                                          bool had_mappings) {
  std::vector<symbols::Mapping> mappings;
  for (const TimedMapping& mapping : kernel.mappings) {
    // Anonymous memory has no path of its own ("//anon", "[heap]"): it only takes the place of what
    // was there.
    const bool is_file = mapping.path == "[vdso]" ||
                         (mapping.path.starts_with('/') && !mapping.path.starts_with("//"));
    mappings.push_back(
        {is_file ? mapping.path : "", mapping.start, mapping.end, mapping.file_offset});
  }
  std::vector<symbols::Mapping> snapshots = read_maps(read_special_file(maps_path));
  mappings.insert(had_mappings ? mappings.begin() : mappings.end(), snapshots.begin(),
                  snapshots.end());
  return mappings;
}

// Its threads wait by system calls that stand in its own code. The kernel sees these waits; who reads clocks does not.
bool waits_as_openmp_of_gcc(const std::vector<symbols::Mapping>& mappings) {
  bool is_there = false;
  for (const symbols::Mapping& mapping : mappings) {
    if (symbols::is_openmp_of_gcc(mapping.path))
      is_there = true;
    else if (symbols::is_openmp_runtime(mapping.path))
      return false;  // which stands in for it
  }
  return is_there;
}

std::vector<TimedMapping> mapped_at_start(const fs::path& maps_path) {
  std::vector<TimedMapping> mappings;
  for (const symbols::Mapping& mapping : read_maps(read_special_file(maps_path)))
    mappings.push_back({0, mapping.path, mapping.start, mapping.end, mapping.file_offset});
  return mappings;
}

std::int64_t last_record_ns(const MergeInput& input) {
  std::uint64_t last = input.control.start.tsc;
  for (const RawThread& thread : read_raw_events(input.events, input.control.next_unit).threads)
    thread.for_each_record(
        [&](const longpole_record& record) { last = std::max(last, record.tsc); });
  return StampClock(input.result.clock_pairs).nanoseconds(last);
}

// Which files a process is read from, and what is known of it besides.
struct Source {
  const RunDescription& run;
  const fs::path& own_directory;
  Result result;
  longpole_control control;
  bool child;
};

Expected<Recording> read_process(Source source, const std::function<void()>& symbolizing) {
  const fs::path& directory = source.run.run_directory;
  const fs::path maps = source.own_directory / maps_file;
  const MappedFile events(source.own_directory / events_file);
  std::vector<MappedFile> spools;
  std::vector<std::span<const std::uint8_t>> spool_bytes;
  for (const std::uint32_t cpu : source.result.perf_cpus) {
    spools.emplace_back(directory / perf_file(cpu));
    spool_bytes.push_back(spools.back().bytes());
  }
  MergeInput input;
  input.control = source.control;
  input.events = events.bytes();
  input.result = std::move(source.result);
  Result& result = input.result;
  const bool end_is_known = !source.child || source.control.ending != LONGPOLE_ENDING_UNKNOWN;
  if (!end_is_known) {
    const bool runs = ::kill(result.pid, 0) == 0 || errno == EPERM;
    input.ending = runs ? Ending::running : Ending::unseen;
    if (!runs && !result.kernel_source)
      result.ended_ns = std::min(result.ended_ns, last_record_ns(input));
  }
  std::vector<MappedFile> wake_spools;
  std::vector<std::span<const std::uint8_t>> wake_bytes;
  std::optional<WakeSpools> wakes;
  if (result.tracepoints) {
    for (const std::uint32_t cpu : result.perf_cpus)
      wake_bytes.push_back(wake_spools.emplace_back(directory / wakes_file(cpu)).bytes());
    wakes = {*result.tracepoints, wake_bytes};
  }
  input.kernel = read_kernel_log(
      spool_bytes, result.pid,
      {result.started_ns, result.ended_ns, result.cpu_time_ns,
       StolenTime(result.stolen, result.started_ns)},
      wakes, source.child ? mapped_at_start(maps) : std::vector<TimedMapping>{}, result.costs);
  if (input.ending == Ending::unseen && !input.kernel.tasks.empty()) {
    std::int64_t died = 0;
    for (const Task& task : input.kernel.tasks)
      died = std::max(died, task.died);
    result.ended_ns = std::min(result.ended_ns, result.started_ns + died);
  }
  input.command = source.run.command;
  input.directory = source.run.directory;
  input.follow = source.run.follow;
  input.unfollowed = source.run.unfollowed;
  input.cpu_before_ns =
      source.child ? static_cast<std::int64_t>(source.control.start_thread_cpu_ns) : 0;
  const std::vector<symbols::Mapping> mappings = mappings_of(input.kernel, maps, source.child);
  input.may_wait_unseen = waits_in_ways_of_its_own(source.run.program) ||
                          (!input.result.kernel_source && waits_as_openmp_of_gcc(mappings));
  if (!source.child)
    input.run_delays =
        read_run_delays(read_special_file(directory / run_delays_file), input.result.started_ns);
  BarrierCode barrier_code(mappings);
  input.is_barrier_wait = [&barrier_code](std::span<const std::uint64_t> path) {
    return barrier_code.is_on(path);
  };
  auto merged = merge_run(input);
  if (!merged)
    return tl::unexpected(merged.error());
  symbolizing();
  Recording recording = symbolize(std::move(*merged), mappings, source.run.program.string());
  if (auto valid = validate(recording); !valid)
    return failure("cannot record", valid.error().text(),
                   "this is a defect of Longpole: report it");
  return recording;
}

std::int64_t cpu_time_of(const longpole_control& control) {
  return control.ending == LONGPOLE_ENDING_UNKNOWN
             ? 0
             : static_cast<std::int64_t>(control.end_process_cpu_ns - control.start_process_cpu_ns);
}

}  // namespace

Expected<Recording> read_run(const RunDescription& run, const std::function<void()>& symbolizing) {
  auto result = read_result(run.run_directory);
  if (!result)
    return failure("cannot record", "the launcher ended before the program did",
                   "was it killed? The program was ended with it");
  if (result->error)
    return tl::unexpected(*result->error);
  const auto control = read_control(run.run_directory);
  if (!control)
    return failure("cannot record", "the run directory was emptied while the program ran");

  if (control->ending == LONGPOLE_ENDING_EXEC) {
    // What came then is another program, and the process clock has the time of both.
    result->ended_ns = std::min(result->ended_ns, control->end.monotonic_ns);
    result->cpu_time_ns = 0;
  }
  return read_process({run, run.run_directory, std::move(*result), *control, false}, symbolizing);
}

Expected<Recording> read_child(const RunDescription& run, const ChildProcess& child) {
  auto result = read_result(run.run_directory);
  if (!result)
    return tl::unexpected(result.error());
  const longpole_control& control = child.control;
  const std::int64_t began = control.start.monotonic_ns;
  result->pid = control.pid;
  result->started_at_unix_ns += began - result->started_ns;
  result->started_ns = began;
  if (control.ending != LONGPOLE_ENDING_UNKNOWN)
    result->ended_ns = std::min(result->ended_ns, control.end.monotonic_ns);
  result->ended_ns = std::max(result->ended_ns, began);
  result->cpu_time_ns = cpu_time_of(control);
  // Its parent alone is told how it ended.
  result->exit_status.reset();
  result->exit_signal.reset();
  result->stopped = false;
  const RunDescription own{run.run_directory, child.program, child.command,
                           child.directory,   run.follow,    {}};
  return read_process({own, child.run_directory, std::move(*result), control, true}, [] {});
}

}  // namespace longpole::recording
