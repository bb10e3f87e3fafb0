// OpenMP on LLVM's libomp, which tells a tool what it does. What is recorded is what it means to the program:
//
//   opener  ──post 1──post 2──┤ member 0 ├──────barrier──────  goes on
//   worker        wait 1 ─────┤ member 1 ├──────barrier──  waits for its next team
//   worker               wait 2 ─┤ member 2 ├───barrier──
//
//   a parallel region    its opener posts a token for each other member, which takes it when it begins
//   a barrier            also at the end of a region: a barrier of the team. libomp tells the workers that it is
//                        over when their next region begins
//   critical, ordered, omp_set_lock …    a mutex
//   taskwait, taskgroup  a wait for nobody known
//   a task that a waiting thread does    the thread has not begun to wait before it is done
//
// The locks and conditions by which libomp does so are recorded as well, and left out by the reader
// (longpole_control.runtime_begin); that a thread yields while it waits is not.
#include <link.h>

#include <cstdint>
#include <cstdlib>

#include "chunk.h"
#include "next_definition.h"
#include "openmp_hooks.h"
#include "openmp_tool.h"
#include "process.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

using namespace openmp;

// Regions inside each other. What is further in is not recorded.
constexpr unsigned kMostDepth = 8;
// Waits during which a thread does tasks that wait. Those further in count as work.
constexpr unsigned kMostWaits = 32;

// A region that the thread has opened. Lies still while it lasts.
struct Team {
  std::uint64_t key;
  const void* site;
  unsigned wanted;  // threads
};

// The thread's part in a region.
struct Member {
  const Team* team;  // null: not recorded
  const void* barrier;
  const void* site;
  unsigned threads;
};

struct Wait {
  Call call;
  const Team* team;
  const Data* owner;  // the task that waits
  const Data* task;   // that is done meanwhile; null: none
};

struct Thread {
  Team opened[kMostDepth];
  Member members[kMostDepth];
  Wait waits[kMostWaits];
  unsigned depth;
  unsigned waiting;  // how many of these, or more than there is room for
  bool is_idle;      // it is new, and waits for its first region
  const void* lock;
};
__thread Thread* mapped_thread __attribute__((tls_model("initial-exec")));

// Null: the thread has ended, or there is no memory.
Thread* own_thread() {
  if (mapped_thread == nullptr && recording() && thread_log.state != ThreadLog::State::kEnded) {
    const SignalsBlocked blocked;
    mapped_thread = static_cast<Thread*>(map_memory(sizeof(Thread)));
  }
  return mapped_thread;
}

// Stands for the address of an object, and is none: programs have no addresses of so many bits.
std::uint64_t key_of(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kNoAddress = std::uint64_t{1} << 57;
  std::uint64_t hash = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
  hash = (hash ^ (hash >> 32)) * 0x94d049bb133111ebu;
  return (hash ^ (hash >> 29)) >> 7 | kNoAddress;
}

const void* object_of(std::uint64_t key) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(key));
}

const void* token_of(const Team& team, unsigned index) {
  return object_of(key_of(team.key, index));
}

Wait* current_wait() {
  Thread* const thread = own_thread();
  return thread == nullptr || thread->waiting == 0 || thread->waiting > kMostWaits
             ? nullptr
             : &thread->waits[thread->waiting - 1];
}

Member* current_member() {
  Thread* const thread = own_thread();
  return thread == nullptr || thread->depth == 0 || thread->depth > kMostDepth
             ? nullptr
             : &thread->members[thread->depth - 1];
}

const void* site_or_region(const void* site) {
  const Member* member = current_member();
  return site != nullptr || member == nullptr ? site : member->site;
}

// In lockstep a thread that waits goes on from the clock of its team's last to arrive, or of whoever opens
// the next region.
void begin_wait(const Call& call, unsigned threads, const Team* team) {
  record_with_other(stamp(), call, LONGPOLE_BEGINS, threads, 0);
  thread_log.waits_in_runtime = true;
  if (in_lockstep()) [[unlikely]] {
    lockstep::step_out(LONGPOLE_BARRIER_WAIT, team, nullptr);
  }
}

void end_wait(const Call& call) {
  thread_log.waits_in_runtime = false;
  record_returns_with(call, nullptr, 0);
}

void on_thread_begin(ThreadKind kind, Data* /*thread*/) {
  Thread* const thread = own_thread();
  if (recording() && kind == kWorker && thread != nullptr) {
    thread->is_idle = true;
    begin_wait({LONGPOLE_TEAM_WAIT, nullptr, nullptr}, 0, nullptr);
  }
}

void on_thread_end(Data* /*thread*/) {
  Thread* const thread = own_thread();
  if (thread == nullptr) {
    return;
  }
  if (recording() && thread->is_idle) {
    end_wait({LONGPOLE_TEAM_WAIT, nullptr, nullptr});
  }
  thread->is_idle = false;
}

void on_parallel_begin(Data* /*task*/, const void* /*frame*/, Data* parallel, unsigned threads,
                       unsigned flags, const void* site) {
  parallel->pointer = nullptr;
  Thread* const thread = own_thread();
  if (!recording() || (flags & kTeam) == 0 || thread == nullptr || thread->depth >= kMostDepth) {
    return;
  }
  Team& team = thread->opened[thread->depth];
  team = {key_of(reinterpret_cast<std::uintptr_t>(&team), reinterpret_cast<std::uintptr_t>(site)),
          site, threads};
  parallel->pointer = &team;
  if (in_lockstep()) [[unlikely]] {
    lockstep::release(LONGPOLE_BARRIER_WAIT, &team);
  }
  for (unsigned i = 1; i < threads; ++i) {
    record_releasing({LONGPOLE_SEMAPHORE_POST, token_of(team, i), site});
  }
}

void begin_membership(const Team* team, unsigned threads, unsigned index) {
  if (team == nullptr || !recording()) {
    return;
  }
  if (threads < 2 || index == 0) {
    // It got fewer threads than it asked for: their tokens are nobody's.
    for (unsigned i = threads < 1 ? 1 : threads; i < team->wanted; ++i) {
      record_acquired({LONGPOLE_SEMAPHORE_TRYWAIT, token_of(*team, i), team->site}, 0);
    }
    return;
  }
  const Call call{LONGPOLE_TEAM_WAIT, token_of(*team, index), team->site};
  if (Thread* const thread = own_thread(); thread != nullptr && thread->is_idle) {
    thread->is_idle = false;
    end_wait(call);
  } else {
    record_with_other(stamp_after_acquisition(), call, 0, 0, 0);
  }
}

void on_implicit_task(Endpoint endpoint, Data* parallel, Data* /*task*/, unsigned threads,
                      unsigned index, int flags) {
  Thread* const thread = own_thread();
  if ((flags & kInitialTask) != 0 || thread == nullptr) {
    return;
  }
  if (endpoint == kEnds) {
    thread->depth -= thread->depth > 0 ? 1 : 0;
    return;
  }
  const Team* const team =
      parallel != nullptr ? static_cast<const Team*>(parallel->pointer) : nullptr;
  ++thread->depth;
  if (Member* const member = current_member(); member != nullptr) {
    *member = {};
    member->threads = threads;
    if (team != nullptr) {
      member->team = team;
      member->site = team->site;
      member->barrier = object_of(key_of(team->key, std::uint64_t{threads} << 32));
    }
  }
  begin_membership(team, threads, index);
}

void on_sync_region_wait(SyncRegion region, Endpoint endpoint, Data* /*parallel*/, Data* task,
                         const void* site) {
  const Member* const member = current_member();
  if (member == nullptr || member->team == nullptr || member->threads < 2 || region == kReduction ||
      region == kTeams) {
    return;
  }
  Thread* const thread = own_thread();  // which has a part in a region
  if (endpoint == kBegins) {
    ++thread->waiting;
    if (Wait* const wait = current_wait(); wait != nullptr) {
      const bool for_tasks = region == kTaskWait || region == kTaskGroup;
      *wait = {{for_tasks ? LONGPOLE_TEAM_WAIT : LONGPOLE_TEAM_BARRIER,
                for_tasks ? nullptr : member->barrier, site_or_region(site)},
               for_tasks ? nullptr : member->team,
               task,
               nullptr};
      if (recording()) {
        begin_wait(wait->call, member->threads, wait->team);
      }
    }
  } else if (endpoint == kEnds && thread->waiting > 0) {
    if (const Wait* const wait = current_wait(); wait != nullptr && recording()) {
      end_wait(wait->call);
    }
    --thread->waiting;
  }
}

void on_task_create(Data* /*creator*/, const void* /*frame*/, Data* created, int flags,
                    int /*has_dependences*/, const void* /*site*/) {
  created->value = (flags & kExplicitTask) != 0 ? 1 : 0;
}

// Only what a thread does that waits has to be told from waiting.
void on_task_schedule(Data* before, int /*status*/, Data* after) {
  Wait* const wait = current_wait();
  if (wait == nullptr || !recording()) {
    return;
  }
  const Call call{LONGPOLE_TASK, nullptr, wait->call.site};
  if (wait->task == nullptr && after != nullptr && after->value != 0) {
    wait->task = after;
    thread_log.waits_in_runtime = false;
    if (in_lockstep()) [[unlikely]] {
      lockstep::step_in();
    }
    record(stamp(), call, LONGPOLE_BEGINS, 0);
  } else if (wait->task != nullptr && wait->task == before) {
    if (after != nullptr && after->value != 0 && after != wait->owner) {
      wait->task = after;
      return;
    }
    wait->task = nullptr;
    thread_log.waits_in_runtime = true;
    record(stamp(), call, LONGPOLE_RETURNS, 0);
    if (in_lockstep()) [[unlikely]] {
      lockstep::step_out(LONGPOLE_BARRIER_WAIT, wait->team, nullptr);
    }
  }
}

const void* lock_of(std::uint64_t wait) {
  return object_of(wait);
}

constexpr bool only_tries(MutexKind kind) {
  return kind == kTestLock || kind == kTestNestLock;
}

void on_mutex_acquire(MutexKind kind, unsigned /*hint*/, unsigned /*way*/, std::uint64_t wait,
                      const void* site) {
  Thread* const thread = own_thread();
  if (recording() && !only_tries(kind) && thread != nullptr) {
    thread->lock = lock_of(wait);
    const Call call{LONGPOLE_TEAM_LOCK, thread->lock, site_or_region(site)};
    record_with_other(stamp(), call, LONGPOLE_BEGINS, 0, 0);
    thread_log.waits_in_runtime = true;
    if (in_lockstep()) [[unlikely]] {
      lockstep::step_out(LONGPOLE_TEAM_LOCK, thread->lock, nullptr);
    }
  }
}

void acquired(std::uint64_t wait, const void* site) {
  if (Thread* const thread = own_thread(); thread != nullptr && thread->lock == lock_of(wait)) {
    thread->lock = nullptr;
    end_wait({LONGPOLE_TEAM_LOCK, lock_of(wait), site_or_region(site)});
  } else {
    record_acquired({LONGPOLE_MUTEX_TRYLOCK, lock_of(wait), site_or_region(site)}, 0);
  }
}

void on_mutex_acquired(MutexKind /*kind*/, std::uint64_t wait, const void* site) {
  if (recording()) {
    acquired(wait, site);
  }
}

void on_mutex_released(MutexKind /*kind*/, std::uint64_t wait, const void* site) {
  if (recording()) {
    record_releasing({LONGPOLE_MUTEX_UNLOCK, lock_of(wait), site_or_region(site)});
  }
}

// By the thread that has it already.
void on_nest_lock(Endpoint endpoint, std::uint64_t wait, const void* site) {
  if (!recording()) {
    return;
  }
  if (endpoint == kBegins) {
    acquired(wait, site);
  } else {
    record_releasing({LONGPOLE_MUTEX_UNLOCK, lock_of(wait), site_or_region(site)});
  }
}

// Where the code of libomp lies: that which holds `lookup`.
int find_runtime(dl_phdr_info* object, std::size_t /*size*/, void* lookup) {
  const auto inside = reinterpret_cast<std::uintptr_t>(lookup);
  for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && inside - begin < segment.p_memsz) {
      control().runtime_begin = begin;
      control().runtime_end = begin + segment.p_memsz;
      return 1;
    }
  }
  return 0;
}

template <typename Handler>
void listen(SetCallback set_callback, Callback callback, Handler* handler) {
  set_callback(callback, reinterpret_cast<Function>(handler));
}

// libomp looks for each CPU that it is told of in /proc/cpuinfo, and aborts where one is missing. It binds no
// thread to a CPU then, which would be in words only. The variable is there while it reads its own, and for
// nobody else.
constexpr char kAffinityVariable[] = "KMP_AFFINITY";
bool affinity_is_ours = false;

void forbid_affinity() {
  const long cpus = next().sysconf(_SC_NPROCESSORS_ONLN);
  if (told_cpus() > static_cast<unsigned long>(cpus) && getenv(kAffinityVariable) == nullptr) {
    affinity_is_ours = setenv(kAffinityVariable, "disabled", 0) == 0;
  }
}

int initialize(Lookup lookup, int /*device*/, Data* /*tool*/) {
  if (affinity_is_ours) {
    unsetenv(kAffinityVariable);
  }
  const auto set_callback = reinterpret_cast<SetCallback>(lookup("ompt_set_callback"));
  if (set_callback == nullptr || !recording()) {
    return 0;
  }
  dl_iterate_phdr(&find_runtime, reinterpret_cast<void*>(lookup));
  listen(set_callback, kThreadBegin, &on_thread_begin);
  listen(set_callback, kThreadEnd, &on_thread_end);
  listen(set_callback, kParallelBegin, &on_parallel_begin);
  listen(set_callback, kTaskCreate, &on_task_create);
  listen(set_callback, kTaskSchedule, &on_task_schedule);
  listen(set_callback, kImplicitTask, &on_implicit_task);
  listen(set_callback, kSyncRegionWait, &on_sync_region_wait);
  listen(set_callback, kMutexAcquire, &on_mutex_acquire);
  listen(set_callback, kMutexAcquired, &on_mutex_acquired);
  listen(set_callback, kMutexReleased, &on_mutex_released);
  listen(set_callback, kNestLock, &on_nest_lock);
  return 1;
}

void finalize(Data* /*tool*/) {}

StartResult start_result{&initialize, &finalize, {0}};

}  // namespace

void unmap_openmp_state() {
  unmap_memory(mapped_thread, sizeof(Thread));
  mapped_thread = nullptr;
}

}  // namespace longpole::recorder

using namespace longpole::recorder;

// libomp asks for a tool; null: there is none. One that the user brings goes first.
LONGPOLE_HOOK void* ompt_start_tool(unsigned /*version*/, const char* /*runtime*/) {
  forbid_affinity();
  const char* const libraries = getenv("OMP_TOOL_LIBRARIES");
  const bool has_tool = libraries != nullptr && *libraries != '\0';
  return recording() && !has_tool ? &start_result : nullptr;
}
