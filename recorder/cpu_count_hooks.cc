// What a program pinned to one CPU is told about the machine: the CPUs that it would have had. Its
// own wishes about CPUs are granted in words only.
#include "cpu_count.h"

#include <cerrno>
#include <cstring>

#include "next_definition.h"
#include "process.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

// As the kernel has it: at least one CPU of the set must exist.
bool names_a_cpu(const cpu_set_t* set, std::size_t bytes) {
  for (std::size_t cpu = 0; cpu < told_cpus() && cpu < 8 * bytes; ++cpu) {
    if (CPU_ISSET_S(cpu, bytes, set)) {
      return true;
    }
  }
  return false;
}

std::uint32_t only_cpu_of(const cpu_set_t* set, std::size_t bytes) {
  std::uint32_t only = LONGPOLE_ANY_CPU;
  for (std::uint32_t cpu = 0; cpu < 8 * bytes; ++cpu) {
    if (CPU_ISSET_S(cpu, bytes, set)) {
      if (only != LONGPOLE_ANY_CPU) {
        return LONGPOLE_ANY_CPU;
      }
      only = cpu;
    }
  }
  return only;
}

void record_affinity(std::uint64_t thread, std::uint64_t how_named, const cpu_set_t* set,
                     std::size_t bytes, const void* site) {
  if (recording()) {
    write_record(stamp(), LONGPOLE_AFFINITY, 0, thread, reinterpret_cast<std::uintptr_t>(site),
                 only_cpu_of(set, bytes) | how_named, 0);
  }
}

int bind(pthread_t thread, std::size_t bytes, const cpu_set_t* set, const void* site) {
  int result = 0;
  if (told_cpus() == 0) {
    result = next().pthread_setaffinity_np(thread, bytes, set);
  } else if (!names_a_cpu(set, bytes)) {
    result = EINVAL;
  }
  if (result == 0) {
    record_affinity(static_cast<std::uint64_t>(thread), 0, set, bytes, site);
  }
  return result;
}

}  // namespace

long tell_cpus(cpu_set_t* set, std::size_t bytes, std::size_t room) {
  if (told_cpus() == 0) {
    return static_cast<long>(bytes);
  }
  constexpr std::size_t kWord = 8;
  const std::size_t needed = (told_cpus() + 8 * kWord - 1) / (8 * kWord) * kWord;
  std::size_t told = needed > bytes ? needed : bytes;
  told = told < room ? told : room;
  std::memset(set, 0, told);
  for (std::size_t cpu = 0; cpu < told_cpus() && cpu < 8 * told; ++cpu) {
    CPU_SET_S(cpu, told, set);
  }
  return static_cast<long>(told);
}

int bind_thread(pid_t thread, std::size_t bytes, const cpu_set_t* set, const void* site) {
  if (told_cpus() == 0) {
    if (const int result = next().sched_setaffinity(thread, bytes, set); result != 0) {
      return result;
    }
  } else if (!names_a_cpu(set, bytes)) {
    errno = EINVAL;
    return -1;
  }
  if (thread == 0) {
    record_affinity(static_cast<std::uint64_t>(pthread_self()), 0, set, bytes, site);
  } else {
    record_affinity(static_cast<std::uint64_t>(thread), LONGPOLE_BY_THREAD_ID, set, bytes, site);
  }
  return 0;
}

}  // namespace longpole::recorder

using namespace longpole::recorder;

extern "C" {

__attribute__((visibility("default"))) long sysconf(int name) noexcept {
  if (told_cpus() != 0 && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF)) {
    return told_cpus();
  }
  return next().sysconf(name);
}

__attribute__((visibility("default"))) int get_nprocs() noexcept {
  return told_cpus() != 0 ? static_cast<int>(told_cpus()) : next().get_nprocs();
}

__attribute__((visibility("default"))) int get_nprocs_conf() noexcept {
  return told_cpus() != 0 ? static_cast<int>(told_cpus()) : next().get_nprocs_conf();
}

__attribute__((visibility("default"))) int sched_getaffinity(pid_t thread, std::size_t bytes,
                                                             cpu_set_t* set) noexcept {
  const int result = next().sched_getaffinity(thread, bytes, set);
  if (result == 0) {
    tell_cpus(set, bytes, bytes);
  }
  return result;
}

__attribute__((visibility("default"))) int pthread_getaffinity_np(pthread_t thread,
                                                                  std::size_t bytes,
                                                                  cpu_set_t* set) noexcept {
  const int result = next().pthread_getaffinity_np(thread, bytes, set);
  if (result == 0) {
    tell_cpus(set, bytes, bytes);
  }
  return result;
}

__attribute__((visibility("default"))) int sched_setaffinity(pid_t thread, std::size_t bytes,
                                                             const cpu_set_t* set) noexcept {
  return bind_thread(thread, bytes, set, LONGPOLE_SITE());
}

__attribute__((visibility("default"))) int pthread_setaffinity_np(pthread_t thread,
                                                                  std::size_t bytes,
                                                                  const cpu_set_t* set) noexcept {
  return bind(thread, bytes, set, LONGPOLE_SITE());
}

// A thread that is created with it would leave the CPU to which the program is pinned.
__attribute__((visibility("default"))) int pthread_attr_setaffinity_np(
    pthread_attr_t* attributes, std::size_t bytes, const cpu_set_t* set) noexcept {
  if (told_cpus() == 0) {
    return next().pthread_attr_setaffinity_np(attributes, bytes, set);
  }
  return 0;
}
}
