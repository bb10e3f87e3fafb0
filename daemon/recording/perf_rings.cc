#include "recording/perf_rings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "recording/perf_records.h"

namespace longpole::recording {
namespace {

// A program that switches threads 300,000 times a second fills 512 KiB in 30 ms, less than we may
// have to wait for a CPU, or for the disk, on a busy machine. An ordinary user may lock 516 KiB a CPU
// and `ulimit -l` besides: we take what we get.
constexpr std::size_t largest_ring = 8 * 1024 * 1024;
constexpr std::size_t largest_sum_of_rings = 64 * 1024 * 1024;  // of one kind
constexpr std::size_t smallest_ring = 32 * 1024;
// What such a program needs more than twice PerfRings::longest_rest_ns to fill, with stacks of 600 bytes at each sleep and
// wake-up.
constexpr std::size_t ring_that_lasts = 4 * 1024 * 1024;
// Enough for twenty frames or so. Beyond, paths go on along frame pointers, if there are any.
constexpr std::uint32_t stack_copy_bytes = 4096;
// Locks and their callers are near each other, and there may be 100,000 a second.
constexpr std::uint32_t wake_stack_bytes = 256;
constexpr std::uint64_t most_wakes_with_stacks = 64ULL << 20U;
// They are most of what is written. A run so long that it fills this much of the disk goes on without.
constexpr std::uint64_t most_spooled_with_stacks = 1ULL << 30U;

// What the ring of one of so many CPUs may take, in bytes.
std::size_t largest_of(std::size_t cpus) {
  return std::clamp(std::bit_floor(largest_sum_of_rings / std::max<std::size_t>(cpus, 1)),
                    smallest_ring, largest_ring);
}

perf_event_attr attributes(std::uint32_t rate_hz, bool in_kernel) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  // A period, not a frequency: the two are the same for this clock, but frequencies above
  // perf_event_max_sample_rate are refused.
  attr.sample_period = 1'000'000'000 / rate_hz;
  attr.sample_type =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;
  if (const std::uint64_t registers = sampled_registers(); registers != 0) {
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = registers;
    attr.sample_stack_user = stack_copy_bytes;
  }
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  attr.exclude_kernel = in_kernel ? 0 : 1;
  attr.exclude_hv = 1;
  attr.exclude_callchain_kernel = 1;
  attr.context_switch = 1;
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.mmap_data = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;  // wakes us when a ring is half full
  return attr;
}

// Of all that runs on the CPU, as often.
perf_event_attr attributes_of_all(const perf_event_attr& of_threads) {
  perf_event_attr attr = of_threads;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.exclude_idle = 1;
  attr.enable_on_exec = 0;
  attr.inherit = 0;
  attr.context_switch = attr.mmap = attr.mmap2 = attr.mmap_data = attr.comm = attr.comm_exec =
      attr.task = 0;
  return attr;
}

// Of the threads of the program alone, without the kernel's part of their paths. Wake-ups that an
// interrupt or another program gives are not theirs.
perf_event_attr tracepoint_attributes(std::uint32_t id) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.config = id;
  attr.sample_period = 1;
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                     PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW;
  if (const std::uint64_t registers = sampled_registers(); registers != 0) {
    attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attr.sample_regs_user = registers;
    attr.sample_stack_user = wake_stack_bytes;
  }
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  attr.exclude_callchain_kernel = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  return attr;
}

constexpr pid_t every_process = -1;

int open_event(perf_event_attr& attr, pid_t pid, std::uint32_t cpu) {
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attr, pid, static_cast<int>(cpu), -1, PERF_FLAG_FD_CLOEXEC));
}

std::string refusal_reason(int error) {
  if (error == ENOSYS || error == ENOENT)
    return "this kernel has no perf events";
  std::string paranoid = read_special_file("/proc/sys/kernel/perf_event_paranoid");
  while (!paranoid.empty() && paranoid.back() == '\n')
    paranoid.pop_back();
  if (error == EACCES || error == EPERM)
    return fmt::format(
        "the kernel refuses perf events ({}; kernel.perf_event_paranoid is {}, and containers "
        "often "
        "forbid them altogether)",
        std::strerror(error), paranoid.empty() ? "not readable" : paranoid);
  return fmt::format("the kernel refuses perf events ({})", std::strerror(error));
}

}  // namespace

struct PerfRings::Ring {
  std::uint32_t cpu = 0;
  Descriptor event;
  Descriptor second_event;  // into the same ring
  Descriptor of_all;        // likewise; none where it is not allowed
  bool of_tracepoints = false;
  Descriptor spool;
  perf_event_mmap_page* page = nullptr;
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;  // of the data, a power of two

  Ring() = default;
  Ring(Ring&& other) noexcept
      : cpu(other.cpu),
        event(std::move(other.event)),
        second_event(std::move(other.second_event)),
        of_all(std::move(other.of_all)),
        of_tracepoints(other.of_tracepoints),
        spool(std::move(other.spool)),
        page(std::exchange(other.page, nullptr)),
        data(other.data),
        size(other.size) {}
  Ring& operator=(Ring&&) = delete;
  ~Ring() {
    if (page != nullptr)
      ::munmap(page, size + page_size());
  }

  static std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

  // Maps as large a ring as the machine allows.
  bool map(std::size_t largest) {
    for (size = largest; size >= smallest_ring; size /= 2) {
      void* memory =
          ::mmap(nullptr, size + page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
      if (memory == MAP_FAILED)
        continue;
      page = static_cast<perf_event_mmap_page*>(memory);
      data = static_cast<const std::uint8_t*>(memory) + page_size();
      return true;
    }
    return false;
  }
};

PerfRings::PerfRings() = default;
PerfRings::~PerfRings() = default;
PerfRings::PerfRings(PerfRings&&) noexcept = default;
PerfRings& PerfRings::operator=(PerfRings&&) noexcept = default;

Expected<PerfRings> PerfRings::open(pid_t pid, const std::vector<std::uint32_t>& cpus,
                                    std::uint32_t rate_hz,
                                    const std::filesystem::path& run_directory) {
  PerfRings rings;
  const char* what = "cannot open perf events";
  rings.samples_kernel_ = true;
  for (const std::uint32_t cpu : cpus) {
    Ring ring;
    ring.cpu = cpu;
    perf_event_attr attr = attributes(rate_hz, rings.samples_kernel_);
    ring.event = Descriptor(open_event(attr, pid, cpu));
    if (!ring.event && rings.samples_kernel_ && (errno == EACCES || errno == EPERM)) {
      rings.samples_kernel_ = false;
      attr.exclude_kernel = 1;
      ring.event = Descriptor(open_event(attr, pid, cpu));
    }
    if (!ring.event && errno == ENODEV)
      continue;  // the CPU is off line
    if (!ring.event)
      return failure(what, refusal_reason(errno),
                     "sysctl kernel.perf_event_paranoid=2 allows it to everybody");
    if (!ring.map(largest_of(cpus.size())))
      return failure(what,
                     fmt::format("the kernel refuses even {} KiB of locked memory a CPU for them",
                                 smallest_ring / 1024),
                     "raise `ulimit -l` or sysctl kernel.perf_event_mlock_kb");
    perf_event_attr all = attributes_of_all(attr);
    ring.of_all = Descriptor(open_event(all, every_process, cpu));
    if (ring.of_all && ::ioctl(ring.of_all.get(), PERF_EVENT_IOC_SET_OUTPUT, ring.event.get()) != 0)
      ring.of_all = {};
    ring.spool = Descriptor(::open((run_directory / perf_file(cpu)).c_str(),
                                   O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
    if (!ring.spool)
      return failure(what, fmt::format("no spool file: {}", std::strerror(errno)));
    rings.rings_.push_back(std::move(ring));
  }
  if (rings.rings_.empty())
    return failure(what, "none of the CPUs has any");
  return rings;
}

// Rings of their own for the scheduler's tracepoints: their records look different.
Expected<void> PerfRings::add_tracepoints(pid_t pid, const Tracepoints& tracepoints,
                                          const std::filesystem::path& run_directory) {
  const char* what = "cannot record wake-ups";
  std::vector<Ring> added;
  const std::vector<std::uint32_t> own_cpus = cpus();
  for (const std::uint32_t cpu : own_cpus) {
    Ring ring;
    ring.cpu = cpu;
    ring.of_tracepoints = true;
    perf_event_attr waking = tracepoint_attributes(tracepoints.waking);
    perf_event_attr switching = tracepoint_attributes(tracepoints.switching);
    ring.event = Descriptor(open_event(waking, pid, cpu));
    ring.second_event = Descriptor(open_event(switching, pid, cpu));
    if (!ring.event || !ring.second_event)
      return failure(what, refusal_reason(errno), "record as root");
    if (!ring.map(largest_of(own_cpus.size())) ||
        ::ioctl(ring.second_event.get(), PERF_EVENT_IOC_SET_OUTPUT, ring.event.get()) != 0 ||
        ::ioctl(ring.second_event.get(), PERF_EVENT_IOC_SET_FILTER, "prev_state & 0xf") != 0)
      return failure(what, std::strerror(errno));
    ring.spool = Descriptor(::open((run_directory / wakes_file(cpu)).c_str(),
                                   O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
    if (!ring.spool)
      return failure(what, std::strerror(errno));
    added.push_back(std::move(ring));
  }
  for (Ring& ring : added)
    rings_.push_back(std::move(ring));
  return {};
}

void PerfRings::record_at_once(bool on) {
  for (Ring& ring : rings_)
    for (const Descriptor* event : {&ring.event, &ring.second_event})
      if (*event)
        ::ioctl(event->get(), on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void PerfRings::sample_cpus() {
  for (Ring& ring : rings_)
    if (ring.of_all)
      ::ioctl(ring.of_all.get(), PERF_EVENT_IOC_ENABLE, 0);
}

void PerfRings::spool(Ring& ring, std::span<const std::uint8_t> bytes) {
  if (!write_all(ring.spool.get(), bytes.data(), bytes.size()))
    spool_error_ = std::strerror(errno);
  (ring.of_tracepoints ? spooled_wakes_ : spooled_) += bytes.size();
}

bool PerfRings::drain(std::size_t at_least) {
  if (!spool_error_.empty())
    return false;
  bool any = false;
  for (Ring& ring : rings_) {
    std::atomic_ref<__u64> head_field(ring.page->data_head);
    std::atomic_ref<__u64> tail_field(ring.page->data_tail);
    const std::uint64_t head = head_field.load(std::memory_order_acquire);
    std::uint64_t tail = tail_field.load(std::memory_order_relaxed);
    if (head - tail < at_least)
      continue;
    any = true;
    while (tail != head && spool_error_.empty()) {
      const std::size_t offset = tail & (ring.size - 1);
      const std::size_t length = std::min<std::size_t>(head - tail, ring.size - offset);
      const bool lean = ring.of_tracepoints ? spooled_wakes_ >= most_wakes_with_stacks
                                            : spooled_ >= most_spooled_with_stacks;
      if (!lean) {
        spool(ring, {ring.data + offset, length});
      } else {
        lean_ = lean_ || !ring.of_tracepoints;
        pending_.insert(pending_.end(), ring.data + offset, ring.data + offset + length);
      }
      tail += length;
      tail_field.store(tail, std::memory_order_release);
    }
    if (!pending_.empty()) {
      spool(ring, without_stack_copies(pending_, ring.of_tracepoints));
      pending_.clear();
    }
  }
  return any;
}

std::vector<pollfd> PerfRings::poll_entries() const {
  std::vector<pollfd> entries;
  for (const Ring& ring : rings_)
    if (ring.size < ring_that_lasts)
      entries.push_back({ring.event.get(), POLLIN, 0});
  return entries;
}

std::vector<std::uint32_t> PerfRings::cpus() const {
  std::vector<std::uint32_t> cpus;
  for (const Ring& ring : rings_)
    cpus.push_back(ring.cpu);
  return cpus;
}

}  // namespace longpole::recording
