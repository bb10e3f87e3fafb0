#include "recording/run_files.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* request_file = "request.json";
constexpr const char* result_file = "result.json";
// For what the recorder and the kernel tell of a program that does next to nothing.
constexpr rlim_t smallest_file_limit = 64 * 1024;
constexpr std::uintmax_t enough_space = std::uintmax_t{1} << 30;

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

template <typename T>
std::optional<T> optional_from(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

// File names and arguments are bytes, not always UTF-8, which JSON strings must be.
Json bytes_json(const std::string& text) {
  return Json(std::vector<unsigned char>(text.begin(), text.end()));
}

std::string bytes_from(const Json& json) {
  const auto bytes = json.get<std::vector<unsigned char>>();
  return {bytes.begin(), bytes.end()};
}

Json list_json(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& text : list)
    json.push_back(bytes_json(text));
  return json;
}

std::vector<std::string> list_from(const Json& json) {
  std::vector<std::string> list;
  for (const Json& text : json)
    list.push_back(bytes_from(text));
  return list;
}

Expected<void> write_json(const fs::path& path, const Json& json) {
  fs::path half = path;
  half += ".half";
  {
    std::ofstream out(half, std::ios::binary);
    out << json.dump();
    out.flush();
    if (!out)
      return failure(fmt::format("cannot write {}", half.string()), std::strerror(errno),
                     "make room on that disk");
  }
  std::error_code error;
  fs::rename(half, path, error);
  if (error)
    return failure(fmt::format("cannot write {}", path.string()), error.message());
  return {};
}

template <typename Value, typename Convert>
Expected<Value> read_json(const fs::path& path, const Convert& convert) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return failure(fmt::format("cannot read {}", path.string()), std::strerror(errno));
  try {
    return convert(Json::parse(in));
  } catch (const Json::exception& exception) {
    return failure(fmt::format("cannot read {}", path.string()), exception.what());
  }
}

}  // namespace

std::string perf_file(std::uint32_t cpu) {
  return fmt::format("perf.{}", cpu);
}

std::string wakes_file(std::uint32_t cpu) {
  return fmt::format("wakes.{}", cpu);
}

std::string child_directory(std::uint32_t child) {
  return fmt::format("child.{}", child);
}

Expected<void> write_request(const fs::path& run_directory, const Request& request) {
  return write_json(run_directory / request_file,
                    Json{{"program", bytes_json(request.program.string())},
                         {"argv", list_json(request.argv)},
                         {"directory", bytes_json(request.directory.string())},
                         {"environment", list_json(request.environment)},
                         {"preload", list_json(request.preload)},
                         {"all_cpus", request.all_cpus},
                         {"as_cpus", request.as_cpus},
                         {"rate_hz", request.rate_hz},
                         {"function_depth", request.function_depth},
                         {"lockstep", request.lockstep},
                         {"follow", request.follow},
                         {"portable", request.portable},
                         {"max_units", request.max_units}});
}

Expected<Request> read_request(const fs::path& run_directory) {
  return read_json<Request>(run_directory / request_file, [](const Json& json) {
    return Request{bytes_from(json.at("program")),
                   list_from(json.at("argv")),
                   bytes_from(json.at("directory")),
                   list_from(json.at("environment")),
                   list_from(json.at("preload")),
                   json.at("all_cpus").get<bool>(),
                   json.at("as_cpus").get<std::uint32_t>(),
                   json.at("rate_hz").get<std::uint32_t>(),
                   json.at("function_depth").get<std::uint32_t>(),
                   json.at("lockstep").get<std::uint32_t>(),
                   json.at("follow").get<bool>(),
                   json.at("portable").get<bool>(),
                   json.at("max_units").get<std::uint32_t>()};
  });
}

Expected<void> write_result(const fs::path& run_directory, const Result& result) {
  Json error = nullptr;
  if (result.error)
    error = Json{{"kind", static_cast<int>(result.error->kind)},
                 {"what", bytes_json(result.error->what)},
                 {"why", bytes_json(result.error->why)},
                 {"remedy", bytes_json(result.error->remedy)}};
  Json pairs = Json::array();
  for (const ClockPair& pair : result.clock_pairs)
    pairs.push_back(Json::array({pair.tsc, pair.monotonic_ns}));
  Json stolen = Json::array();
  for (const StolenLook& look : result.stolen)
    stolen.push_back(Json::array({look.monotonic_ns, look.stolen_ns}));
  const HostCosts& of_changes = result.changes;
  const Json changes = Json::array(
      {of_changes.context_switch.count(), of_changes.block.count(), of_changes.release.count()});
  Json tracepoints = nullptr;
  if (const auto& t = result.tracepoints; t)
    tracepoints = Json::array({t->waking, t->woken_at, t->switching, t->flags_at});
  return write_json(run_directory / result_file,
                    Json{{"error", error},
                         {"pid", result.pid},
                         {"started_at_unix_ns", result.started_at_unix_ns},
                         {"started_ns", result.started_ns},
                         {"ended_ns", result.ended_ns},
                         {"cpu_time_ns", result.cpu_time_ns},
                         {"exit_status", optional_json(result.exit_status)},
                         {"exit_signal", optional_json(result.exit_signal)},
                         {"stopped", result.stopped},
                         {"kernel_source", result.kernel_source},
                         {"kernel_samples", result.kernel_samples},
                         {"stacks_left_out", result.stacks_left_out},
                         {"perf_refused", result.perf_refused},
                         {"spool_error", result.spool_error},
                         {"cpus", result.cpus},
                         {"lockstep", result.lockstep},
                         {"machine_cpus", result.machine_cpus},
                         {"perf_cpus", result.perf_cpus},
                         {"sample_hz", result.sample_hz},
                         {"ticks_hz", result.ticks_hz},
                         {"switch_ns", result.costs.switch_ns},
                         {"sleep_ns", result.costs.sleep_ns},
                         {"tracepoint_ns", result.costs.tracepoint_ns},
                         {"sample_ns", result.costs.sample_ns},
                         {"changes", changes},
                         {"tracepoints", tracepoints},
                         {"clock_pairs", pairs},
                         {"stolen", stolen}});
}

Expected<Result> read_result(const fs::path& run_directory) {
  return read_json<Result>(run_directory / result_file, [](const Json& json) {
    Result result;
    if (const Json& error = json.at("error"); !error.is_null()) {
      const int kind = error.at("kind").get<int>();
      result.error = Error{kind == static_cast<int>(ErrorKind::bad_input)   ? ErrorKind::bad_input
                           : kind == static_cast<int>(ErrorKind::not_found) ? ErrorKind::not_found
                                                                            : ErrorKind::failure,
                           bytes_from(error.at("what")), bytes_from(error.at("why")),
                           bytes_from(error.at("remedy"))};
    }
    result.pid = json.at("pid").get<std::int32_t>();
    result.started_at_unix_ns = json.at("started_at_unix_ns").get<std::int64_t>();
    result.started_ns = json.at("started_ns").get<std::int64_t>();
    result.ended_ns = json.at("ended_ns").get<std::int64_t>();
    result.cpu_time_ns = json.at("cpu_time_ns").get<std::int64_t>();
    result.exit_status = optional_from<int>(json.at("exit_status"));
    result.exit_signal = optional_from<int>(json.at("exit_signal"));
    result.stopped = json.at("stopped").get<bool>();
    result.kernel_source = json.at("kernel_source").get<bool>();
    result.kernel_samples = json.at("kernel_samples").get<bool>();
    result.stacks_left_out = json.at("stacks_left_out").get<bool>();
    result.perf_refused = json.at("perf_refused").get<std::string>();
    result.spool_error = json.at("spool_error").get<std::string>();
    result.cpus = json.at("cpus").get<std::uint32_t>();
    result.lockstep = json.at("lockstep").get<std::uint32_t>();
    result.machine_cpus = json.at("machine_cpus").get<std::uint32_t>();
    result.perf_cpus = json.at("perf_cpus").get<std::vector<std::uint32_t>>();
    result.sample_hz = json.at("sample_hz").get<std::uint32_t>();
    result.ticks_hz = json.at("ticks_hz").get<std::uint32_t>();
    result.costs.switch_ns = json.at("switch_ns").get<std::int64_t>();
    result.costs.sleep_ns = json.at("sleep_ns").get<std::int64_t>();
    result.costs.tracepoint_ns = json.at("tracepoint_ns").get<std::int64_t>();
    result.costs.sample_ns = json.at("sample_ns").get<std::int64_t>();
    const Json& changes = json.at("changes");
    result.changes.context_switch = Nanoseconds{changes.at(0).get<std::int64_t>()};
    result.changes.block = Nanoseconds{changes.at(1).get<std::int64_t>()};
    result.changes.release = Nanoseconds{changes.at(2).get<std::int64_t>()};
    if (const Json& t = json.at("tracepoints"); !t.is_null())
      result.tracepoints = Tracepoints{t.at(0).get<std::uint32_t>(), t.at(1).get<std::uint32_t>(),
                                       t.at(2).get<std::uint32_t>(), t.at(3).get<std::uint32_t>()};
    for (const Json& pair : json.at("clock_pairs"))
      result.clock_pairs.push_back(
          {pair.at(0).get<std::uint64_t>(), pair.at(1).get<std::int64_t>()});
    for (const Json& look : json.at("stolen"))
      result.stolen.push_back({look.at(0).get<std::int64_t>(), look.at(1).get<std::int64_t>()});
    return result;
  });
}

Expected<RunDirectory> RunDirectory::create() {
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < smallest_file_limit)
    return failure("cannot record",
                   fmt::format("no file may have more than {} bytes", limit.rlim_cur),
                   "raise that limit (ulimit -f)");
  fs::path best;
  std::uintmax_t best_space = 0;
  // What the user chose comes first.
  for (const char* candidate : std::initializer_list<const char*>{
           ::getenv("TMPDIR"), ::getenv("XDG_RUNTIME_DIR"), "/tmp"}) {
    std::error_code error;
    if (candidate == nullptr || !fs::path(candidate).is_absolute())
      continue;
    const std::uintmax_t space = fs::space(candidate, error).available;
    if (error || (!best.empty() && space <= best_space))
      continue;
    best = candidate;
    best_space = space;
    if (space >= enough_space)
      break;
  }
  std::string name = (best / "longpole-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)  // mode 0700
    return failure(fmt::format("cannot make a directory for the run in {}", best.string()),
                   std::strerror(errno), "set TMPDIR to a directory that you may write to");
  return RunDirectory(name);
}

RunDirectory::~RunDirectory() {
  std::error_code ignored;
  if (!path_.empty())
    fs::remove_all(path_, ignored);
}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::exchange(other.path_, fs::path())) {}

RunDirectory& RunDirectory::operator=(RunDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

}  // namespace longpole::recording
