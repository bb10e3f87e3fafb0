// The few things of the operating system that several files here need.
#pragma once

#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "recording/run_files.h"
#include "trace/types.h"

namespace longpole::recording {

// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0)
      ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

// A file mapped for reading; empty when it is not there or holds nothing.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {data_, size_}; }

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// Whether this process ignores the signal.
[[nodiscard]] bool is_ignored(int signal);

// From here on a file that has reached the limit on its size (RLIMIT_FSIZE) is an error of the call that writes, EFBIG, and
// not the end of this process. Programs that it starts have the signal as it was: exec() undoes handlers.
void outlive_file_limits();

[[nodiscard]] int open_pidfd(pid_t pid);  // -1 and errno

// The whole of a file that has no size, as those of /proc; empty when it cannot be read.
[[nodiscard]] std::string read_special_file(const std::string& path);

// The value at `offset` bytes into a file; none where it has not so many.
template <typename T>
[[nodiscard]] std::optional<T> read_at(int fd, std::uint64_t offset) {
  T value;
  if (::pread(fd, &value, sizeof value, static_cast<off_t>(offset)) !=
      static_cast<ssize_t>(sizeof value))
    return std::nullopt;
  return value;
}

// All of `bytes`; false and errno when the system refuses.
[[nodiscard]] bool write_all(int fd, const void* bytes, std::size_t size);

[[nodiscard]] std::int64_t monotonic_ns();

// The closest of a hundred readings of the time-stamp counter between two of CLOCK_MONOTONIC.
[[nodiscard]] ClockPair read_clock_pair();

// The CPUs that this process may use, in order.
[[nodiscard]] std::vector<std::uint32_t> usable_cpus();

// Of `cpus`, the one that had least to do in the last hundredth of a second or so.
[[nodiscard]] std::uint32_t idlest_cpu(const std::vector<std::uint32_t>& cpus);

// Restricts this process to `cpus`. What the machine refuses stays as it was.
void run_on(const std::vector<std::uint32_t>& cpus);

// What a thread has had so far, by /proc/PID/task/TID/schedstat (the kernel's sched-stats.rst).
struct TaskTimes {
  pid_t thread = 0;
  Nanoseconds used{};        // CPU time
  Nanoseconds waited{};      // for a CPU
  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC right behind the look
};
// Of each thread that the process has just now; none where the kernel has no scheduler statistics.
// The caller may lose its CPU between a thread's times and the clock: a look that took long is taken again, a few times.
[[nodiscard]] std::vector<TaskTimes> task_times(pid_t process);

[[nodiscard]] Nanoseconds nanoseconds_of(const timeval& time);

// CPU time of this process and of the children that it has waited for, user and kernel.
[[nodiscard]] Nanoseconds own_cpu_time();

// How long CPUs have been used so far (proc(5), /proc/stat), all together; to a step a CPU.
struct CpuUse {
  Nanoseconds busy{};    // by anyone here
  Nanoseconds stolen{};  // by the host of a virtual machine, for others
};
// 1 s / USER_HZ, which is 100 but on alpha and ia64.
inline constexpr Nanoseconds cpu_use_step{10'000'000};
[[nodiscard]] CpuUse cpu_use(const std::vector<std::uint32_t>& cpus);

}  // namespace longpole::recording
