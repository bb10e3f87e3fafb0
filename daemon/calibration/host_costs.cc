#include "calibration/host_costs.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "calibration/measure.h"
#include "recording/system.h"
#include "storage/load.h"
#include "trace/host_costs.h"

namespace longpole::calibration {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Raised when what is measured changes.
constexpr int edition = 12;

constexpr auto disturbed_count_for = std::chrono::minutes(10);

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

std::string text_of(const Calibration& calibration) {
  Json times = Json::object();
  for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
    if (const Nanoseconds time = host_cost(calibration.costs, cost); time > Nanoseconds{})
      times[std::string(host_cost_word(cost))] = time.count();
  }
  const Json document{{"edition", edition},
                      {"machine", this_machine()},
                      {"others", calibration.others},
                      {"costs_ns", times}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Calibration> calibration_in(const std::string& text) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || document.value("edition", Json()) != edition ||
      document.value("machine", Json()) != this_machine() ||
      !document.value("others", Json()).is_number() ||
      !document.value("costs_ns", Json()).is_object())
    return std::nullopt;
  Calibration calibration;
  calibration.others = document["others"].get<double>();
  if (calibration.others < 0 || calibration.others > 1)
    return std::nullopt;
  for (const auto& [word, time] : document["costs_ns"].items()) {
    const auto cost = host_cost_of(word);
    if (!cost || !time.is_number_integer() || time.get<std::int64_t>() < 0 ||
        time.get<std::int64_t>() > dearest_host_cost.count())
      return std::nullopt;
    host_cost(calibration.costs, *cost) = Nanoseconds{time.get<std::int64_t>()};
  }
  return calibration;
}

// Of this machine, however old.
std::optional<Calibration> last_kept() {
  const auto text = storage::read_file_whole(kept_at());
  return text ? calibration_in(*text) : std::nullopt;
}

// None where there are none that count.
std::optional<Calibration> kept() {
  auto calibration = last_kept();
  if (calibration && calibration->is_disturbed()) {
    std::error_code error;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(kept_at(), error);
    if (error || age > disturbed_count_for)
      return std::nullopt;
  }
  return calibration;
}

// What others do on the CPUs looks as if the kernel did it, and CPUs that they use do not sleep for long; what it does was no
// other when they were quiet.
void keep_what_the_kernel_does(HostCosts& disturbed) {
  const auto before = last_kept();
  const HostCosts known = before ? before->costs : HostCosts{};
  for (const auto cost : {&HostCosts::idle_look, &HostCosts::packed_use, &HostCosts::deep_sleep,
                          &HostCosts::deep_wake_up, &HostCosts::deep_release})
    disturbed.*cost = known.*cost;
}

// What disturbs a measurement: other programs, and the host of a virtual machine.
Nanoseconds disturbance(const std::vector<std::uint32_t>& cpus) {
  const recording::CpuUse use = recording::cpu_use(cpus);
  return use.busy + use.stolen - recording::own_cpu_time();
}

Expected<Calibration> measure() {
  const std::vector<std::uint32_t> cpus = recording::usable_cpus();
  const Nanoseconds before = disturbance(cpus);
  const auto started = std::chrono::steady_clock::now();
  const auto costs = measure_host_costs();
  if (!costs)
    return tl::unexpected(costs.error());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  const std::chrono::duration<double> others = disturbance(cpus) - before;
  const double share = others / took / static_cast<double>(std::max<std::size_t>(cpus.size(), 1));
  Calibration calibration{*costs, std::clamp(share, 0.0, 1.0)};
  if (calibration.is_disturbed())
    keep_what_the_kernel_does(calibration.costs);
  return calibration;
}

Expected<void> keep(const Calibration& calibration) {
  const fs::path path = kept_at();
  if (path.empty())
    return failure("cannot keep the costs of this machine", "you have no home directory",
                   "set HOME or XDG_CACHE_HOME");
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    return failure("cannot make " + path.parent_path().string(), error.message(),
                   "set XDG_CACHE_HOME to a directory of yours");
  return storage::write_file_whole(text_of(calibration), path);
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

void put_into(Recording& recording, const Calibration& calibration) {
  recording.run.costs = completed(recording.run.costs, calibration.costs);
  if (calibration.is_disturbed())
    recording.notices.push_back(
        {"disturbed-calibration",
         fmt::format(
             "Other programs took {:.0f}% of the CPUs while it was measured what switches and "
             "wake-ups of threads take here, so predictions may be wrong about them. Record again "
             "on a quieter machine, in ten minutes or after `longpole calibrate`.",
             100 * calibration.others),
         0});
}

Expected<Calibration> calibrate() {
  auto calibration = measure();
  if (!calibration)
    return calibration;
  if (const auto done = keep(*calibration); !done)
    return tl::unexpected(done.error());
  return calibration;
}

Calibration costs_of_now() {
  const auto calibration = measure();
  if (!calibration)
    return {};
  // Who cannot keep them measures again next time.
  static_cast<void>(keep(*calibration));
  return *calibration;
}

Calibration host_costs(const std::function<void()>& measuring) {
  if (const auto calibration = kept())
    return *calibration;
  if (measuring)
    measuring();
  return costs_of_now();
}

}  // namespace longpole::calibration
