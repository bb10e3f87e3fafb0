#include "recording/read_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "longpole/raw_record.h"
#include "recording/check_program.h"
#include "recording/kernel_log.h"
#include "recording/merge.h"
#include "recording/run_delays.h"
#include "recording/symbolize.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

template <typename T>
std::optional<T> read_at(int fd, std::uint64_t offset) {
  T value;
  if (::pread(fd, &value, sizeof value, static_cast<off_t>(offset)) !=
      static_cast<ssize_t>(sizeof value))
    return std::nullopt;
  return value;
}

std::optional<longpole_control> read_control(const fs::path& run_directory) {
  const Descriptor file(::open((run_directory / control_file).c_str(), O_RDONLY | O_CLOEXEC));
  return read_at<longpole_control>(file.get(), 0);
}

std::uint64_t records_in(int fd, std::uint64_t at, const longpole_chunk& chunk) {
  if (chunk.form == LONGPOLE_FORM_NOTHING)
    return 0;
  if (chunk.used > sizeof chunk)
    return (chunk.used - sizeof chunk) / sizeof(longpole_record);
  // It is still being filled: the first empty slot, by bisection.
  std::uint64_t low = 0;
  std::uint64_t high = (chunk.bytes - sizeof chunk) / sizeof(longpole_record);
  while (low < high) {
    const std::uint64_t middle = (low + high) / 2;
    const auto kind =
        read_at<std::uint8_t>(fd, at + sizeof chunk + middle * sizeof(longpole_record) +
                                      offsetof(longpole_record, kind_and_flags));
    if (kind.value_or(0) != 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

std::vector<symbols::Mapping> mappings_of(const KernelLog& kernel, const fs::path& maps_path) {
  std::vector<symbols::Mapping> mappings;
  for (const TimedMapping& mapping : kernel.mappings) {
    // Anonymous memory has no path of its own ("//anon", "[heap]"): it only takes the place of what
    // was there.
    const bool is_file = mapping.path == "[vdso]" ||
                         (mapping.path.starts_with('/') && !mapping.path.starts_with("//"));
    mappings.push_back(
        {is_file ? mapping.path : "", mapping.start, mapping.end, mapping.file_offset});
  }
  const std::string snapshots = read_special_file(maps_path);
  for (symbols::Mapping& mapping : read_maps(snapshots))
    mappings.push_back(std::move(mapping));
  return mappings;
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

  const MappedFile events(run.run_directory / events_file);
  std::vector<MappedFile> spools;
  std::vector<std::span<const std::uint8_t>> spool_bytes;
  for (const std::uint32_t cpu : result->perf_cpus) {
    spools.emplace_back(run.run_directory / perf_file(cpu));
    spool_bytes.push_back(spools.back().bytes());
  }
  MergeInput input;
  input.control = *control;
  input.events = events.bytes();
  std::vector<MappedFile> wake_spools;
  std::vector<std::span<const std::uint8_t>> wake_bytes;
  std::optional<WakeSpools> wakes;
  if (result->tracepoints) {
    for (const std::uint32_t cpu : result->perf_cpus)
      wake_bytes.push_back(wake_spools.emplace_back(run.run_directory / wakes_file(cpu)).bytes());
    wakes = {*result->tracepoints, wake_bytes};
  }
  input.kernel = read_kernel_log(spool_bytes, result->pid, result->started_ns, result->ended_ns,
                                 result->cpu_time_ns, wakes);
  input.result = std::move(*result);
  input.command = run.command;
  input.directory = run.directory;
  input.may_wait_unseen = waits_in_ways_of_its_own(run.program);
  input.run_delays = read_run_delays(read_special_file(run.run_directory / run_delays_file),
                                     input.result.started_ns);
  auto merged = merge_run(input);
  if (!merged)
    return tl::unexpected(merged.error());
  symbolizing();
  Recording recording =
      symbolize(std::move(*merged), mappings_of(input.kernel, run.run_directory / maps_file),
                run.program.string());
  if (auto valid = validate(recording); !valid)
    return failure("cannot record", valid.error().text(),
                   "this is a defect of Longpole: report it");
  return recording;
}

std::uint64_t count_records(const fs::path& run_directory) {
  const auto control = read_control(run_directory);
  const Descriptor events(::open((run_directory / events_file).c_str(), O_RDONLY | O_CLOEXEC));
  if (!control || !events)
    return 0;
  std::uint64_t records = 0;
  const std::uint64_t end = std::uint64_t{control->next_unit} * LONGPOLE_UNIT_BYTES;
  for (std::uint64_t at = 0; at < end;) {
    const auto header = read_at<longpole_chunk>(events.get(), at);
    if (!header)
      break;
    const bool is_chunk = header->bytes != 0 && header->bytes % LONGPOLE_UNIT_BYTES == 0;
    if (is_chunk)
      records += records_in(events.get(), at, *header);
    at += is_chunk ? header->bytes : LONGPOLE_UNIT_BYTES;
  }
  return records;
}

}  // namespace longpole::recording
