// The functions that the program would have called without the recorder.
//
// dlsym(RTLD_NEXT) would do, but it lives in libdl before glibc 2.34, has a version of its own from
// 2.34 on, and may allocate. The tables of the loaded objects are read instead: of the objects after
// this library in link order, the first that defines the name decides, as with RTLD_NEXT, and of
// several versions the default one (pthread_cond_wait@@GLIBC_2.3.2, not its predecessor).
//
// Threads: resolve_next_definitions() may run in several at once; all write the same values.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/sysinfo.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define LONGPOLE_NEXT_DEFINITIONS(X) \
  X(call_once)                       \
  X(clock_nanosleep)                 \
  X(cnd_broadcast)                   \
  X(cnd_signal)                      \
  X(cnd_timedwait)                   \
  X(cnd_wait)                        \
  X(get_nprocs)                      \
  X(get_nprocs_conf)                 \
  X(mtx_lock)                        \
  X(mtx_timedlock)                   \
  X(mtx_trylock)                     \
  X(mtx_unlock)                      \
  X(nanosleep)                       \
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
  X(pthread_join)                    \
  X(pthread_key_create)              \
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
  X(pthread_setspecific)             \
  X(pthread_sigmask)                 \
  X(pthread_spin_lock)               \
  X(pthread_spin_trylock)            \
  X(pthread_spin_unlock)             \
  X(pthread_testcancel)              \
  X(pthread_timedjoin_np)            \
  X(pthread_tryjoin_np)              \
  X(sched_getaffinity)               \
  X(sched_setaffinity)               \
  X(sched_yield)                     \
  X(sem_clockwait)                   \
  X(sem_getvalue)                    \
  X(sem_init)                        \
  X(sem_open)                        \
  X(sem_post)                        \
  X(sem_timedwait)                   \
  X(sem_trywait)                     \
  X(sem_wait)                        \
  X(sigaction)                       \
  X(signal)                          \
  X(sigprocmask)                     \
  X(sigtimedwait)                    \
  X(sigwait)                         \
  X(sigwaitinfo)                     \
  X(sleep)                           \
  X(sysconf)                         \
  X(thrd_create)                     \
  X(thrd_detach)                     \
  X(thrd_exit)                       \
  X(thrd_join)                       \
  X(thrd_sleep)                      \
  X(thrd_yield)                      \
  X(usleep)

namespace longpole::recorder {

struct NextDefinitions {
#define LONGPOLE_MEMBER(name) decltype(&::name) name;
  LONGPOLE_NEXT_DEFINITIONS(LONGPOLE_MEMBER)
#undef LONGPOLE_MEMBER
};

// Valid once next_definitions_are_resolved. The newest names (pthread_clockjoin_np and the like) stay
// null on a glibc that has none: nothing there can call them.
extern NextDefinitions resolved_next;
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
