#include "measured_costs.h"

#include <linux/futex.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <array>
#include <cstddef>

#include "chunk.h"
#include "function_hooks.h"
#include "next_definition.h"
#include "process.h"
#include "sampling.h"
#include "semaphore_hooks.h"
#include "thread_log.h"

namespace longpole::recorder {

namespace {

// A page whose records nobody reads, instead of those of the calling thread while it lives. In the memory it lies where records
// are written twice.
class ScratchPage {
 public:
  explicit ScratchPage(void* memory)
      : page_(((reinterpret_cast<std::uintptr_t>(memory) - LONGPOLE_AGAIN_BYTES + kPlaceInChunk) &
               ~kPlaceInChunk) +
              LONGPOLE_AGAIN_BYTES) {}
  ~ScratchPage() { thread_log = log_; }
  ScratchPage(const ScratchPage&) = delete;
  ScratchPage& operator=(const ScratchPage&) = delete;

  template <typename Work>
  std::int64_t ns_of(const Work& work) const {
    thread_log.next_slot = page_ + kFirstSlot;
    const std::int64_t before = monotonic_now();
    work();
    return monotonic_now() - before;
  }

  // Of works that make `count` times the same each, and fit into a page of the chunk; picoseconds for one. The fastest of
  // many batches is what it takes. In turns, as they are to be held against each other: a moment in which the processor
  // has something else to do, or is asleep still, is one for all.
  template <typename... Works>
  std::array<double, sizeof...(Works)> ps_each(std::uint64_t count, Works... works) const {
    constexpr int kBatches = 12;
    std::array<std::int64_t, sizeof...(Works)> best;
    best.fill(INT64_MAX);
    for (int batch = 0; batch < kBatches; ++batch) {
      auto* least = best.data();
      ((*least = smaller(*least, ns_of(works)), ++least), ...);
    }
    std::array<double, sizeof...(Works)> each;
    for (std::size_t i = 0; i < best.size(); ++i) {
      each[i] = static_cast<double>(best[i]) * 1000 / static_cast<double>(count);
    }
    return each;
  }

 private:
  static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  ThreadLog log_ = thread_log;
  std::uintptr_t page_;
};

// The work, each of whose records is written once more.
template <typename Work>
auto written_twice(Work work) {
  return [work] {
    thread_log.again_mask = LONGPOLE_AGAIN_MASK;
    work();
    thread_log.again_mask = 0;
  };
}

std::uint64_t at_least_nothing(double ps) {
  return ps > 0 ? static_cast<std::uint64_t>(ps) : 0;
}

constexpr std::uint64_t kRecords = 96;

// What recording adds to calls that acquire and release as all others do: by an instruction that the processor waits
// for. A mutex would do without as long as there is one thread.
template <typename Post, typename Take>
void post_and_take(Post post, Take take) {
  sem_t semaphore;
  resolved_next.sem_init(&semaphore, 0, 0);
  for (std::uint64_t i = 0; i < kRecords / 2; ++i) {
    post(&semaphore);
    take(&semaphore);
  }
}

// Pairs of calls with nothing between them, as in a short critical section, and work behind each: a processor that need not
// read the time makes the calls while it is still at the work. Written twice, the records of all fit into a page.
constexpr std::uint64_t kCallsBesideWork = 48;
static_assert(kCallsBesideWork * 2 * sizeof(longpole_record) <=
              (LONGPOLE_AGAIN_MASK & -LONGPOLE_AGAIN_MASK) - kFirstSlot);

// Some 0.1 us: each step needs the one before, and the first of them the work before. Of whole numbers: the program may have
// asked for a signal where others are not exact.
std::uint64_t work(std::uint64_t result) {
  constexpr int kSteps = 80;
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < kSteps; ++i) {
    result = (result ^ kOdd) * kOdd;
  }
  return result;
}

template <typename Post, typename Take>
void post_and_take_beside_work(Post post, Take take) {
  sem_t semaphore;
  resolved_next.sem_init(&semaphore, 0, 0);
  std::uint64_t result = stamp();
  for (std::uint64_t i = 0; i < kCallsBesideWork / 2; ++i) {
    post(&semaphore);
    take(&semaphore);
    result = work(result);
  }
  __asm__ volatile("" : : "r"(result));
}

// Few, as each goes to the kernel and back. Each has two records, that are written twice where that is done.
constexpr std::uint64_t kEntries = 8;
static_assert(kEntries * 4 * sizeof(longpole_record) <=
              (LONGPOLE_AGAIN_MASK & -LONGPOLE_AGAIN_MASK));

// As short as a system call is that wakes somebody up.
void wake_nobody() {
  std::uint32_t nobody = 0;
  resolved_next.syscall(SYS_futex, &nobody, FUTEX_WAKE_PRIVATE, 1);
}

// Posts that find somebody waiting, each with the wait that a thread then makes.
template <typename Post, typename Wait>
void post_by_the_kernel(Post post, Wait wait) {
  sem_t semaphore;
  resolved_next.sem_init(&semaphore, 0, 0);
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    post(&semaphore);
    wake_nobody();
    wait(&semaphore);
  }
}

// Entering the kernel, the processor waits for what was begun, and comes back to code that it must fetch anew: there a
// record hides behind nothing, and a second one adds the least of what the first does. Of both records together, less
// what the daemon takes out for them by what writing them again adds.
std::uint64_t cost_beside_kernel(const ScratchPage& scratch, double of_first) {
  const auto hooked = [] { post_by_the_kernel(&longpole_post, &longpole_wait); };
  const auto bare = [] { post_by_the_kernel(resolved_next.sem_post, resolved_next.sem_wait); };
  const auto [alone, once, twice] = scratch.ps_each(kEntries, bare, hooked, written_twice(hooked));
  return at_least_nothing(once - alone - of_first * (twice - once));
}

// Of a record between work and calls, more than what the daemon takes out for it by what writing it again adds. The first of
// two batches shows the processor the code. Where it did something else meanwhile they say nothing.
void measure_exposed_cost(longpole_control& control, const ScratchPage& scratch) {
  const auto cost_ps = static_cast<std::int64_t>(control.cost_ps);
  const auto beside_a_call_ps = static_cast<std::int64_t>(control.cost_ps - control.hidden_ps);
  const auto bare = [] {
    post_and_take_beside_work(resolved_next.sem_post, resolved_next.sem_trywait);
  };
  const auto hooked = [] { post_and_take_beside_work(&longpole_post, &longpole_trywait); };
  std::int64_t more_ps = 0;
  for (int batch = 0; batch < 2; ++batch) {
    const std::int64_t alone = scratch.ns_of(bare);
    const std::int64_t once = scratch.ns_of(hooked);
    const std::int64_t twice = scratch.ns_of(written_twice(hooked));
    const std::int64_t of_first = (twice - once) * beside_a_call_ps / cost_ps;
    more_ps = (once - alone - of_first) * 1000 / std::int64_t{kCallsBesideWork};
  }
  const std::int64_t most_ps = LONGPOLE_MOST_EXPOSED * cost_ps;
  if (more_ps < most_ps && more_ps > -most_ps) {
    __atomic_fetch_add(&control.exposed_ps, more_ps, __ATOMIC_RELAXED);
    __atomic_fetch_add(&control.exposed_times, 1, __ATOMIC_RELAXED);
  }
}

void measure_costs(longpole_control& control, const ScratchPage& scratch) {
  const auto record_alone = [] {
    for (std::uint64_t i = 0; i < kRecords; ++i) {
      record_inline(stamp_of_acquisition(), {LONGPOLE_SEMAPHORE_WAIT, &thread_log, &thread_log}, 0,
                    0);
    }
  };
  const auto bare = [] { post_and_take(resolved_next.sem_post, resolved_next.sem_trywait); };
  const auto hooked = [] { post_and_take(&longpole_post, &longpole_trywait); };
  const auto [of_record, without, with] = scratch.ps_each(kRecords, record_alone, bare, hooked);
  control.cost_ps = at_least_nothing(of_record);
  const std::uint64_t beside_a_call = at_least_nothing(with - without);
  control.hidden_ps = beside_a_call < control.cost_ps ? control.cost_ps - beside_a_call : 0;
  if (control.cost_ps != 0) {
    constexpr int kTimes = 9;
    for (int i = 0; i < kTimes; ++i) {
      measure_exposed_cost(control, scratch);
    }
    const double of_first = static_cast<double>(control.cost_ps - control.hidden_ps) /
                            static_cast<double>(control.cost_ps);
    control.kernel_entry_cost_ps = cost_beside_kernel(scratch, of_first);
  }
  const auto wait = [] {
    for (std::uint64_t i = 0; i < kEntries; ++i) {
      const Call call{LONGPOLE_SEMAPHORE_WAIT, &thread_log, &thread_log};
      record_begins(call);
      wake_nobody();
      record_returns(call, 0);
    }
  };
  const auto bare_wait = [] {
    for (std::uint64_t i = 0; i < kEntries; ++i) {
      wake_nobody();
    }
  };
  // Where something else came between all batches of the bare ones they took as long: then once more.
  constexpr int kAttempts = 4;
  for (int i = 0; i < kAttempts && control.wait_cost_ps == 0; ++i) {
    const auto [waits, bare_waits] = scratch.ps_each(kEntries, wait, bare_wait);
    control.wait_cost_ps = at_least_nothing(waits - bare_waits);
  }
  if (signal_of_sampling() != 0) {
    control.interruptible_cost_ps = at_least_nothing(scratch.ps_each(kEntries, [] {
      for (std::uint64_t i = 0; i < kEntries; ++i) {
        const SamplingHeldBack held_back;
      }
    })[0]);
  }
  if (control.function_depth != 0) {
    control.function_cost_ps =
        at_least_nothing(scratch.ps_each(kRecords, [] { enter_and_leave(kRecords / 2); })[0]);
  }
}

}  // namespace

void measure_costs(longpole_control& control) {
  void* const memory =
      mmap(nullptr, kBytesToMeasureIn, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return;
  }
  measure_costs(control, ScratchPage(memory));
  munmap(memory, kBytesToMeasureIn);
}

void measure_exposed_cost_again(longpole_control& control, void* memory) {
  if (control.cost_ps != 0 && semaphores_are_of_libc) {
    measure_exposed_cost(control, ScratchPage(memory));
  }
}

}  // namespace longpole::recorder
