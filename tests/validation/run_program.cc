// Runs a program file for real, with POSIX threads: what a prediction for it, and a binding that was found
// for it, are held against.
//
//   run_program FILE.prog [T=CPU,…]
//
// Each `run` computes until its thread has had so much CPU time; locks, semaphores, barriers, joins and
// sleeps are those of the system. Threads are bound before the first of them goes. Prints how long it took,
// in nanoseconds, from when all threads that nobody creates may go until the last has ended.
//
// Statements that need more than one call to be what they say (conditions, channels, devices, timed and
// failing calls) are refused.
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "storage/load.h"

namespace {

using namespace longpole;

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "run_program: {}\n", what);
  std::exit(1);
}

std::int64_t now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// Computes until the thread has had that much CPU time altogether. The clock is asked only now and then,
// for that is a system call.
void compute_until(std::int64_t cpu_time) {
  while (now(CLOCK_THREAD_CPUTIME_ID) < cpu_time) {
    for (int i = 0; i < 300; ++i)
      __asm__ volatile("" ::: "memory");
  }
}

class Program {
 public:
  Program(const Recording& recording, std::vector<int> cpus)
      : recording_(recording),
        cpus_(std::move(cpus)),
        threads_(recording.threads.size()),
        mutexes_(recording.objects.size()),
        semaphores_(recording.objects.size()),
        barriers_(recording.objects.size()) {
    sem_init(&are_there_, 0, 0);
    for (std::size_t i = 0; i < recording.objects.size(); ++i) {
      pthread_mutex_init(&mutexes_[i], nullptr);
      sem_init(&semaphores_[i], 0, recording.objects[i].initial);
    }
    std::vector<bool> has_barrier(recording.objects.size(), false);
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      threads_[t].program = this;
      threads_[t].number = t;
      for (const Event& event : recording.threads[t].events) {
        check(event);
        if (event.kind == EventKind::thread_create)
          threads_[event.subject].is_created = true;
        if (event.kind == EventKind::thread_join)
          threads_[event.subject].is_joined = true;
        if (event.kind == EventKind::barrier_wait && !has_barrier[event.subject]) {
          pthread_barrier_init(&barriers_[event.subject], nullptr, event.other);
          has_barrier[event.subject] = true;
        }
      }
    }
  }

  std::int64_t run() {
    for (Thread& thread : threads_) {
      sem_init(&thread.may_start, 0, thread.is_created ? 1 : 0);
      if (!thread.is_created)
        begin(thread);
    }
    wait_until_all_wait();
    // In order, as the simulation has it: under a real-time scheduler they all come after this one.
    sched_param priority{};
    int scheduler = SCHED_OTHER;
    pthread_getschedparam(pthread_self(), &scheduler, &priority);
    if (scheduler != SCHED_OTHER) {
      ++priority.sched_priority;
      pthread_setschedparam(pthread_self(), scheduler, &priority);
    }
    for (Thread& thread : threads_) {
      if (!thread.is_created)
        sem_post(&thread.may_start);
    }
    for (Thread& thread : threads_) {
      if (!thread.is_joined)
        pthread_join(thread.id, nullptr);
    }
    // By the threads' own clocks: this one may have to wait for a CPU meanwhile.
    std::int64_t began = threads_.front().began;
    std::int64_t ended = threads_.front().ended;
    for (const Thread& thread : threads_) {
      began = std::min(began, thread.began);
      ended = std::max(ended, thread.ended);
    }
    return ended - began;
  }

 private:
  struct Thread {
    Program* program = nullptr;
    std::size_t number = 0;
    pthread_t id{};
    sem_t may_start{};
    bool is_created = false;
    bool is_joined = false;
    std::int64_t began = 0;
    std::int64_t ended = 0;
  };

  // Until each thread that nobody creates waits to be let go: one that was still on its way there would
  // overtake those that are let go before it. Under SCHED_FIFO this one, of the priority of the others,
  // gets each CPU only after all that can run there have given it up.
  void wait_until_all_wait() {
    for (const Thread& thread : threads_) {
      if (!thread.is_created)
        wait(are_there_);
    }
    cpu_set_t mine;
    sched_getaffinity(0, sizeof mine, &mine);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &mine))
        continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
    }
    sched_setaffinity(0, sizeof mine, &mine);
  }

  static void wait(sem_t& semaphore) {
    while (sem_wait(&semaphore) != 0 && errno == EINTR) {
    }
  }

  static void check(const Event& event) {
    switch (event.kind) {
      case EventKind::run:
      case EventKind::enter:
      case EventKind::leave:
      case EventKind::thread_create:
      case EventKind::thread_join:
      case EventKind::thread_end:
      case EventKind::mutex_lock:
      case EventKind::mutex_unlock:
      case EventKind::semaphore_wait:
      case EventKind::semaphore_post:
      case EventKind::barrier_wait:
      case EventKind::yield:
      case EventKind::sleep:
        if (event.outcome == Outcome::ok)
          return;
        break;
      default:
        break;
    }
    fail("the program has a statement that this cannot run");
  }

  void begin(Thread& thread) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (cpus_[thread.number] >= 0) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(static_cast<std::size_t>(cpus_[thread.number]), &set);
      pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    const int error = pthread_create(&thread.id, &attributes, &Program::main_of, &thread);
    if (error != 0)
      fail(fmt::format("cannot start a thread: error {}", error));
    pthread_attr_destroy(&attributes);
  }

  static void* main_of(void* argument) {
    Thread& thread = *static_cast<Thread*>(argument);
    if (!thread.is_created)
      sem_post(&thread.program->are_there_);
    wait(thread.may_start);
    thread.began = now(CLOCK_MONOTONIC);
    // What starting took is no part of the program.
    std::int64_t cpu_time = now(CLOCK_THREAD_CPUTIME_ID);
    for (const Event& event : thread.program->recording_.threads[thread.number].events) {
      cpu_time += event.cpu.count();
      if (event.cpu.count() > 0)
        compute_until(cpu_time);
      thread.program->call(event);
      cpu_time = std::max(cpu_time, now(CLOCK_THREAD_CPUTIME_ID));
    }
    thread.ended = now(CLOCK_MONOTONIC);
    return nullptr;
  }

  void call(const Event& event) {
    switch (event.kind) {
      case EventKind::thread_create:
        begin(threads_[event.subject]);
        return;
      case EventKind::thread_join:
        pthread_join(threads_[event.subject].id, nullptr);
        return;
      case EventKind::mutex_lock:
        pthread_mutex_lock(&mutexes_[event.subject]);
        return;
      case EventKind::mutex_unlock:
        pthread_mutex_unlock(&mutexes_[event.subject]);
        return;
      case EventKind::semaphore_wait:
        wait(semaphores_[event.subject]);
        return;
      case EventKind::semaphore_post:
        sem_post(&semaphores_[event.subject]);
        return;
      case EventKind::barrier_wait:
        pthread_barrier_wait(&barriers_[event.subject]);
        return;
      case EventKind::yield:
        sched_yield();
        return;
      case EventKind::sleep: {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(event.duration);
        const timespec time{seconds.count(), (event.duration - seconds).count()};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
        return;
      }
      default:
        return;
    }
  }

  const Recording& recording_;
  std::vector<int> cpus_;
  std::vector<Thread> threads_;
  std::vector<pthread_mutex_t> mutexes_;
  std::deque<sem_t> semaphores_;
  sem_t are_there_{};
  std::vector<pthread_barrier_t> barriers_;
};

// "T1=0,T2=1".
std::vector<int> read_binding(const Recording& recording, std::string_view text) {
  std::vector<int> cpus(recording.threads.size(), -1);
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    const std::size_t sign = part.rfind('=');
    const std::string_view name = part.substr(0, sign);
    const auto thread = std::find_if(recording.threads.begin(), recording.threads.end(),
                                     [&](const longpole::Thread& one) { return one.name == name; });
    int cpu = -1;
    if (sign == std::string_view::npos || thread == recording.threads.end() ||
        std::from_chars(part.data() + sign + 1, part.data() + part.size(), cpu).ec != std::errc() ||
        cpu < 0)
      fail(fmt::format("{} is no thread and CPU", part));
    cpus[static_cast<std::size_t>(thread - recording.threads.begin())] = cpu;
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return cpus;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3)
    fail("usage: run_program FILE.prog [T=CPU,…]");
  const auto recording = storage::load_recording(argv[1]);
  if (!recording)
    fail(recording.error().text());
  Program program(*recording, read_binding(*recording, argc > 2 ? argv[2] : ""));
  fmt::print("{}\n", program.run());
  return 0;
}
