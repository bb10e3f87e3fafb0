// Recording: one run of a program, as the simulation and the analyses see it.
//
// A Recording is a plain value: tables, and for each thread the list of its events in order. It
// comes from a run (recording/), from a recording file (recording_file.h) or from text
// (program_text.h, recording_text.h); whoever reads it cannot tell which. It is immutable once
// validate() accepted it, and then safe to read from any number of threads.
//
//   thread   ──run 3 ms──▶ lock M ──run 1 ms──▶ unlock M ──run 2 ms──▶ end
//   events        [cpu=3, mutex_lock M]  [cpu=1, mutex_unlock M]  [cpu=2, thread_end]
//
// An Event is a stretch of computing (`cpu`, spent as `profile` says) followed by one call. So the
// number of events is the number of recorded calls, and there is one segment (Paper VI) per event.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/error.h"
#include "trace/types.h"

namespace longpole {

// The call that ends a stretch of computing. The statement of the text forms stands behind each.
enum class EventKind : std::uint8_t {
  run,            // run F D          no call: an explicit stretch of computing ends
  enter,          // enter F          callee: FunctionId
  leave,          // leave F
  thread_create,  // create T         subject: ThreadId of the new thread
  thread_join,    // join T
  thread_detach,  // detach T
  thread_cancel,  // cancel T
  thread_end,     // end              last event of a thread
  mutex_lock,     // lock M           subject: ObjectId, here and below unless said otherwise;
                  //                  other: burns_cpu where it waits in a loop, as for a spin lock
  mutex_trylock,  // trylock M ok|busy
  mutex_timedlock,      // timedlock M D ok|timeout
  mutex_unlock,         // unlock M
  rwlock_read,          // rdlock L
  rwlock_write,         // wrlock L
  rwlock_unlock,        // rwunlock L
  semaphore_wait,       // wait S
  semaphore_trywait,    // trywait S ok|busy
  semaphore_timedwait,  // timedwait S D ok|timeout
  semaphore_post,       // post S
  condition_wait,       // cwait C M        other: ObjectId of the mutex
  condition_timedwait,  // ctimedwait C M D ok|timeout
  condition_signal,     // signal C         other: number of threads it woke, or unknown_count
  condition_broadcast,  // broadcast C      other: likewise
  barrier_wait,         // barrier B N      other: number of threads the barrier waits for
  yield,                // yield
  sleep,                // sleep D          duration: off the CPU
  io,                   // io DEVICE D      duration: off the CPU; subject: the device
  external_wait,  // external D       off the CPU for something outside the program; fixed length.
                  //                  Of input and output, which may take no time, subject: the
                  //                  descriptor; other: bytes moved
  send,           // send X to T      subject: channel; other: ThreadId of the receiver
  receive,        // receive X
  program_exit,  // exit             main returned, or the thread called exit(); thread_end follows, and
  //                  there all threads end, wherever they are. A thread that had ended
  //                  before in the recorded run was waited for
};
inline constexpr std::size_t event_kind_count =
    static_cast<std::size_t>(EventKind::program_exit) + 1;

enum class Outcome : std::uint8_t {
  ok,
  busy,        // a try-operation that did not get it
  timeout,     // a timed wait whose time passed; `duration` says how long it waited
  failed,      // the call returned an error: it changed nothing, the simulation passes over it
  unfinished,  // the call had not returned when the recording ended
};

inline constexpr std::uint32_t unknown_count = 0xffffffffU;

struct Event {
  Nanoseconds time{};  // when the call was made, on the recording's clock
  Nanoseconds cpu{};   // CPU time of the thread since its previous event, recorder's cost taken out
  Nanoseconds
      duration{};  // wall time from call to return in the recording (0: it did not wait); the
                   // fixed length of a sleep, I/O, external wait and of a wait that timed out
  std::uint32_t subject =
      unknown_count;                    // by kind, see EventKind; unknown_count where there is none
  std::uint32_t other = unknown_count;  // by kind, see EventKind
  StackId site{};                       // the calling line; none where not recorded
  ProfileId profile{};  // where `cpu` was spent; none when cpu is 0 or nothing is known
  ThreadId waker{};     // who released the waiting call; none where not known
  EventKind kind = EventKind::run;
  Outcome outcome = Outcome::ok;

  static constexpr std::uint32_t burns_cpu = 1;

  [[nodiscard]] bool spins() const { return kind == EventKind::mutex_lock && other == burns_cpu; }
  [[nodiscard]] ThreadId thread() const { return {subject}; }
  [[nodiscard]] ObjectId object() const { return {subject}; }
  [[nodiscard]] FunctionId callee() const { return {subject}; }
  [[nodiscard]] ObjectId mutex() const { return {other}; }
  [[nodiscard]] ThreadId receiver() const { return {other}; }

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) <= 56, "DESIGN section 9: at most 100 bytes an event in the daemon");

struct Thread {
  std::string name{};           // unique, never empty
  FunctionId start_function{};  // what it was created to run; none for threads of text programs
  ThreadId creator{};           // none: it starts at time 0
  std::optional<std::int32_t> priority{};   // larger is higher
  std::optional<std::uint32_t> bound_to{};  // the CPU it is bound to
  std::vector<Event> events{};              // in order; the last is thread_end in a complete run

  friend bool operator==(const Thread&, const Thread&) = default;
};

enum class ObjectKind : std::uint8_t {
  mutex,
  rwlock,
  semaphore,
  condition,
  barrier,
  device,
  channel,
};

struct Object {
  ObjectKind kind = ObjectKind::mutex;
  std::string name{};    // its symbol, else the line that created or first used it; unique per kind
  StackId first_site{};  // the call that created or first used it
  std::uint32_t initial = 0;  // of a semaphore: its value at the start

  friend bool operator==(const Object&, const Object&) = default;
};

struct Module {
  std::string path{};
  std::string build_id{};  // hexadecimal; empty when it has none
  bool has_line_table = false;

  friend bool operator==(const Module&, const Module&) = default;
};

struct File {
  std::string path{};    // absolute, as compiled
  std::string sha256{};  // of the content when recorded, hexadecimal; empty: could not be read
  bool system =
      false;  // part of the system (/usr/include, /usr/lib, /usr/src): charged to its caller

  friend bool operator==(const File&, const File&) = default;
};

struct Function {
  std::string name{};           // demangled
  FileId file{};                // none: no debug information
  std::uint32_t line = 0;       // of its definition; 0: not known
  std::uint32_t last_line = 0;  // the last line that has code; 0: not known
  ModuleId module{};

  friend bool operator==(const Function&, const Function&) = default;
};

// A node of the tree of call paths: a place in a function, reached from `caller`.
struct Stack {
  StackId caller{};       // none: the outermost frame. Always a smaller id than the node's own.
  FunctionId function{};  // always known: where there is no symbol, a name made from the module
  FileId file{};          // of the place; may differ from the function's
  std::uint32_t line = 0;
  bool inlined = false;  // the compiler inlined this frame into its caller

  friend bool operator==(const Stack&, const Stack&) = default;
};

struct ProfileEntry {
  StackId stack{};
  std::uint32_t samples = 0;

  friend bool operator==(const ProfileEntry&, const ProfileEntry&) = default;
};

// Where a stretch of CPU time was spent. `exact`: all of it in entries[0].stack. Otherwise the
// pooled samples of all stretches alike (same thread function, same calling lines at both ends):
// the share of an entry is its samples over the sum. A pool without samples falls back on the
// calling line at its end, as one entry with 0 samples.
struct Profile {
  bool exact = false;
  std::vector<ProfileEntry> entries{};  // in order of stack id, never empty

  friend bool operator==(const Profile&, const Profile&) = default;
};

enum class Source : std::uint8_t {
  program,   // a program file: its times are those somebody wrote
  text,      // a text recording
  kernel,    // recorded; CPU times and samples from the kernel's perf events
  portable,  // recorded; CPU times from thread clocks, samples from timers
};

// Something a user should know about the recording: dropped, thinly sampled or guessed.
struct Notice {
  std::string code{};  // stable, kebab-case: "perf-refused", "samples-lost"
  std::string text{};  // one sentence, with what to do
  std::uint64_t count = 0;

  friend bool operator==(const Notice&, const Notice&) = default;
};

// What calls and switches take on the machine that recorded (calibration/calibrate.h); 0: not known. The
// recorded CPU times hold what the calls and switches of the recorded run took; simulation/machine.h
// says what is added to that.
struct HostCosts {
  // CPU time, from one thread of a CPU to another, and of a thread that goes on on another CPU.
  Nanoseconds context_switch{};
  Nanoseconds migration{};
  // From the waker's call until another CPU that was idle has woken up for the thread.
  Nanoseconds wake_up{};
  // And until one has been interrupted that is busy with a thread that gives way.
  Nanoseconds interrupt{};
  // CPU time that the interrupt itself takes there, of whoever runs.
  Nanoseconds interruption{};
  // CPU time of a call that waits for another thread, beyond that of one that does not, without the switch.
  Nanoseconds block{};
  // CPU time of letting such a thread go on: in the waker's call, where the waker's CPU is to take it up or one that
  // is not told at once; and where one is, by an interrupt, because it is idle or its thread gives way.
  Nanoseconds release{};
  Nanoseconds release_afar{};
  // CPU time that taking a lock, changing something of a cache line that it guards, and the unlock take more where the
  // last to have the lock did so on another CPU, which both are fetched from.
  Nanoseconds lock_afar{};
  // Of a CPU that has been idle for deep_sleep the wake-up, and the release afar; 0: none sleeps deeper.
  Nanoseconds deep_sleep{};
  Nanoseconds deep_wake_up{};
  Nanoseconds deep_release{};
  // No costs: how often the system's clock ticks, and how long a CPU that is idle beside threads that wait, and looked in
  // vain for one that it may take, leaves it at that. 0: as simulation/machine.h and linux_fair.h have it.
  Nanoseconds tick{};
  Nanoseconds idle_look{};
  // Nor is this: of each second, how much a CPU may be used by the only thread that can run there, and by one that wakes up, for
  // that to join it though another CPU is idle. 0: it goes to the idle one.
  Nanoseconds packed_use{};
  // CPU time of a call that waits for nobody and wakes nobody.
  std::array<Nanoseconds, event_kind_count> call{};

  friend bool operator==(const HostCosts&, const HostCosts&) = default;
};

inline constexpr std::size_t most_cpu_times_on = 64;
inline constexpr std::uint32_t most_cpu_time_thousandths = 10'000;

// CPU time that the program takes for its work on so many CPUs, in thousandths of that on one: where fewer threads take
// turns on a CPU, they load its caches anew less often; and CPUs share caches and memory. Found out by further runs
// (analysis/cpu_time_on.h).
struct CpuTimeOn {
  std::uint32_t cpus = 2;
  std::uint32_t thousandths = 1000;  // 1 to most_cpu_time_thousandths

  friend bool operator==(const CpuTimeOn&, const CpuTimeOn&) = default;
};

struct RunInfo {
  Source source = Source::program;
  std::vector<std::string> command{};   // program and arguments
  std::string directory{};              // where it was run
  std::int64_t started_at_unix_ns = 0;  // 0 for text
  Nanoseconds elapsed{};                // wall time of the recorded run
  Nanoseconds cpu_time{};               // CPU time of all threads, recorder included
  std::uint32_t cpus = 1;               // CPUs that the recorded run could use
  std::uint32_t machine_cpus = 1;       // CPUs of the machine that recorded
  std::optional<int> exit_status{};     // of the program; none when a signal ended it
  std::optional<int> exit_signal{};
  // By the number of events, what was taken out of `cpu` as the cost of recording them, changes
  // of threads and samples. Not in it: what was measured each time, of turns in lockstep and of
  // the recorder's start.
  Nanoseconds cost_per_event{};
  std::uint64_t samples = 0;
  std::uint32_t sample_hz = 0;  // as it was set, of CPU time; 0: not known, or none were taken
  HostCosts costs{};
  // In ascending order, from 2 on; empty: as much as on one, as far as is known.
  std::vector<CpuTimeOn> cpu_time_on{};
  bool complete = true;  // false: cancelled or killed; the rest is as recorded

  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

// Of a notice: its threads had the CPU in turns, as if each of so many CPUs ran one (`longpole record --lockstep`).
inline constexpr std::string_view lockstep_code = "lockstep";

struct Recording {
  RunInfo run{};
  std::vector<Notice> notices{};
  std::vector<Module> modules{};
  std::vector<File> files{};
  std::vector<Function> functions{};
  std::vector<Stack> stacks{};
  std::vector<Profile> profiles{};
  std::vector<Object> objects{};
  std::vector<Thread> threads{};

  [[nodiscard]] bool is_in_lockstep() const {
    return std::ranges::find(notices, lockstep_code, &Notice::code) != notices.end();
  }
  [[nodiscard]] std::size_t event_count() const {
    std::size_t n = 0;
    for (const Thread& t : threads)
      n += t.events.size();
    return n;
  }
  friend bool operator==(const Recording&, const Recording&) = default;
};

// Checks every invariant written above: all ids inside their tables, callers before callees, unique
// names, non-negative and non-decreasing times, `thread_end` last only, each created thread created
// once. What passes can be simulated and analysed without further checks.
[[nodiscard]] Expected<void> validate(const Recording& recording);

}  // namespace longpole
