// Waits by system calls of the program's own, as C++20's are, and other calls through syscall().
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>

#include "asleep.h"

static int waiter;

int main() {
  std::atomic<int> flag = 0;
  std::counting_semaphore<8> semaphore(0);
  std::latch latch(1);
  std::thread waiting([&] {
    __atomic_store_n(&waiter, thread_id(), __ATOMIC_RELEASE);
    flag.wait(0);
    semaphore.acquire();
    latch.wait();
  });
  wait_until_asleep_in(SYS_futex, &waiter);
  flag = 1;
  flag.notify_one();
  wait_until_asleep_in(SYS_futex, &waiter);
  semaphore.release();
  wait_until_asleep_in(SYS_futex, &waiter);
  latch.count_down();
  waiting.join();
  char text[8] = {};
  int ends[2];
  std::printf("gettid %d\n", syscall(SYS_gettid) == getpid() ? 1 : 0);
  std::printf("pipe %ld\n", syscall(SYS_pipe2, ends, 0));
  std::printf("pwrite64 %ld\n", syscall(SYS_pwrite64, ends[1], "x", 1L, 0L));
  std::printf("write %ld\n", syscall(SYS_write, ends[1], "abc", 3L));
  std::printf("read %ld %s\n", syscall(SYS_read, ends[0], text, 8L), text);
  std::printf("mmap %d\n", syscall(SYS_mmap, nullptr, 4096L, 3L, 0x22L, -1L, 0L) > 0 ? 1 : 0);
  std::printf("nothing %ld\n", syscall(100'000));
}
