// Domain types ↔ protobuf messages. Only this unit and the service include generated code, so that
// nothing else in the daemon knows what the protocol looks like.
//
// Reading a request can fail, with the Error that the client is told; writing an answer cannot.
// Proto text is UTF-8: what is not (paths and symbols may be any bytes) is written with U+FFFD.
#pragma once

#include <grpcpp/support/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/concurrency_classes.h"
#include "analysis/forecast.h"
#include "analysis/quartz.h"
#include "analysis/study.h"
#include "longpole/v1/analyses.pb.h"
#include "longpole/v1/lines.pb.h"
#include "longpole/v1/quartz.pb.h"
#include "longpole/v1/recording.pb.h"
#include "longpole/v1/simulation.pb.h"
#include "service/open_recording.h"
#include "service/runs.h"
#include "trace/error.h"

namespace longpole::service {

[[nodiscard]] grpc::Status to_status(const Error& error);

[[nodiscard]] std::string to_utf8(std::string_view bytes);

// 1 to max_cpu_counts of them, each 1 to max_cpus.
[[nodiscard]] Expected<std::vector<std::uint32_t>> read_cpu_counts(
    const google::protobuf::RepeatedField<std::uint32_t>& cpus);

// The same for one of them.
[[nodiscard]] Expected<std::uint32_t> read_cpu_count(std::uint32_t cpus);

// How many rows to send: 100 where none are asked for, at most max_rows.
[[nodiscard]] Expected<std::size_t> read_row_count(std::uint32_t rows);

[[nodiscard]] Expected<analysis::Scheduler> read_scheduler(const std::string& name);

// What a ranking is asked for: `cpus`, `scheduler` and `rows` of any such request.
struct Ranking {
  std::uint32_t cpus = 1;
  analysis::Scheduler scheduler = analysis::Scheduler::shared;
  std::size_t rows = 0;
};
template <typename Request>
[[nodiscard]] Expected<Ranking> read_ranking(const Request& request) {
  const auto cpus = read_cpu_count(request.cpus());
  if (!cpus)
    return tl::unexpected(cpus.error());
  const auto rows = read_row_count(request.rows());
  if (!rows)
    return tl::unexpected(rows.error());
  const auto scheduler = read_scheduler(request.scheduler());
  if (!scheduler)
    return tl::unexpected(scheduler.error());
  return Ranking{*cpus, *scheduler, *rows};
}

[[nodiscard]] std::string function_name(const Recording& recording, FunctionId id);
[[nodiscard]] std::string file_path(const Recording& recording, FileId id);

[[nodiscard]] Expected<RunRequest> read_record_request(const v1::RecordRequest& request);

// The files of `recording` called `path`; empty: all its files and what has none.
struct FileChoice {
  bool all = false;
  std::vector<FileId> files;
};
[[nodiscard]] Expected<FileChoice> read_file(const OpenRecording& recording,
                                             const std::string& path);

void write_recording(std::uint64_t handle, const OpenRecording& opened, v1::Recording& message);
void write_prediction(std::uint32_t cpus, const analysis::Forecast& forecast, double on_one_cpu_ns,
                      const Recording& recording, v1::Prediction& message);

void write_deadlock(const simulation::Deadlock& deadlock, const Recording& recording,
                    v1::Deadlock& message);

// Rows of the same line or function are joined across the tables, one table per CPU count.
void write_lines(std::span<const analysis::Table<analysis::LineRow>> tables,
                 const FileChoice& choice, const Recording& recording,
                 v1::GetLinesResponse& message);
void write_functions(std::span<const analysis::Table<analysis::FunctionRow>> tables,
                     const Recording& recording, v1::GetFunctionsResponse& message);

void write_concurrency(const analysis::ConcurrencyReport& report, const Recording& recording,
                       v1::GetConcurrencyResponse& message);
// The program and the heaviest `rows` of the others.
void write_quartz(const analysis::QuartzReport& report, std::size_t rows,
                  const Recording& recording, v1::GetQuartzResponse& message);

}  // namespace longpole::service
