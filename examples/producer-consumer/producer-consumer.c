// The producer-consumer program of Paper I, section 5.
//
// 150 producers insert ten items each, 75 consumers fetch them, one at a time. A semaphore counts
// the items. Inserting an item and fetching it is all the work there is, and it is done under a
// lock: one mutex for everything, as the program was first written, or, with BUFFERS defined as
// 100, a mutex for inserting and one for fetching in each of a hundred buffers, and one for the
// system of buffers, held only to say which buffer is next.
//
// Usage: producer-consumer [ROUNDS]     the work for an item
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
  producers = 150,
  items_per_producer = 10,
  items = producers * items_per_producer,
  consumers = 75,
  items_per_consumer = items / consumers,
  item_words = 256,
};

struct item {
  uint64_t number;
  uint64_t words[item_words];
};

static long rounds = 6000;
static struct item storage[items];  // large enough that no producer ever waits for room
static sem_t filled;
static pthread_barrier_t all_there;  // so that starting the threads is no part of what is shown

static void fail(const char* what, int error) {
  errno = error;
  perror(what);
  exit(1);
}

// The two halves of the work: scrambling the words of an item, which are zero at first, under keys
// that come from its number, and unscrambling them again.
static void write_item(struct item* item, uint64_t number) {
  item->number = number;
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < item_words; i++) {
      const uint64_t word = (item->words[i] ^ (number + (uint64_t)round)) * 0x9e3779b97f4a7c15U;
      item->words[i] = word ^ (word >> 32);
    }
  }
}

static void read_item(struct item* item) {
  for (long round = rounds - 1; round >= 0; round--) {
    for (int i = 0; i < item_words; i++) {
      const uint64_t word = item->words[i] ^ (item->words[i] >> 32);
      item->words[i] = (word * 0xf1de83e19937733dU) ^ (item->number + (uint64_t)round);
    }
  }
}

#ifndef BUFFERS

static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER;
static int inserted;
static int fetched;

static void insert(uint64_t number) {
  pthread_mutex_lock(&buffer_lock);
  write_item(&storage[inserted++], number);
  pthread_mutex_unlock(&buffer_lock);
  sem_post(&filled);
}

static void fetch(void) {
  sem_wait(&filled);
  pthread_mutex_lock(&buffer_lock);
  read_item(&storage[fetched++]);
  pthread_mutex_unlock(&buffer_lock);
}

static void initialise_buffers(void) {}

#else

enum { buffer_items = items / BUFFERS };

struct buffer {
  pthread_mutex_t insert_lock;
  pthread_mutex_t fetch_lock;
  struct item* items;  // buffer_items of the storage
  int inserted;
  int fetched;
};

static struct buffer buffers[BUFFERS];
static pthread_mutex_t system_lock = PTHREAD_MUTEX_INITIALIZER;
static int next_to_fill;
static int ready[items];  // the buffers that got an item, in the order in which they did
static int ready_inserted;
static int ready_fetched;

static void insert(uint64_t number) {
  pthread_mutex_lock(&system_lock);
  const int place = next_to_fill++ % BUFFERS;
  pthread_mutex_unlock(&system_lock);

  struct buffer* buffer = &buffers[place];
  pthread_mutex_lock(&buffer->insert_lock);
  write_item(&buffer->items[buffer->inserted++], number);
  pthread_mutex_unlock(&buffer->insert_lock);

  pthread_mutex_lock(&system_lock);
  ready[ready_inserted++] = place;
  pthread_mutex_unlock(&system_lock);
  sem_post(&filled);
}

static void fetch(void) {
  sem_wait(&filled);
  pthread_mutex_lock(&system_lock);
  struct buffer* buffer = &buffers[ready[ready_fetched++]];
  pthread_mutex_unlock(&system_lock);

  pthread_mutex_lock(&buffer->fetch_lock);
  read_item(&buffer->items[buffer->fetched++]);
  pthread_mutex_unlock(&buffer->fetch_lock);
}

static void initialise_buffers(void) {
  for (int i = 0; i < BUFFERS; i++) {
    buffers[i].items = &storage[i * buffer_items];
    pthread_mutex_init(&buffers[i].insert_lock, NULL);
    pthread_mutex_init(&buffers[i].fetch_lock, NULL);
  }
}

#endif

static void* produce(void* argument) {
  const uint64_t first = (uint64_t)(uintptr_t)argument * items_per_producer;
  pthread_barrier_wait(&all_there);
  for (uint64_t i = 0; i < items_per_producer; i++)
    insert(first + i);
  return NULL;
}

static void* consume(void* unused) {
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < items_per_consumer; i++)
    fetch();
  return unused;
}

int main(int argc, char** argv) {
  if (argc > 1)
    rounds = strtol(argv[1], NULL, 10);
  if (argc > 2 || rounds < 1) {
    fprintf(stderr, "usage: producer-consumer [ROUNDS]\n");
    return 2;
  }
  if (sem_init(&filled, 0, 0) != 0)
    fail("making a semaphore", errno);
  initialise_buffers();
  pthread_barrier_init(&all_there, NULL, producers + consumers + 1);

  pthread_t threads[producers + consumers];
  for (int i = 0; i < producers + consumers; i++) {
    void* (*const function)(void*) = i < producers ? produce : consume;
    const int error = pthread_create(&threads[i], NULL, function, (void*)(uintptr_t)i);
    if (error != 0)
      fail("starting a thread", error);
  }
  pthread_barrier_wait(&all_there);
  for (int i = 0; i < producers + consumers; i++)
    pthread_join(threads[i], NULL);

  // Every item is there once, and as it was before it was written.
  bool numbers[items] = {false};
  int good = 0;
  for (int i = 0; i < items; i++) {
    uint64_t words = 0;
    for (int j = 0; j < item_words; j++)
      words |= storage[i].words[j];
    const uint64_t number = storage[i].number;
    if (words == 0 && number < items && !numbers[number]) {
      numbers[number] = true;
      good++;
    }
  }
  printf("%d of %d items inserted and fetched\n", good, items);
  return good == items ? 0 : 1;
}
