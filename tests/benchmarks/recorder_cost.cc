// What the recorder costs: an uncontended lock and unlock, in CPU time of the program that is
// recorded, chunk changes included.
//
//   added      over the bare pair of the same round: the number that DESIGN section 9 bounds
//   stamp      one reading of the time stamp counter, of which a recorded pair needs two
//
//   twin       a library that stands in between and does nothing else
//   stopped    the recorder, after its recording has come to an end
//   recorded   as programs are, all threads on one CPU
//   …in_two    two threads at once, each on a mutex of its own: nothing may be shared
//   …all_cpus  as with --cpus all, where a stamp waits for the acquisition before it
//   lttng      LTTng with its wrapper of pthread calls, liblttng-ust-pthread-wrapper; where Debian's
//              lttng-tools are installed
//   uftrace    of the calls into libraries; where it is installed
//
// Each round runs the program anew in every setting, so that a slow moment hits all of them alike.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

#include "../recorder/specimen.h"

namespace {

using longpole::test::Outcome;
using longpole::test::RunDirectory;
using longpole::test::Specimen;

struct Cost {
  double pair_ns = 0;
  double stamp_ns = 0;
};

Cost cost_in(const Outcome& outcome) {
  Cost cost;
  std::istringstream(outcome.output) >> cost.pair_ns >> cost.stamp_ns;
  return {cost.pair_ns / 1000, cost.stamp_ns / 1000};
}

const Specimen kOne{"measured_locks"};
const Specimen kTwo{"measured_locks", {"two"}};

Cost bare(const Specimen& specimen) {
  return cost_in(run_bare(specimen));
}
Cost twin(const Specimen& specimen) {
  Specimen with_twin = specimen;
  with_twin.preload = "twin.so";
  return cost_in(run_bare(with_twin));
}
Cost idle(const Specimen& specimen) {
  return cost_in(run_beside_idle_recorder(specimen));
}

Cost recorded_under(const Specimen& specimen, longpole_cpu_clock clock, std::uint32_t sample_hz,
                    bool one_cpu) {
  RunDirectory directory;
  directory.control().one_cpu = one_cpu ? 1 : 0;
  directory.control().cpu_clock = clock;
  directory.control().sample_hz = sample_hz;
  return cost_in(run_recorded(specimen, directory));
}

Cost stopped(const Specimen& specimen) {
  RunDirectory directory;
  directory.control().max_units = 0;
  return cost_in(run_recorded(specimen, directory));
}
Cost recorded(const Specimen& specimen) {
  return recorded_under(specimen, LONGPOLE_CPU_CLOCK_KERNEL, 0, true);
}
Cost recorded_portably(const Specimen& specimen) {
  return recorded_under(specimen, LONGPOLE_CPU_CLOCK_THREAD, 1000, true);
}
Cost recorded_on_all_cpus(const Specimen& specimen) {
  return recorded_under(specimen, LONGPOLE_CPU_CLOCK_KERNEL, 0, false);
}

bool succeeds(const std::string& shell_command) {
  return std::system((shell_command + " >/dev/null 2>&1").c_str()) == 0;
}

void require(const std::string& shell_command) {
  if (!succeeds(shell_command))
    throw std::runtime_error("failed: " + shell_command);
}

// What the shell command prints is what the specimen does.
Cost printed_by(const std::string& shell_command) {
  std::FILE* const pipe = popen(shell_command.c_str(), "r");
  if (pipe == nullptr)
    throw std::runtime_error("cannot run: " + shell_command);
  Outcome outcome;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr)
    outcome.output += part.data();
  pclose(pipe);
  return cost_in(outcome);
}

// A recording session of LTTng, with a daemon of its own where none runs yet.
class LttngSession {
 public:
  LttngSession() {
    succeeds("lttng-sessiond --no-kernel --daemonize --pidfile=" + pid_file_);
    require("lttng create " + name_ + " --output=" + directory_.path().string() + "/trace");
    require("lttng enable-event --session=" + name_ + " --userspace 'lttng_ust_pthread:*'");
    require("lttng start " + name_);
  }
  LttngSession(const LttngSession&) = delete;
  LttngSession& operator=(const LttngSession&) = delete;
  ~LttngSession() {
    succeeds("lttng destroy " + name_);
    succeeds("test -s " + pid_file_ + " && kill $(cat " + pid_file_ + ")");
  }

 private:
  RunDirectory directory_;
  std::string name_ = "longpole-benchmark-" + std::to_string(getpid());
  std::string pid_file_ = directory_.path().string() + "/pid";
};

Cost lttng(const Specimen& specimen) {
  const LttngSession session;
  return printed_by("LD_PRELOAD=liblttng-ust-pthread-wrapper.so.1 " +
                    longpole::test::path_of(specimen.name));
}

Cost uftrace(const Specimen& specimen) {
  const RunDirectory directory;
  return printed_by("uftrace record --force --data=" + directory.path().string() + "/trace " +
                    longpole::test::path_of(specimen.name));
}

void lock_and_unlock(benchmark::State& state, const Specimen& specimen,
                     Cost (*setting)(const Specimen&)) {
  constexpr double kNanosecond = 1e-9;
  double added = 0;
  double stamp = 0;
  for ([[maybe_unused]] const auto _ : state) {
    const Cost without = bare(specimen);
    const Cost with = setting(specimen);
    state.SetIterationTime(with.pair_ns * kNanosecond);
    added += with.pair_ns - without.pair_ns;
    stamp += without.stamp_ns;
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["added_ns"] = added / rounds;
  state.counters["stamp_ns"] = stamp / rounds;
}

constexpr int kRounds = 15;

void rounds(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Iterations(1)->Repetitions(kRounds)->ReportAggregatesOnly();
}

BENCHMARK_CAPTURE(lock_and_unlock, bare, kOne, &bare)->Apply(rounds);
BENCHMARK_CAPTURE(lock_and_unlock, twin, kOne, &twin)->Apply(rounds);
BENCHMARK_CAPTURE(lock_and_unlock, idle_recorder, kOne, &idle)->Apply(rounds);
BENCHMARK_CAPTURE(lock_and_unlock, stopped, kOne, &stopped)->Apply(rounds);
BENCHMARK_CAPTURE(lock_and_unlock, recorded, kOne, &recorded)->Apply(rounds);
BENCHMARK_CAPTURE(lock_and_unlock, recorded_portably, kOne, &recorded_portably)->Apply(rounds);
BENCHMARK_CAPTURE(lock_and_unlock, bare_in_two, kTwo, &bare)->Apply(rounds);
BENCHMARK_CAPTURE(lock_and_unlock, twin_in_two, kTwo, &twin)->Apply(rounds);
BENCHMARK_CAPTURE(lock_and_unlock, recorded_on_all_cpus, kOne, &recorded_on_all_cpus)
    ->Apply(rounds);
BENCHMARK_CAPTURE(lock_and_unlock, recorded_on_all_cpus_in_two, kTwo, &recorded_on_all_cpus)
    ->Apply(rounds);

[[maybe_unused]] const bool others_are_registered = [] {
  const auto measure = [](const char* name, Cost (*setting)(const Specimen&)) {
    const auto run = [setting](benchmark::State& state) { lock_and_unlock(state, kOne, setting); };
    rounds(benchmark::RegisterBenchmark(name, run));
  };
  if (succeeds("command -v lttng-sessiond lttng"))
    measure("lock_and_unlock/lttng", &lttng);
  if (succeeds("command -v uftrace"))
    measure("lock_and_unlock/uftrace", &uftrace);
  return true;
}();

}  // namespace
