#include "calibration/host_costs.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "calibration/measure.h"
#include "storage/load.h"
#include "trace/host_costs.h"

namespace longpole::calibration {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Raised when what is measured changes.
constexpr int edition = 5;

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string this_machine() {
  utsname names{};
  uname(&names);
  return fmt::format("{}, {} CPUs, {} {}", processor(), sysconf(_SC_NPROCESSORS_CONF),
                     names.sysname, names.release);
}

std::string text_of(const HostCosts& costs) {
  Json times = Json::object();
  for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
    if (const Nanoseconds time = host_cost(costs, cost); time > Nanoseconds{})
      times[std::string(host_cost_word(cost))] = time.count();
  }
  const Json document{{"edition", edition}, {"machine", this_machine()}, {"costs_ns", times}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<HostCosts> costs_in(const std::string& text) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || document.value("edition", Json()) != edition ||
      document.value("machine", Json()) != this_machine() ||
      !document.value("costs_ns", Json()).is_object())
    return std::nullopt;
  HostCosts costs;
  for (const auto& [word, time] : document["costs_ns"].items()) {
    const auto cost = host_cost_of(word);
    if (!cost || !time.is_number_integer() || time.get<std::int64_t>() < 0 ||
        time.get<std::int64_t>() > dearest_host_cost.count())
      return std::nullopt;
    host_cost(costs, *cost) = Nanoseconds{time.get<std::int64_t>()};
  }
  return costs;
}

Expected<void> keep(const HostCosts& costs) {
  const fs::path path = kept_at();
  if (path.empty())
    return failure("cannot keep the costs of this machine", "you have no home directory",
                   "set HOME or XDG_CACHE_HOME");
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    return failure("cannot make " + path.parent_path().string(), error.message(),
                   "set XDG_CACHE_HOME to a directory of yours");
  return storage::write_file_whole(text_of(costs), path);
}

}  // namespace

fs::path kept_at() {
  // The environment is only read in this program. NOLINTBEGIN(concurrency-mt-unsafe)
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  const fs::path file = fs::path("longpole") / "host-costs.json";
  if (cache != nullptr && cache[0] == '/')
    return cache / file;
  return home != nullptr && home[0] == '/' ? fs::path(home) / ".cache" / file : fs::path();
}

Expected<HostCosts> calibrate() {
  auto costs = measure_host_costs();
  if (!costs)
    return costs;
  if (const auto kept = keep(*costs); !kept)
    return tl::unexpected(kept.error());
  return costs;
}

HostCosts costs_of_now() {
  auto costs = measure_host_costs();
  if (!costs)
    return {};
  // Who cannot keep them measures again next time.
  static_cast<void>(keep(*costs));
  return *costs;
}

HostCosts host_costs(const std::function<void()>& measuring) {
  if (const auto text = storage::read_file_whole(kept_at())) {
    if (const auto costs = costs_in(*text))
      return *costs;
  }
  if (measuring)
    measuring();
  return costs_of_now();
}

}  // namespace longpole::calibration
