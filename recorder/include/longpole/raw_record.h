/* The raw record: what the recorder writes and the daemon reads. The only thing that the two share.
 *
 * A run directory, made by the launcher, holds
 *
 *   control      one struct longpole_control, mapped by both sides
 *   events       units of LONGPOLE_UNIT_BYTES; unit k starts at k * LONGPOLE_UNIT_BYTES. One or more of
 *                them hold a chunk, or nothing. A chunk belongs to one thread.
 *
 * and, where control.follow is set,
 *
 *   launches     struct longpole_launch, one behind the other: the programs that the recorded ones started or
 *                became, each written by the process that did
 *   child.K      a run directory, made by the recorder, of each other process that records: K counts from 1, in
 *                the first process's control. There are, besides,
 *                  maps      /proc/PID/maps, as it was when the recording began and when it ended
 *                  command   the file that the process runs, the directory that it began in, and its
 *                            arguments, each ended by a null byte
 *
 * A thread appends to a chunk that it has mapped, first to one of a page, then to one of LONGPOLE_CHUNK_BYTES. When
 * that is full, its records move to a chunk of their own further on in the file, encoded, and the mapped one is empty
 * again, the next in `sequence`: a thread touches the same few pages for ever, and the rest of the file, a few bytes a
 * record, is written once. (Pages that are new cost more than all else: 40 us for 32 KiB.) The few records of a short
 * thread move so when it ends, into a unit where they fit; the mapped chunk holds nothing then, until it is another
 * thread's.
 *
 *   page                              page
 *   ┌──────────────┬─────┬─────┬─ ─ ─┬───────┬─────┬─ ─ ─ ─ ┬─────┐┌──────────────┬─────┬─ ─
 *   │ chunk header │ rec │ rec │     │ spare │ rec │        │  0  ││ chunk header │ rec │
 *   └──────────────┴─────┴─────┴─ ─ ─┴───────┴─────┴─ ─ ─ ─ ┴─────┘└──────────────┴─────┴─ ─
 *
 * How to read it, during the run or after any end of it, SIGKILL included:
 *   - Look at every unit up to control.next_unit or the end of the file, whichever comes first. One
 *     whose header has bytes 0 holds no chunk: it was claimed and never used. Else the next one to look
 *     at is so many bytes further on.
 *   - A chunk of the form LONGPOLE_FORM_NOTHING is passed over: SIGKILL came while it was emptied, and its
 *     records are elsewhere; or it fills a page up, as mapped ones begin with one.
 *   - In one of the form LONGPOLE_FORM_RECORDS, look at every slot of the chunk up to its end. A slot counts when its kind is not 0: the kind
 *     is written last (release). A slot of kind 0 is skipped, also in the middle: its owner was
 *     killed while filling it, or a signal handler was and recorded more behind it. Unused space
 *     reads as zero, so chunk.used is a bound only for chunks that were closed (used != 0).
 *   - Chunks of one thread follow each other by `sequence`. Two of one `sequence` hold the same
 *     records, when SIGKILL came between the copying and the emptying: take either.
 *   - Within a thread records are in the order of their slots. Stamps ascend with it, but for a
 *     handler that interrupted the filling of a slot: its records carry earlier or later stamps than
 *     the slot before them by the time the filling took. Whoever needs ascending stamps takes the
 *     running maximum.
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

#define LONGPOLE_RAW_VERSION 19u
#define LONGPOLE_CONTROL_MAGIC 0x6c72746e6f63706cull /* "lpcontrl" */
#define LONGPOLE_PAGE_BYTES (4u * 1024u)             /* what of it is mapped is made of */
#define LONGPOLE_FIRST_SLOT 256u  /* where the records in each page of a mapped chunk begin */
#define LONGPOLE_UNIT_BYTES 1024u /* what `events` is made of */
#define LONGPOLE_CHUNK_BYTES \
  (32u * 1024u) /* a mapped chunk, header included; a thread's first is a page */
#define LONGPOLE_LARGEST_CHUNK (40u * 1024u) /* an encoded one, header included, at most */

/* The most functions inside each other whose entries and exits can be recorded. */
#define LONGPOLE_MOST_FUNCTION_DEPTH 128u

/* The most processes that are followed. */
#define LONGPOLE_MOST_CHILDREN 4096u

/* The environment variable that names the run directory; without it the library does nothing. */
#define LONGPOLE_DIRECTORY_VARIABLE "LONGPOLE_RUN_DIRECTORY"

enum longpole_cpu_clock {
  LONGPOLE_CPU_CLOCK_KERNEL = 0, /* the launcher has context switches from perf */
  LONGPOLE_CPU_CLOCK_THREAD = 1  /* the recorder must stamp CLOCK_THREAD_CPUTIME_ID and sample */
};

enum longpole_stop_reason {
  LONGPOLE_STOP_NONE = 0,
  LONGPOLE_STOP_NO_SPACE = 1,      /* the disk is full, or a file-size limit is reached (EFBIG) */
  LONGPOLE_STOP_NO_MAPPING = 2,    /* mmap refused */
  LONGPOLE_STOP_TOO_MANY_UNITS = 3 /* max_units reached */
};

enum longpole_ending {
  LONGPOLE_ENDING_UNKNOWN = 0, /* it was killed, left by a system call of its own, or runs on */
  LONGPOLE_ENDING_EXIT = 1,
  LONGPOLE_ENDING_EXEC = 2 /* it became another program */
};

enum longpole_beginning {
  LONGPOLE_BEGINNING_EXEC = 0, /* the recorder was loaded into a new program */
  LONGPOLE_BEGINNING_FORK = 1  /* it goes on with the memory of a process that records */
};

/* One bracketed read of both clocks: tsc lies between the two readings of CLOCK_MONOTONIC. */
struct longpole_clock_pair {
  uint64_t tsc;
  int64_t monotonic_ns;
};

struct longpole_control {
  /* In every version these two come first. */
  uint64_t magic;       /* set by the launcher */
  uint32_t version;     /* likewise; a recorder of another one puts its own here and stays silent */
  uint32_t cpu_clock;   /* enum longpole_cpu_clock, set by the launcher */
  uint32_t sample_hz;   /* samples per second of CPU time under the thread clock; 0: none */
  uint32_t told_cpus;   /* the CPU count to tell the program; 0: the truth */
  uint32_t max_units;   /* set by the launcher */
  int32_t pid;          /* 0 until a process claims the recording; a forked child does not record */
  uint32_t next_unit;   /* atomic: units handed out */
  uint32_t next_thread; /* atomic: threads numbered */
  uint32_t stop_reason; /* enum longpole_stop_reason, sticky */
  uint32_t stop_errno;
  uint64_t dropped;                 /* atomic: records that found no place */
  struct longpole_clock_pair start; /* set by the recorder when it starts */
  uint64_t cost_ps;          /* set by the recorder: measured cost of one record among others, in
                                picoseconds */
  uint64_t function_cost_ps; /* likewise of an entry or exit of a function */
  uint32_t
      function_depth; /* set by the launcher: functions inside each other whose entries and exits
                                are recorded; 0: none are */
  uint32_t
      lockstep_cpus;   /* set by the launcher: the virtual CPUs on which the threads are to advance
                                together, under the thread clock; 0: they run as the kernel has them */
  uint32_t follow;     /* set by the launcher: not 0: processes that it starts record as well */
  uint32_t next_child; /* atomic: children numbered, in the control of the first process */
  int32_t parent;      /* of a child: the process that started it */
  uint32_t beginning;  /* enum longpole_beginning */
  uint32_t ending;     /* enum longpole_ending; an exit only where follow is set; so below */
  uint32_t one_cpu;    /* set by the launcher: not 0: all threads run on one CPU, ever */
  struct longpole_clock_pair end; /* where the ending is known */
  uint64_t start_thread_cpu_ns;   /* what the first thread had used at the start, */
  uint64_t start_process_cpu_ns;  /* the process, with threads of a program that it was before, */
  uint64_t end_process_cpu_ns;    /* and likewise at the end */
  uint64_t runtime_begin;         /* where the code of a library lies that tells what it does: */
  uint64_t runtime_end; /* what locks it uses itself is its own business; 0: there is none */
  uint64_t hidden_ps;   /* set by the recorder: of cost_ps, what a call beside the record hides: the
                           processor waits for that anyway */
  /* Atomic; likewise: what a record adds besides where a program works between its calls, and writing it again does not: the
   * processor was still at that work when it made such a call, and is no more. The sum, and of how many times that it was
   * measured, at the start and while the program ran. */
  int64_t exposed_ps;
  uint64_t exposed_times;
  uint64_t wait_cost_ps; /* likewise: measured cost of both records of a call that waits, before and
                            behind an entry to the kernel, with the thread clock that is read for them
                            where that is the source */
  uint64_t interruptible_cost_ps; /* likewise: of keeping samples from a call that a signal would
                                     end, besides */
  /* Likewise: what recording adds to a call that enters the kernel to wake somebody up (a post, an unlock, a signal),
   * and to the call behind it, besides what their records say by being written again. */
  uint64_t kernel_entry_cost_ps;
  char becomes[248]; /* where the ending is an exec: of which program, as it was named, cut short */
};

/* What became of it is for the reader to find out: it records, or it could not. */
struct longpole_launch {
  int32_t pid;
  uint32_t failed;   /* of the launch before with the same pid: it came to nothing */
  char program[248]; /* as it was named, cut short */
};

enum longpole_form {
  LONGPOLE_FORM_RECORDS = 0, /* slots of struct longpole_record */
  LONGPOLE_FORM_NOTHING = 1,
  LONGPOLE_FORM_ENCODED = 2 /* see below */
};

struct longpole_chunk {
  uint32_t thread;   /* number of the thread, from 0 in order of creation or first record */
  uint32_t sequence; /* of this chunk within its thread, from 0 */
  int32_t tid;       /* kernel thread id; 0: numbered, but the thread has not yet begun */
  uint32_t used;     /* 0 while open; then bytes, header included, that can hold records; of an
                              encoded chunk, those that its records and the header had before */
  uint64_t start_function; /* address given to pthread_create; 0: main thread, or not known */
  uint32_t creator;        /* number of the creating thread; UINT32_MAX: none */
  uint32_t bytes;          /* a multiple of LONGPOLE_UNIT_BYTES; written last (release) */
  uint64_t handle;         /* its pthread_t; may be used again by a later thread once joined */
  uint32_t form;           /* enum longpole_form */
  uint32_t
      encoded_bytes; /* behind the header, of an encoded chunk, without LONGPOLE_END_OF_RECORDS */
  /* The recorder's own. */
  uint64_t argument; /* of the start function, until the thread begins */
  uint64_t unit;     /* see chunk.cc */
  uint64_t released; /* see events_space.cc */
  uint64_t ready;    /* bytes from the beginning that have pages and space on the disk */
  uint64_t offset;   /* in the file */
  uint64_t reserved;
};

/* Encoded records, one behind the other. Both sides keep LONGPOLE_ENCODING_PLACES records, all zero at
 * the start of the chunk; each record is told by how it differs from the one in its place, which it
 * then replaces:
 *
 *   1 byte    place | LONGPOLE_OTHER_OBJECT | LONGPOLE_OTHER_CALL
 *   1 to 10   stamp less the stamp of the record before (0 before the first), as a signed number in
 *             zigzag form, low seven bits first, the high bit set while more follow
 *   1 to 10   if LONGPOLE_OTHER_OBJECT: object less that of the record before (0 before the first), likewise
 *   16        site, then the rest of the record, if LONGPOLE_OTHER_CALL
 *
 * Which place is the writer's choice: the same for the same site. So a call that is made again on the same
 * object takes three bytes, and one on an object near the last one's, or of what that acquired, four or five.
 *
 * Behind the last one is a byte, LONGPOLE_END_OF_RECORDS. A chunk without it is passed over like one of the form
 * LONGPOLE_FORM_NOTHING: what is written at once reaches the file from its beginning on, page by page, and SIGKILL may come
 * between two of them. */
#define LONGPOLE_END_OF_RECORDS 0xffu
#define LONGPOLE_ENCODING_PLACES 64u
#define LONGPOLE_OTHER_OBJECT 0x40u
#define LONGPOLE_OTHER_CALL 0x80u

/* Kinds of record. Appended to, never renumbered. */
enum longpole_kind {
  LONGPOLE_NOTHING = 0,
  LONGPOLE_THREAD_START = 1, /* object: address of the start function; site: 0 */
  LONGPOLE_THREAD_END = 2,   /* after the destructors of thread-specific data; site: the caller of
                                pthread_exit, else 0. Missing where the process ends other than by
                                exit(), which is object 1: main returned, or the thread called it;
                                else object 0 */
  LONGPOLE_CREATE = 3, /* object: number of the new thread; site: the caller, so in all below. The
                          stamp is from before the call: the thread may begin at once */
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
  LONGPOLE_SEMAPHORE_INIT = 18, /* other: its value from here on; sem_open too, each time */
  LONGPOLE_BARRIER_WAIT = 19,
  LONGPOLE_BARRIER_INIT = 20, /* other: count */
  LONGPOLE_SAMPLE = 21,       /* portable source: object: instruction address, other: return address
                                 of its caller or 0, site: samples that this one stands for */
  LONGPOLE_FRAMES = 22,       /* more of the call path of the next create or join of this thread,
                                 innermost first: object, other: candidate return addresses or 0;
                                 repeated as needed. Candidates were found on the stack: an address
                                 behind a call instruction, not surely a live frame */
  LONGPOLE_CPU_CLOCK = 23,    /* portable source: object: CPU time of the thread in ns, for the next
                                 record but samples and frames; stands before records whose `other`
                                 is taken */
  LONGPOLE_RWLOCK_READ = 24,  /* trying and timed ones too: what they did not get is in `result` */
  LONGPOLE_RWLOCK_WRITE = 25,
  LONGPOLE_RWLOCK_UNLOCK = 26,
  LONGPOLE_SPIN_LOCK = 27, /* burns CPU time while it waits; trylock and unlock as of a mutex */
  LONGPOLE_CANCEL = 28,    /* object: as for join */
  LONGPOLE_YIELD = 29,     /* object: 0 */
  LONGPOLE_SLEEP = 30,     /* object: ns that the call asked for; result: 0, however it ended */
  LONGPOLE_IO = 31,        /* object: on its beginning the descriptor, or -1 where it is not one; on
                                its return the bytes moved, or what else the call answers; result: on
                                its beginning what it does, enum longpole_io */
  LONGPOLE_FUTEX_WAIT = 32,  /* by a system call of the program's own; so is FUTEX_WAKE below */
  LONGPOLE_THREAD_NAME = 33, /* object: the first 8 bytes of the name, site: the next 8, as they lie
                                in memory; other: the pthread_t. No BEGINS, no CPU time, so below */
  LONGPOLE_PRIORITY = 34, /* object: the pthread_t, or the thread id where LONGPOLE_BY_THREAD_ID is
                             set in other; other: 32 bits, the priority, a larger one is higher */
  LONGPOLE_AFFINITY = 35, /* object: likewise; other: 32 bits, the only CPU it may run on, or
                             LONGPOLE_ANY_CPU */
  LONGPOLE_FUNCTION_ENTER = 36, /* object: address of the function; site: the return address of the
                                   call; result: how many of those that were entered are not left.
                                   One left by longjmp has no record of its own: it is left where
                                   this number says so, here as below */
  LONGPOLE_FUNCTION_LEAVE = 37, /* object: likewise; result: likewise, when it is left */
  LONGPOLE_OVERHEAD = 38, /* object: the stamps that recording took in between, up to this record's
                                   own; no call */
  LONGPOLE_SIGNAL_WAIT = 39, /* object: on its beginning the signals that end it, signal n as bit
                                n - 1; on its return the signal that did, 0 where it is not known: one
                                that a handler took */
  LONGPOLE_SIGNAL_SEND = 40, /* object: the pthread_t that the signal is for, or the thread id where
                               LONGPOLE_BY_THREAD_ID is set in other, or 0 where LONGPOLE_TO_PROCESS
                               is; other: 16 bits, the signal */
  LONGPOLE_TURN = 41, /* in lockstep; no call. BEGINS: the thread waits for its turn from here on;
                        RETURNS: it has it; object: CPU time in ns that taking turns has cost it since
                        the last such record. Both have the CPU time */
  LONGPOLE_CHANNEL = 42, /* what is written to one descriptor, the high half of object, is read from
                            another, its low half: a pipe, half a pair of sockets, or, where both are
                            the same, an eventfd. other: the bytes that fit in; 0: not known. No CPU
                            time, so below */
  LONGPOLE_DUPLICATE = 43, /* the descriptor in the high half of object is now the same as the one
                              in its low half */
  /* Of OpenMP. Waiting burns CPU time, for a while at least, that counts for nothing. `object` of
     these and of the semaphores, attempts and unlocks that go with them may be no address. */
  LONGPOLE_TEAM_WAIT = 44,    /* of a thread for its next team: object: a semaphore that whoever
                                 opens the region posts, not known (0) when the wait begins. Also
                                 for tasks, and of a thread that never has a team: object: 0 */
  LONGPOLE_TEAM_BARRIER = 45, /* other: on its beginning the threads of the team */
  LONGPOLE_TEAM_LOCK = 46,    /* trylock and unlock as of a mutex */
  LONGPOLE_TASK = 47,         /* done by a thread that waits, which it does not before this returns;
                                 object: 0 */
  LONGPOLE_FUTEX_WAKE = 49,   /* result: how many it woke, 255: as many or more */
  LONGPOLE_CONNECTION = 50,   /* the descriptor in the low half of object is one end of a connection
                                 within this machine, whose port is in bits 32 to 47; other: the
                                 port of the other end, and from bit 16 on the address, 32 bits,
                                 that both have. As of a channel, no CPU time */
  LONGPOLE_AGAIN = 48 /* the record before was written once more, here, and means nothing else: what
                                 that adds to the time until the next one is what a second record costs
                                 between this program's own instructions, and a first one but for what
                                 the control says of it */
};

/* So many times what a record costs by itself is the most that it may cost besides between work and calls. */
#define LONGPOLE_MOST_EXPOSED 4

/* Of a mapped chunk, the bytes in which the records of calls that do not wait are each followed by AGAIN: in a thread's second
 * chunk and each so many behind it, as a program that does little but call would be 5% longer if it were in all. In the middle:
 * right behind the change of chunks the processor's caches are full of the one before. */
#define LONGPOLE_CHUNKS_PER_AGAIN 8u
#define LONGPOLE_AGAIN_MASK 0x7000u
#define LONGPOLE_AGAIN_BYTES 0x4000u

/* What a call of input or output does. */
enum longpole_io {
  LONGPOLE_IO_OTHER = 0,
  LONGPOLE_IO_READS = 1,
  LONGPOLE_IO_WRITES = 2,
  LONGPOLE_IO_CLOSES = 3,
  LONGPOLE_IO_OPENS = 4 /* answers with a new descriptor */
};

#define LONGPOLE_BY_THREAD_ID (1ull << 47)
#define LONGPOLE_TO_PROCESS (1ull << 46)
#define LONGPOLE_ANY_CPU UINT32_MAX

/* Flags. A call that may wait writes two records: one when it begins to wait, one when it returns.
 * A call that does not wait writes one, with neither flag. A call that was cancelled, or left by a
 * longjmp out of a signal handler, has no return. */
#define LONGPOLE_BEGINS 1u  /* the call begins; its return follows */
#define LONGPOLE_RETURNS 2u /* the call that began has returned */

/* C11 calls are recorded as their POSIX counterparts, with the errno value that means the same.
 * pthread_once is a mutex that is held while the routine runs; calls that find it done leave none.
 *
 * The stamp of a call that acquires is taken after it has acquired, that of a call that releases
 * (unlock, post, signal, broadcast, create) before it releases. On one CPU (longpole_control.one_cpu) that holds between
 * threads alone: within one a stamp may be early by what the processor executes out of order. Under LONGPOLE_CPU_CLOCK_THREAD a
 * kind that gives `other` no meaning above has the CPU time of the thread there, in ns; 0: not read.
 * It is read where a wait begins, where a thread begins and ends, where a long call of input or output
 * or other wait for nobody known returns, and else only after a stretch without
 * records of more than LONGPOLE_LONG_STRETCH stamps, in which the thread may have lost its CPU, or
 * when the last reading is LONGPOLE_LATEST_READING stamps old. Such a reading is spared where the kernel has not changed
 * threads since the last one, which may be as old as LONGPOLE_LATEST_CLOCK, and LONGPOLE_HAD_CPU stands in its place: who
 * asks for the CPU time of a running thread has the kernel look whether another's turn has come, which it does by itself
 * at its ticks alone, and caches are the colder for each change more.
 */
#define LONGPOLE_HAD_CPU \
  1ull /* the thread has not lost its CPU since the last reading or the last of these */
#if defined(__aarch64__)
#define LONGPOLE_LONG_STRETCH (1u << 10)
#define LONGPOLE_LATEST_READING (1u << 15)
#define LONGPOLE_LATEST_CLOCK (1u << 18)
#else
#define LONGPOLE_LONG_STRETCH (1u << 16)
#define LONGPOLE_LATEST_READING (1u << 21)
#define LONGPOLE_LATEST_CLOCK (1u << 24)
#endif

struct longpole_record {
  uint64_t tsc;       /* rdtsc, or cntvct_el0 on Arm */
  uint64_t object;    /* by kind */
  uint64_t site;      /* return address of the recorded call */
  uint32_t other_low; /* by kind: `other` is 48 bits, an address or a count */
  uint16_t other_high;
  uint8_t result; /* errno value that the call returned or set, capped at 255; 0: success, also of
                     the serial thread of a barrier */
  uint8_t kind_and_flags; /* kind in the low 6 bits, flags in the high 2; written last */
};

#define LONGPOLE_KIND_AND_FLAGS(kind, flags) ((kind) | ((flags) << 6))
#define LONGPOLE_KIND(kind_and_flags) ((kind_and_flags)&0x3fu)
#define LONGPOLE_FLAGS(kind_and_flags) ((kind_and_flags) >> 6)

LONGPOLE_STATIC_ASSERT(sizeof(struct longpole_record) == 32, "a record is half a cache line");
LONGPOLE_STATIC_ASSERT(LONGPOLE_FIRST_SLOT % sizeof(struct longpole_record) == 0 &&
                           sizeof(struct longpole_chunk) % sizeof(struct longpole_record) == 0,
                       "the header takes the place of whole records");
LONGPOLE_STATIC_ASSERT(sizeof(struct longpole_control) == 472, "both sides agree on the control");

#endif
