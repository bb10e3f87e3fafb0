/* The raw record: what the recorder writes and the daemon reads. The only thing that the two share.
 *
 * A run directory, made by the launcher, holds
 *
 *   control      one struct longpole_control, mapped by both sides
 *   events       chunks of LONGPOLE_CHUNK_BYTES, mapped by both sides; chunk k starts at
 *                k * LONGPOLE_CHUNK_BYTES and belongs to one thread
 *
 * A chunk is a header followed by records of one size, appended in order. A record counts once its
 * `kind` is not 0: the kind is written last (release), so that a reader that comes after a SIGKILL
 * sees whole records only. Unused space reads as zero.
 *
 *   ┌────────────────┬──────┬──────┬──────┬─ ─
 *   │ chunk header   │ rec  │ rec  │ rec  │ 0 …
 *   └────────────────┴──────┴──────┴──────┴─ ─
 *
 * Plain C, fixed sizes, native byte order: both sides run on one machine.
 */
#ifndef LONGPOLE_RAW_RECORD_H
#define LONGPOLE_RAW_RECORD_H

#include <stdint.h>

#ifdef __cplusplus
#define LONGPOLE_STATIC_ASSERT static_assert
#else
#define LONGPOLE_STATIC_ASSERT _Static_assert
#endif

#define LONGPOLE_RAW_VERSION 1u
#define LONGPOLE_CONTROL_MAGIC 0x6c72746e6f63706cull /* "lpcontrl" */
#define LONGPOLE_CHUNK_BYTES (256u * 1024u)

/* The environment variable that names the run directory; without it the library does nothing. */
#define LONGPOLE_DIRECTORY_VARIABLE "LONGPOLE_RUN_DIRECTORY"

enum longpole_cpu_clock {
  LONGPOLE_CPU_CLOCK_KERNEL = 0, /* the launcher has context switches from perf */
  LONGPOLE_CPU_CLOCK_THREAD = 1  /* the recorder must stamp CLOCK_THREAD_CPUTIME_ID and sample */
};

enum longpole_stop_reason {
  LONGPOLE_STOP_NONE = 0,
  LONGPOLE_STOP_NO_SPACE = 1,       /* the disk is full */
  LONGPOLE_STOP_NO_MAPPING = 2,     /* mmap refused */
  LONGPOLE_STOP_TOO_MANY_CHUNKS = 3 /* max_chunks reached */
};

/* One bracketed read of both clocks: tsc lies between the two readings of CLOCK_MONOTONIC. */
struct longpole_clock_pair {
  uint64_t tsc;
  int64_t monotonic_ns;
};

struct longpole_control {
  uint64_t magic;       /* set by the launcher */
  uint32_t version;     /* set by the launcher; the recorder stays silent when it is not its own */
  uint32_t cpu_clock;   /* enum longpole_cpu_clock, set by the launcher */
  uint32_t sample_hz;   /* samples per second of CPU time under the thread clock; 0: none */
  uint32_t told_cpus;   /* the CPU count to tell the program; 0: the truth */
  uint32_t max_chunks;  /* set by the launcher */
  int32_t pid;          /* set by the recorder: the process that records; a forked child does not */
  uint32_t next_chunk;  /* atomic: chunks handed out */
  uint32_t next_thread; /* atomic: threads numbered */
  uint32_t stop_reason; /* enum longpole_stop_reason, sticky */
  uint32_t stop_errno;
  uint64_t dropped;                 /* atomic: records that found no place */
  struct longpole_clock_pair start; /* set by the recorder when it starts */
  uint64_t cost_ps; /* set by the recorder: measured cost of one record, in picoseconds */
};

struct longpole_chunk {
  uint32_t thread;         /* number of the thread, from 0 in order of first record */
  uint32_t sequence;       /* of this chunk within its thread, from 0 */
  int32_t tid;             /* kernel thread id */
  uint32_t used;           /* the owner is at least here; records after it may count, see above */
  uint64_t start_function; /* address given to pthread_create; 0: main thread, or not known */
  uint32_t creator;        /* number of the creating thread; UINT32_MAX: none */
  uint32_t reserved;
  uint64_t handle; /* its pthread_t; may be used again by a later thread once joined */
  uint64_t reserved2[3];
};

/* Kinds of record. Appended to, never renumbered. */
enum longpole_kind {
  LONGPOLE_NOTHING = 0,
  LONGPOLE_THREAD_START = 1, /* object: address of the start function */
  LONGPOLE_THREAD_END = 2,
  LONGPOLE_CREATE = 3, /* object: number of the new thread */
  LONGPOLE_JOIN = 4,   /* object: the pthread_t of the joined thread; see longpole_chunk.handle */
  LONGPOLE_DETACH = 5, /* object: as for join */
  LONGPOLE_MUTEX_LOCK = 6, /* object: address of the mutex, and so on below */
  LONGPOLE_MUTEX_TRYLOCK = 7,
  LONGPOLE_MUTEX_TIMEDLOCK = 8,
  LONGPOLE_MUTEX_UNLOCK = 9,
  LONGPOLE_CONDITION_WAIT = 10,      /* other: address of the mutex */
  LONGPOLE_CONDITION_TIMEDWAIT = 11, /* other: address of the mutex */
  LONGPOLE_CONDITION_SIGNAL = 12,
  LONGPOLE_CONDITION_BROADCAST = 13,
  LONGPOLE_SEMAPHORE_WAIT = 14,
  LONGPOLE_SEMAPHORE_TRYWAIT = 15,
  LONGPOLE_SEMAPHORE_TIMEDWAIT = 16,
  LONGPOLE_SEMAPHORE_POST = 17,
  LONGPOLE_SEMAPHORE_INIT = 18, /* other: initial value; sem_open too */
  LONGPOLE_BARRIER_WAIT = 19,
  LONGPOLE_BARRIER_INIT = 20, /* other: count */
  LONGPOLE_SAMPLE = 21,   /* portable source: object: instruction address, other: return address of
                             its   caller or 0 */
  LONGPOLE_FRAMES = 22,   /* more of the call path of the record after it (create, join): object,
                             other:   candidate return addresses further out; repeated as needed */
  LONGPOLE_CPU_CLOCK = 23 /* portable source: object: CPU time of the thread in ns at this stamp;
                             stands before the record it belongs to */
};

/* Flags. A call that may wait writes two records: one when it begins to wait, one when it returns.
 * A call that does not wait writes one, with neither flag. */
#define LONGPOLE_BEGINS 1u  /* the call begins; its return follows */
#define LONGPOLE_RETURNS 2u /* the call that began has returned */

struct longpole_record {
  uint64_t tsc;       /* rdtsc, or cntvct_el0 on Arm */
  uint64_t object;    /* by kind */
  uint64_t site;      /* return address of the recorded call */
  uint32_t other_low; /* by kind: `other` is 48 bits, an address or a count */
  uint16_t other_high;
  uint8_t result;         /* errno value that the call returned, capped at 255; 0: success */
  uint8_t kind_and_flags; /* kind in the low 6 bits, flags in the high 2; written last */
};

#endif
