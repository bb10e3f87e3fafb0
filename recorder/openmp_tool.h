// What OpenMP 5.0 says a tool and a run-time library know of each other (chapter 4, omp-tools.h), as far as it is
// needed here: the recorder is built without anybody's OpenMP.
#pragma once

#include <cstdint>

namespace longpole::recorder::openmp {

// The tool's own word beside a region or a task; 0 at first.
union Data {
  std::uint64_t value;
  void* pointer;
};

enum Callback : int {
  kThreadBegin = 1,
  kThreadEnd = 2,
  kParallelBegin = 3,
  kTaskCreate = 5,
  kTaskSchedule = 6,
  kImplicitTask = 7,
  kSyncRegionWait = 16,
  kMutexReleased = 17,
  kMutexAcquire = 26,
  kMutexAcquired = 27,
  kNestLock = 28,
};
enum Endpoint : int { kBegins = 1, kEnds = 2 };
enum ThreadKind : int { kWorker = 2 };
enum SyncRegion : int { kTaskWait = 5, kTaskGroup = 6, kReduction = 7, kTeams = 10 };
enum MutexKind : int { kTestLock = 2, kTestNestLock = 4 };
enum ParallelFlag : unsigned { kTeam = 1u << 31 };  // else a league of teams
enum TaskFlag : int { kInitialTask = 1, kExplicitTask = 4 };

using Function = void (*)();
using Lookup = Function (*)(const char* name);
using SetCallback = int (*)(Callback callback, Function function);

struct StartResult {
  int (*initialize)(Lookup lookup, int device, Data* tool);
  void (*finalize)(Data* tool);
  Data tool;
};

}  // namespace longpole::recorder::openmp
