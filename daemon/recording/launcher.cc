#include "recording/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <optional>

#include "longpole/raw_record.h"
#include "recording/children.h"
#include "recording/mapped_files.h"
#include "recording/options.h"
#include "recording/perf_rings.h"
#include "recording/recorded_switch.h"
#include "recording/run_delays.h"
#include "recording/run_files.h"
#include "recording/sample_cost.h"
#include "recording/sample_rate.h"
#include "recording/stolen_time.h"
#include "recording/stopped_child.h"
#include "recording/system.h"
#include "recording/thread_changes.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t tick_ns = 100'000'000;     // clock pairs and maps are taken this often
constexpr std::int64_t grace_ns = 5'000'000'000;  // between SIGTERM and SIGKILL
constexpr int draining_priority = -15;            // as nice(2) counts
constexpr std::size_t worth_draining = 512 * 1024;
constexpr int poll_while_loading_ms = 1;  // until the recorder has announced itself

// The control file, mapped; the recorder in the program maps it too.
class Control {
 public:
  static Expected<Control> create(const fs::path& run_directory, const Request& request,
                                  std::uint32_t told_cpus) {
    const char* what = "cannot prepare the run directory";
    for (const char* name : {control_file, events_file}) {
      const Descriptor file(
          ::open((run_directory / name).c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
      if (!file)
        return failure(what, std::strerror(errno));
      if (std::string_view(name) != control_file)
        continue;
      // Reserved, not only made longer: on a full disk a touch would be a SIGBUS.
      if (const int error = ::posix_fallocate(file.get(), 0, sizeof(longpole_control)); error != 0)
        return failure(what, std::strerror(error), "make room on that disk");
      void* memory = ::mmap(nullptr, sizeof(longpole_control), PROT_READ | PROT_WRITE, MAP_SHARED,
                            file.get(), 0);
      if (memory == MAP_FAILED)
        return failure(what, std::strerror(errno));
      auto* control = new (memory) longpole_control{};
      control->version = LONGPOLE_RAW_VERSION;
      control->sample_hz = rate_of_thread_timers(
          request.rate_hz != 0 ? request.rate_hz : default_rate_hz, kernel_ticks_hz());
      control->function_depth = request.function_depth;
      control->lockstep_cpus = request.lockstep;
      control->told_cpus = told_cpus;
      control->max_units = request.max_units;
      control->follow = request.follow ? 1 : 0;
      control->one_cpu = request.all_cpus ? 0 : 1;
      return Control(control);
    }
    return failure(what, "no control file");
  }

  [[nodiscard]] std::uint32_t sample_hz() const { return control_->sample_hz; }
  void set_source(bool kernel) {
    control_->cpu_clock = kernel ? LONGPOLE_CPU_CLOCK_KERNEL : LONGPOLE_CPU_CLOCK_THREAD;
    control_->magic = LONGPOLE_CONTROL_MAGIC;
  }
  [[nodiscard]] bool recorder_is_there() const {
    return __atomic_load_n(&control_->pid, __ATOMIC_ACQUIRE) != 0;
  }
  [[nodiscard]] std::uint32_t threads_created() const {
    return __atomic_load_n(&control_->next_thread, __ATOMIC_RELAXED);
  }
  // The process has become another program, which has a recording of its own.
  [[nodiscard]] bool program_is_replaced() const {
    return __atomic_load_n(&control_->ending, __ATOMIC_ACQUIRE) == LONGPOLE_ENDING_EXEC;
  }

 private:
  explicit Control(longpole_control* control) : control_(control) {}

  longpole_control* control_;
};

// Whether a program makes threads so fast that most of them end within a period or two of samples.
class ShortThreads {
 public:
  explicit ShortThreads(std::uint32_t rate_hz)
      : many_(std::max(static_cast<std::uint32_t>(rate_hz * (tick_ns / 1'000'000) / 1'000 / 2),
                       fewest)) {}

  [[nodiscard]] bool are_made(std::uint32_t created, std::int64_t now) {
    if (now - began_ > tick_ns) {
      began_ = now;
      before_ = created;
    }
    return created - before_ >= many_;
  }

 private:
  static constexpr std::uint32_t fewest = 10;

  std::uint32_t many_;  // within a tick
  std::uint32_t before_ = 0;
  std::int64_t began_ = 0;
};

// Ends the program on request: politely first.
class Terminator {
 public:
  explicit Terminator(pid_t pid) : pid_(pid) {}

  void ask(int signal, bool has_it_already, std::int64_t now) {
    if (!has_it_already)
      ::kill(pid_, signal);
    deadline_ = std::min(deadline_, now + grace_ns);
  }
  void check(std::int64_t now) const {
    if (now >= deadline_)
      ::kill(pid_, SIGKILL);
  }
  [[nodiscard]] bool asked() const { return deadline_ != never; }

 private:
  pid_t pid_;
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::int64_t deadline_ = never;
};

// Signals that end things, as a descriptor, and the mask that the program is to have instead. One that whoever started us
// wants ignored (nohup) stays so.
struct Signals {
  sigset_t inherited{};
  Descriptor descriptor;

  static Signals block() {
    Signals signals;
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT})
      if (!is_ignored(signal))
        ::sigaddset(&wanted, signal);
    ::sigprocmask(SIG_BLOCK, &wanted, &signals.inherited);
    signals.descriptor = Descriptor(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    return signals;
  }
};

// SIGINT is for the program alone, which may live on. It gets one for each that the session's process tells of, less
// those that came to us as well: these were sent to all of us, by a terminal say.
class Interrupts {
 public:
  explicit Interrupts(pid_t pid) : pid_(pid) {}

  void came_to_us() { ++had_already_; }
  void asked_for() {
    if (had_already_ > 0)
      --had_already_;
    else
      ::kill(pid_, SIGINT);
  }

 private:
  pid_t pid_;
  std::uint64_t had_already_ = 0;
};

// What the process has used, without its children; also when it is a zombie. 0: not known.
std::int64_t process_cpu_time(pid_t pid) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &used) != 0)
    return 0;
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

struct Run {
  fs::path directory;
  Request request;
  Result result;
  Descriptor lifeline;
  Signals signals;
  std::optional<StolenTimeWatch> stolen;
  std::int64_t cpu_time_before_exec_ns = 0;

  Expected<void> execute();
  void watch(pid_t pid, const Control& control, std::optional<PerfRings>& rings);
  void collect_exit(pid_t pid);
};

Expected<void> Run::execute() {
  const std::vector<std::uint32_t> usable = usable_cpus();
  std::vector<std::uint32_t> cpus = usable;
  if (!request.all_cpus) {
    cpus = {idlest_cpu(usable)};
    std::vector<std::uint32_t> others = usable;
    std::erase(others, cpus.front());
    if (!others.empty())
      run_on(others);  // so that our own work does not stand in the program's way
  }
  result.machine_cpus = static_cast<std::uint32_t>(usable.size());
  result.cpus = static_cast<std::uint32_t>(cpus.size());
  result.lockstep = request.lockstep;
  const bool lie = request.as_cpus != 0 || !request.all_cpus;
  auto control = Control::create(directory, request,
                                 request.as_cpus != 0 ? request.as_cpus
                                 : lie                ? result.machine_cpus
                                                      : 0);
  if (!control)
    return tl::unexpected(control.error());

  auto child = StoppedChild::spawn(request, directory, cpus, signals.inherited);
  if (!child)
    return tl::unexpected(child.error());
  result.pid = child->pid();
  // The rings have to be drained in time on a busy machine too. Only the privileged may.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, draining_priority));

  result.sample_hz = control->sample_hz();
  result.ticks_hz = kernel_ticks_hz();
  std::optional<Tracepoints> tracepoints;
  std::optional<PerfRings> rings;
  if (!request.portable) {
    if (auto found = find_tracepoints(cpus.size() == 1))
      tracepoints = *found;
    const std::int64_t sample_ns = cost_of_sample(cpus.front(), directory);
    const std::uint32_t rate_hz =
        request.rate_hz != 0 ? request.rate_hz : affordable_rate_hz(sample_ns, result.ticks_hz);
    result.costs = costs_of_recorded_switches(cpus.front(), rate_hz, tracepoints, directory);
    result.costs.sample_ns = sample_ns;
    auto opened = PerfRings::open(child->pid(), cpus, rate_hz, directory);
    if (opened) {
      rings = std::move(*opened);
      result.sample_hz = rate_hz;
    } else {
      result.perf_refused = opened.error().why + "; " + opened.error().remedy;
    }
  }
  const HostCosts changes_before = costs_of_changes_in_child(cpus.front());
  result.kernel_source = rings.has_value();
  if (rings) {
    result.perf_cpus = rings->cpus();
    result.kernel_samples = rings->samples_kernel();
    if (tracepoints && rings->add_tracepoints(child->pid(), *tracepoints, directory))
      result.tracepoints = *tracepoints;
  }
  control->set_source(rings.has_value());

  timespec realtime{};
  ::clock_gettime(CLOCK_REALTIME, &realtime);
  result.started_at_unix_ns = std::int64_t{realtime.tv_sec} * 1'000'000'000 + realtime.tv_nsec;
  result.clock_pairs.push_back(read_clock_pair());
  stolen.emplace(cpus);
  stolen->look(monotonic_ns());
  cpu_time_before_exec_ns = process_cpu_time(child->pid());
  result.started_ns = monotonic_ns();
  if (auto released = child->release(); !released) {
    ::waitpid(child->pid(), nullptr, 0);
    return released;
  }
  const std::string announcement = fmt::format("{}\n", child->pid());
  static_cast<void>(write_all(lifeline.get(), announcement.data(), announcement.size()));
  watch(child->pid(), *control, rings);
  if (request.follow)
    end_recordings_of_children(directory);
  collect_exit(child->pid());
  rings.reset();  // which may be of all that runs there
  result.changes = between(changes_before, costs_of_changes_in_child(cpus.front()));
  return {};
}

// Until the program has exited and the rings are empty.
void Run::watch(pid_t pid, const Control& control, std::optional<PerfRings>& rings) {
  const Descriptor exited(open_pidfd(pid));
  MappedFiles mapped(directory);
  const auto note_mappings = [&] {
    const std::string maps = read_special_file(fmt::format("/proc/{}/maps", pid));
    if (!control.program_is_replaced())
      mapped.add(maps);
  };
  std::optional<RunDelayRecorder> run_delays;
  if (!rings)
    run_delays.emplace(pid, directory);
  Terminator terminator(pid);
  Interrupts interrupts(pid);
  std::vector<pollfd> polled = {{exited.get(), POLLIN, 0},
                                {signals.descriptor.get(), POLLIN, 0},
                                {lifeline.get(), POLLIN, 0}};
  if (rings)
    for (const pollfd& entry : rings->poll_entries())
      polled.push_back(entry);

  const bool all_last = polled.size() == 3;  // no ring is to be polled for
  bool recorder_seen = false;
  ShortThreads short_threads(result.sample_hz);
  bool samples_cpus = false;
  std::int64_t next_tick = monotonic_ns() + tick_ns;
  while ((polled[0].revents & POLLIN) == 0) {
    const std::int64_t before = monotonic_ns();
    const std::int64_t next_look =
        rings ? std::min(next_tick, before + PerfRings::longest_rest_ns) : next_tick;
    const auto until_look =
        static_cast<int>(std::max<std::int64_t>(next_look - before, 0) / 1'000'000 + 1);
    ::poll(polled.data(), polled.size(), recorder_seen ? until_look : poll_while_loading_ms);
    const std::int64_t now = monotonic_ns();

    if (!recorder_seen && control.recorder_is_there()) {
      recorder_seen = true;  // what the program starts with is mapped now
      note_mappings();
    }
    const bool ticks = now >= next_tick;
    if (ticks) {
      result.clock_pairs.push_back(read_clock_pair());
      note_mappings();
      if (run_delays)
        run_delays->snapshot();
      stolen->look(monotonic_ns());
      next_tick = now + tick_ns;
      recorder_seen = true;  // or never: stop looking so often
    }
    signalfd_siginfo signal{};
    while (::read(signals.descriptor.get(), &signal, sizeof signal) ==
           static_cast<ssize_t>(sizeof signal)) {
      if (signal.ssi_signo == SIGINT)
        interrupts.came_to_us();
      else  // what the terminal sends, it sends to the program as well
        terminator.ask(static_cast<int>(signal.ssi_signo), signal.ssi_code == SI_KERNEL, now);
    }
    if ((polled[2].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      char word = 0;
      if (::read(lifeline.get(), &word, 1) == 1) {
        interrupts.asked_for();
      } else {
        terminator.ask(SIGTERM, false, now);
        polled[2].fd = -1;
      }
    }
    terminator.check(now);
    if (rings && !samples_cpus && short_threads.are_made(control.threads_created(), now)) {
      rings->sample_cpus();
      samples_cpus = true;
    }
    if (rings)
      rings->drain(ticks || !all_last ? 1 : worth_draining);
    // A ring whose last thread has ended reports POLLHUP for ever.
    for (std::size_t i = 3; i < polled.size(); ++i)
      if ((polled[i].revents & (POLLHUP | POLLERR)) != 0)
        polled[i].fd = -1;
  }
  result.clock_pairs.push_back(read_clock_pair());
  result.ended_ns = monotonic_ns();
  stolen->look(result.ended_ns);
  result.stolen = stolen->take();
  result.stopped = terminator.asked();
  if (rings) {
    while (rings->drain()) {
    }
    result.spool_error = rings->spool_error();
    result.stacks_left_out = rings->left_out_stacks();
  }
}

void Run::collect_exit(pid_t pid) {
  result.cpu_time_ns = process_cpu_time(pid) - cpu_time_before_exec_ns;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    result.exit_signal = WTERMSIG(status);
  else
    result.exit_status = WEXITSTATUS(status);
}

}  // namespace

int run_launcher(const fs::path& run_directory, int lifeline) {
  outlive_file_limits();
  Run run;
  run.directory = run_directory;
  run.lifeline = Descriptor(lifeline);
  ::fcntl(lifeline, F_SETFD, FD_CLOEXEC);
  run.signals = Signals::block();
  auto request = read_request(run_directory);
  Expected<void> done;
  if (request) {
    run.request = std::move(*request);
    done = run.execute();
  } else {
    done = tl::unexpected(request.error());
  }
  if (!done)
    run.result.error = done.error();
  return write_result(run_directory, run.result) ? 0 : 1;
}

}  // namespace longpole::recording
