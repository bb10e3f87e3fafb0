// The functions that the program would have called without the recorder.
//
// dlsym(RTLD_NEXT) would do, but it lives in libdl before glibc 2.34, has a version of its own from
// 2.34 on, and may allocate. The tables of the loaded objects are read instead: of the objects after
// this library in link order, the first that defines the name decides, as with RTLD_NEXT, and of
// several versions the default one (pthread_cond_wait@@GLIBC_2.3.2, not its predecessor).
//
// Threads: resolve_next_definitions() may run in several at once; all write the same values.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define LONGPOLE_NEXT_DEFINITIONS(X) \
  X(_Exit)                           \
  X(__cyg_profile_func_enter)        \
  X(__cyg_profile_func_exit)         \
  X(__open64_2)                      \
  X(__open_2)                        \
  X(__poll_chk)                      \
  X(__ppoll_chk)                     \
  X(__pread64_chk)                   \
  X(__pread_chk)                     \
  X(__read_chk)                      \
  X(__recv_chk)                      \
  X(__recvfrom_chk)                  \
  X(__sysv_signal)                   \
  X(_dl_find_object)                 \
  X(_exit)                           \
  X(accept)                          \
  X(accept4)                         \
  X(call_once)                       \
  X(clock_nanosleep)                 \
  X(close)                           \
  X(cnd_broadcast)                   \
  X(cnd_signal)                      \
  X(cnd_timedwait)                   \
  X(cnd_wait)                        \
  X(connect)                         \
  X(copy_file_range)                 \
  X(dup)                             \
  X(dup2)                            \
  X(dup3)                            \
  X(epoll_pwait)                     \
  X(epoll_pwait2)                    \
  X(epoll_wait)                      \
  X(eventfd)                         \
  X(execv)                           \
  X(execve)                          \
  X(execvp)                          \
  X(execvpe)                         \
  X(fcntl)                           \
  X(fcntl64)                         \
  X(fdatasync)                       \
  X(fsync)                           \
  X(get_nprocs)                      \
  X(get_nprocs_conf)                 \
  X(io_getevents)                    \
  X(kill)                            \
  X(msgrcv)                          \
  X(msgsnd)                          \
  X(mtx_lock)                        \
  X(mtx_timedlock)                   \
  X(mtx_trylock)                     \
  X(mtx_unlock)                      \
  X(nanosleep)                       \
  X(open)                            \
  X(open64)                          \
  X(openat)                          \
  X(openat64)                        \
  X(pause)                           \
  X(pipe)                            \
  X(pipe2)                           \
  X(poll)                            \
  X(posix_spawn)                     \
  X(posix_spawnp)                    \
  X(ppoll)                           \
  X(prctl)                           \
  X(pread)                           \
  X(pread64)                         \
  X(preadv)                          \
  X(preadv2)                         \
  X(preadv64)                        \
  X(preadv64v2)                      \
  X(pselect)                         \
  X(pthread_attr_getstack)           \
  X(pthread_attr_getstacksize)       \
  X(pthread_attr_setaffinity_np)     \
  X(pthread_attr_setsigmask_np)      \
  X(pthread_attr_setstacksize)       \
  X(pthread_barrier_init)            \
  X(pthread_barrier_wait)            \
  X(pthread_cancel)                  \
  X(pthread_clockjoin_np)            \
  X(pthread_cond_broadcast)          \
  X(pthread_cond_clockwait)          \
  X(pthread_cond_signal)             \
  X(pthread_cond_timedwait)          \
  X(pthread_cond_wait)               \
  X(pthread_create)                  \
  X(pthread_detach)                  \
  X(pthread_exit)                    \
  X(pthread_getaffinity_np)          \
  X(pthread_getattr_default_np)      \
  X(pthread_join)                    \
  X(pthread_key_create)              \
  X(pthread_kill)                    \
  X(pthread_mutex_clocklock)         \
  X(pthread_mutex_lock)              \
  X(pthread_mutex_timedlock)         \
  X(pthread_mutex_trylock)           \
  X(pthread_mutex_unlock)            \
  X(pthread_once)                    \
  X(pthread_rwlock_clockrdlock)      \
  X(pthread_rwlock_clockwrlock)      \
  X(pthread_rwlock_rdlock)           \
  X(pthread_rwlock_timedrdlock)      \
  X(pthread_rwlock_timedwrlock)      \
  X(pthread_rwlock_tryrdlock)        \
  X(pthread_rwlock_trywrlock)        \
  X(pthread_rwlock_unlock)           \
  X(pthread_rwlock_wrlock)           \
  X(pthread_setaffinity_np)          \
  X(pthread_setattr_default_np)      \
  X(pthread_setname_np)              \
  X(pthread_setschedparam)           \
  X(pthread_setschedprio)            \
  X(pthread_setspecific)             \
  X(pthread_sigmask)                 \
  X(pthread_sigqueue)                \
  X(pthread_spin_lock)               \
  X(pthread_spin_trylock)            \
  X(pthread_spin_unlock)             \
  X(pthread_testcancel)              \
  X(pthread_timedjoin_np)            \
  X(pthread_tryjoin_np)              \
  X(pwrite)                          \
  X(pwrite64)                        \
  X(pwritev)                         \
  X(pwritev2)                        \
  X(pwritev64)                       \
  X(pwritev64v2)                     \
  X(raise)                           \
  X(read)                            \
  X(readv)                           \
  X(recv)                            \
  X(recvfrom)                        \
  X(recvmmsg)                        \
  X(recvmsg)                         \
  X(sched_getaffinity)               \
  X(sched_setaffinity)               \
  X(sched_yield)                     \
  X(select)                          \
  X(sem_clockwait)                   \
  X(sem_getvalue)                    \
  X(sem_init)                        \
  X(sem_open)                        \
  X(sem_post)                        \
  X(sem_timedwait)                   \
  X(sem_trywait)                     \
  X(sem_wait)                        \
  X(semop)                           \
  X(semtimedop)                      \
  X(send)                            \
  X(sendfile)                        \
  X(sendfile64)                      \
  X(sendmmsg)                        \
  X(sendmsg)                         \
  X(sendto)                          \
  X(setpriority)                     \
  X(sigaction)                       \
  X(signal)                          \
  X(signalfd)                        \
  X(sigpending)                      \
  X(sigprocmask)                     \
  X(sigqueue)                        \
  X(sigsuspend)                      \
  X(sigtimedwait)                    \
  X(sigwait)                         \
  X(sigwaitinfo)                     \
  X(sleep)                           \
  X(socketpair)                      \
  X(splice)                          \
  X(syscall)                         \
  X(sysconf)                         \
  X(sysv_signal)                     \
  X(tgkill)                          \
  X(thrd_create)                     \
  X(thrd_detach)                     \
  X(thrd_exit)                       \
  X(thrd_join)                       \
  X(thrd_sleep)                      \
  X(thrd_yield)                      \
  X(usleep)                          \
  X(vfork)                           \
  X(vmsplice)                        \
  X(write)                           \
  X(writev)

// glibc's own, which no header declares in every mode.
extern "C" {
void __cyg_profile_func_enter(void*, void*);
void __cyg_profile_func_exit(void*, void*);
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void*, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void*, size_t, size_t, int, sockaddr*, socklen_t*);
int __poll_chk(pollfd*, nfds_t, int, size_t);
int __open_2(const char*, int);
int __open64_2(const char*, int);
int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);
// Of libaio.
int io_getevents(void*, long, long, void*, timespec*);
#if !__GLIBC_PREREQ(2, 35)
int epoll_pwait2(int, epoll_event*, int, const timespec*, const sigset_t*);
#endif
#if !__GLIBC_PREREQ(2, 32)
int pthread_attr_setsigmask_np(pthread_attr_t*, const sigset_t*);
#endif

#if !__GLIBC_PREREQ(2, 35)
struct dl_find_object {
  unsigned long long dlfo_flags;
  void* dlfo_map_start;
  void* dlfo_map_end;
  link_map* dlfo_link_map;
  void* dlfo_eh_frame;
  unsigned long long dlfo_reserved[7];
};
int _dl_find_object(void*, dl_find_object*);
#endif
}

namespace longpole::recorder {

struct NextDefinitions {
#define LONGPOLE_MEMBER(name) decltype(&::name) name;
  LONGPOLE_NEXT_DEFINITIONS(LONGPOLE_MEMBER)
#undef LONGPOLE_MEMBER
};

// What tries to acquire, for calls that try before they wait. Where the call that waits is another
// library's than the one that tries (a library that the program preloads stands in front of lock
// alone, say), the attempt always fails, so that it is the waiting call that is made.
struct Attempts {
  decltype(&::pthread_mutex_trylock) mutex;
  decltype(&::pthread_rwlock_tryrdlock) rwlock_read;
  decltype(&::pthread_rwlock_trywrlock) rwlock_write;
  decltype(&::pthread_spin_trylock) spin;
  decltype(&::sem_trywait) semaphore;
  decltype(&::mtx_trylock) mtx;
};

// Valid once next_definitions_are_resolved. The newest names (pthread_clockjoin_np and the like) stay
// null on a glibc that has none: nothing there can call them.
extern NextDefinitions resolved_next;
extern Attempts attempts;
extern bool vfork_is_of_libc;
// All of what a semaphore is made, posted and tried by.
extern bool semaphores_are_of_libc;
extern bool next_definitions_are_resolved;

// False while there are no threads to record: before glibc 2.34, libpthread may come later.
bool resolve_next_definitions();

inline const NextDefinitions& next() {
  if (!__atomic_load_n(&next_definitions_are_resolved, __ATOMIC_ACQUIRE)) [[unlikely]] {
    resolve_next_definitions();
  }
  return resolved_next;
}

}  // namespace longpole::recorder
