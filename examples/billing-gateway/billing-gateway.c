// The skeleton of the billing gateway of Paper VI, section 4.3, Figure 17: no files, no network.
//
//   Reader 0 ──▶ Sorter 0 ─┬▶ Writer 0        Reader 1 ──▶ Sorter 1 ─┬▶ Writer 2
//                          └▶ Writer 1                               └▶ Writer 3
//
// Each Reader gets three packets of call records and decodes them. A Sorter puts a packet's calls
// in order of subscriber and time, and gives the packet to both its Writers: each works out what
// half of the calls cost, and puts its bills into the form that is sent on. A packet is handed on
// through a queue.
//
// Usage: billing-gateway [CALLS]     calls in a packet
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  readers = 2,
  writers_per_sorter = 2,
  packets_per_reader = 3,
  call_bytes = 60,
  bill_bytes = 15
};

struct call {
  uint32_t subscriber;
  uint32_t second;  // at which it began
  uint32_t seconds;
  uint32_t zone;
};

struct packet {
  size_t calls;
  unsigned char* received;  // calls · call_bytes
  struct call* decoded;
};

struct queue {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  struct packet* packets[packets_per_reader];
  int put;
  int taken;
};

struct writer {
  struct queue queue;
  int half;              // of a packet's calls
  unsigned char* bills;  // bill_bytes each
  uint64_t sent;
  uint64_t amount;
};

struct line {
  struct packet packets[packets_per_reader];
  struct queue queue;  // from the Reader to the Sorter
  struct writer writers[writers_per_sorter];
  bool sorted;
};

static struct line lines[readers];
static uint32_t crc[256];  // CRC-32, a byte at a time

static void fail(const char* what, int error) {
  errno = error;
  perror(what);
  exit(1);
}

static void start(pthread_t* thread, void* (*function)(void*), void* argument) {
  const int error = pthread_create(thread, NULL, function, argument);
  if (error != 0)
    fail("starting a thread", error);
}

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count, size);
  if (memory == NULL)
    fail("allocating", errno);
  return memory;
}

static void put(struct queue* queue, struct packet* packet) {
  pthread_mutex_lock(&queue->lock);
  queue->packets[queue->put++] = packet;
  pthread_cond_signal(&queue->filled);
  pthread_mutex_unlock(&queue->lock);
}

static struct packet* take(struct queue* queue) {
  pthread_mutex_lock(&queue->lock);
  while (queue->taken == queue->put)
    pthread_cond_wait(&queue->filled, &queue->lock);
  struct packet* packet = queue->packets[queue->taken++];
  pthread_mutex_unlock(&queue->lock);
  return packet;
}

// Takes a packet's calls out of their bytes, two decimal digits a byte, low digit first, and checks
// the checksum at the end of each.
static void* Reader(void* argument) {
  struct line* line = argument;
  for (int i = 0; i < packets_per_reader; i++) {
    struct packet* packet = &line->packets[i];
    for (size_t c = 0; c < packet->calls; c++) {
      const unsigned char* bytes = packet->received + c * call_bytes;
      uint32_t check = 0;
      for (int b = 0; b < call_bytes - 4; b++)
        check = check >> 8 ^ crc[(check ^ bytes[b]) & 255];
      uint32_t expected;
      memcpy(&expected, bytes + call_bytes - 4, sizeof expected);
      if (check != expected) {
        fprintf(stderr, "billing-gateway: a call record is damaged\n");
        exit(1);
      }
      uint32_t fields[4] = {0};
      for (int field = 0; field < 4; field++) {
        for (int b = 4; b >= 0; b--) {
          const unsigned digits = bytes[field * 5 + b];
          fields[field] = fields[field] * 100 + (digits >> 4) * 10 + (digits & 15);
        }
      }
      packet->decoded[c] = (struct call){fields[0], fields[1], fields[2], fields[3]};
    }
    put(&line->queue, packet);
  }
  return NULL;
}

// Shell sort with Ciura's gaps.
static void* Sorter(void* argument) {
  static const size_t gaps[] = {160000, 72000, 32000, 14000, 6200, 2800, 1577, 701,
                                301,    132,   57,    23,    10,   4,    1};
  struct line* line = argument;
  for (int i = 0; i < packets_per_reader; i++) {
    struct packet* packet = take(&line->queue);
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
      for (size_t c = gaps[g]; c < packet->calls; c++) {
        const struct call call = packet->decoded[c];
        const uint64_t key = (uint64_t)call.subscriber << 32 | call.second;
        size_t place = c;
        while (place >= gaps[g]) {
          const struct call* before = &packet->decoded[place - gaps[g]];
          if (((uint64_t)before->subscriber << 32 | before->second) <= key)
            break;
          packet->decoded[place] = *before;
          place -= gaps[g];
        }
        packet->decoded[place] = call;
      }
    }
    for (size_t c = 1; c < packet->calls; c++)
      line->sorted =
          line->sorted && packet->decoded[c - 1].subscriber <= packet->decoded[c].subscriber;
    for (int w = 0; w < writers_per_sorter; w++)
      put(&line->writers[w].queue, packet);
  }
  return NULL;
}

// What each call costs, second by second as the tariff changes with the hour, and the bill in the
// form of the records: two decimal digits a byte.
static void* Writer(void* argument) {
  struct writer* writer = argument;
  for (int i = 0; i < packets_per_reader; i++) {
    const struct packet* packet = take(&writer->queue);
    const size_t first = packet->calls * (size_t)writer->half / writers_per_sorter;
    const size_t last = packet->calls * (size_t)(writer->half + 1) / writers_per_sorter;
    for (size_t c = first; c < last; c++) {
      const struct call* call = &packet->decoded[c];
      uint32_t amount = 0;
      for (uint32_t second = 0; second < call->seconds; second++)
        amount += (call->second + second) / 3600 < 8 ? 1 + call->zone : 2 + 3 * call->zone;
      const uint32_t fields[] = {call->subscriber, call->second, amount};
      unsigned char* bill = writer->bills + (size_t)writer->sent++ * bill_bytes;
      for (int field = 0; field < 3; field++) {
        uint32_t rest = fields[field];
        for (int b = 0; b < 5; b++, rest /= 100)
          *bill++ = (unsigned char)(rest % 100 / 10 << 4 | rest % 10);
      }
      writer->amount += amount;
    }
  }
  return NULL;
}

// The bytes of a call record, and what the call costs, which the Writers must find, too.
static uint64_t write_record(unsigned char* bytes, const uint32_t fields[4]) {
  for (int field = 0; field < 4; field++) {
    uint32_t rest = fields[field];
    for (int b = 0; b < 5; b++, rest /= 100)
      bytes[field * 5 + b] = (unsigned char)(rest % 100 / 10 << 4 | rest % 10);
  }
  uint32_t check = 0;
  for (int b = 0; b < call_bytes - 4; b++)
    check = check >> 8 ^ crc[(check ^ bytes[b]) & 255];
  memcpy(bytes + call_bytes - sizeof check, &check, sizeof check);
  uint64_t amount = 0;
  for (uint32_t second = 0; second < fields[2]; second++)
    amount += (fields[1] + second) / 3600 < 8 ? 1 + fields[3] : 2 + 3 * fields[3];
  return amount;
}

// Packets are filled with a few thousand different calls, in no order, so that making them costs
// little compared with the work. No two packets have the same size. Returns what all calls cost.
static uint64_t receive_packets(size_t calls) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    crc[byte] = byte;
    for (int bit = 0; bit < 8; bit++)
      crc[byte] = (crc[byte] >> 1) ^ (0xedb88320U & -(crc[byte] & 1));
  }
  enum { different = 1024 };
  static unsigned char records[different][call_bytes];
  uint64_t amounts[different];
  uint64_t random = 1998;
  for (size_t i = 0; i < different; i++) {
    uint32_t fields[4];
    const uint32_t ends[4] = {1000000000, 86000, 740, 5};
    for (int field = 0; field < 4; field++) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      fields[field] = (uint32_t)(random >> 33) % ends[field];
    }
    amounts[i] = write_record(records[i], fields);
  }
  uint64_t amount = 0;
  for (int r = 0; r < readers; r++) {
    for (int i = 0; i < packets_per_reader; i++) {
      struct packet* packet = &lines[r].packets[i];
      packet->calls = calls - calls * (size_t)(r * packets_per_reader + i) / 100;
      packet->received = allocate(packet->calls, call_bytes);
      packet->decoded = allocate(packet->calls, sizeof *packet->decoded);
      for (size_t c = 0; c < packet->calls; c++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        memcpy(packet->received + c * call_bytes, records[random >> 54], call_bytes);
        amount += amounts[random >> 54];
      }
    }
  }
  return amount;
}

static void initialise(struct queue* queue) {
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->filled, NULL);
}

int main(int argc, char** argv) {
  const long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 420000;
  if (argc > 2 || calls < 1 || calls > 1000000) {
    fprintf(stderr, "usage: billing-gateway [CALLS]\n");
    return 2;
  }
  const uint64_t expected = receive_packets((size_t)calls);

  pthread_t threads[readers][2 + writers_per_sorter];
  for (int r = 0; r < readers; r++) {
    initialise(&lines[r].queue);
    lines[r].sorted = true;
    for (int w = 0; w < writers_per_sorter; w++) {
      struct writer* writer = &lines[r].writers[w];
      initialise(&writer->queue);
      writer->half = w;
      writer->bills = allocate((size_t)calls * packets_per_reader, bill_bytes);
    }
    start(&threads[r][0], Reader, &lines[r]);
    start(&threads[r][1], Sorter, &lines[r]);
    for (int w = 0; w < writers_per_sorter; w++)
      start(&threads[r][2 + w], Writer, &lines[r].writers[w]);
  }
  uint64_t bills = 0;
  uint64_t amount = 0;
  bool sorted = true;
  for (int r = 0; r < readers; r++) {
    for (int i = 0; i < 2 + writers_per_sorter; i++)
      pthread_join(threads[r][i], NULL);
    for (int w = 0; w < writers_per_sorter; w++) {
      bills += lines[r].writers[w].sent;
      amount += lines[r].writers[w].amount;
    }
    sorted = sorted && lines[r].sorted;
  }
  if (!sorted || amount != expected) {
    fprintf(stderr, "billing-gateway: %s\n",
            sorted ? "the calls cost something else" : "not in order");
    return 1;
  }
  printf("%" PRIu64 " bills, %" PRIu64 " in all\n", bills, amount);
  return 0;
}
