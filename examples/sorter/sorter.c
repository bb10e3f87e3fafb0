// The integer sorting program of the 1999 report, section 5.
//
//   main ── 7 × initThr ─▶ init_data    reads its share of the file, one reader at a time
//                             └─▶ 7 × bubble_sort   a thread of its own, started when it is read
//        ── 7 × thrMerge ─▶ merge       inserts one sorted share into the one list, one at a time
//
// Usage: sorter FILE | sorter --make-input FILE [NUMBERS_PER_THREAD]
//
// With QUICK_SORT defined, the shares are sorted by quick_sort instead, and nothing else changes.
//
// The file is encrypted, to give reading a character back its weight: it took 7.6 µs in the report
// (Figure 10), and would take no longer than a step of the bubble sort today.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { threads = 7, default_share = 12000, longest_number = 20 };

static int file;
static size_t file_position;  // of the next character that read_wrapper reads
static pthread_mutex_t file_lock = PTHREAD_MUTEX_INITIALIZER;

struct number {
  int64_t value;
  char digits[longest_number + 1];
};

static size_t share;  // numbers per thread
static struct number* shares[threads];
static pthread_t sorters[threads];

static int64_t* list;  // all numbers so far, ascending
static size_t list_length;
static sem_t list_lock;

static void fail(const char* what) {
  fprintf(stderr, "sorter: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void start(pthread_t* thread, void* (*function)(void*), size_t number) {
  errno = pthread_create(thread, NULL, function, (void*)number);
  if (errno != 0)
    fail("starting a thread");
}

#ifdef QUICK_SORT

static void quick_sort(struct number* numbers, ptrdiff_t left, ptrdiff_t right) {
  const int64_t pivot = numbers[left + (right - left) / 2].value;
  ptrdiff_t i = left;
  ptrdiff_t j = right;
  while (i <= j) {
    while (numbers[i].value < pivot)
      i++;
    while (numbers[j].value > pivot)
      j--;
    if (i <= j) {
      const struct number number = numbers[i];
      numbers[i++] = numbers[j];
      numbers[j--] = number;
    }
  }
  if (left < j)
    quick_sort(numbers, left, j);
  if (i < right)
    quick_sort(numbers, i, right);
}

static void* sort_share(void* number) {
  quick_sort(shares[(size_t)number], 0, (ptrdiff_t)share - 1);
  return NULL;
}

static void* (*const sort_function)(void*) = sort_share;

#else

static void* bubble_sort(void* number) {
  struct number* numbers = shares[(size_t)number];
  bool swapped = true;
  while (swapped) {
    swapped = false;
    for (size_t i = 1; i < share; i++) {
      if (numbers[i - 1].value > numbers[i].value) {
        const struct number larger = numbers[i - 1];
        numbers[i - 1] = numbers[i];
        numbers[i] = larger;
        swapped = true;
      }
    }
  }
  return NULL;
}

static void* (*const sort_function)(void*) = bubble_sort;

#endif

// Number after number goes to its place in the list; the larger ones move up by one.
static void merge(const struct number* numbers) {
  sem_wait(&list_lock);
  for (size_t i = 0; i < share; i++) {
    size_t place = list_length++;
    while (place > 0 && list[place - 1] > numbers[i].value) {
      list[place] = list[place - 1];
      place--;
    }
    list[place] = numbers[i].value;
  }
  sem_post(&list_lock);
}

static void* thrMerge(void* number) {
  pthread_join(sorters[(size_t)number], NULL);
  merge(shares[(size_t)number]);
  return NULL;
}

static int64_t atoi_wrapper(const char* digits) {
  return strtoll(digits, NULL, 10);
}

// The next character of the file; '\0' at its end. Decrypts it: XTEA with 64 cycles in counter
// mode, a block a character.
static char read_wrapper(void) {
  static const uint32_t key[4] = {0x56505042, 0x19980330, 0x4c4f4e47, 0x504f4c45};
  static char buffer[4096];
  static ssize_t filled;
  const size_t at = file_position % sizeof buffer;
  if (at == 0)
    filled = read(file, buffer, sizeof buffer);
  if (filled < 0)
    fail("reading the file");
  if ((ssize_t)at >= filled)
    return '\0';
  uint32_t left = 0;
  uint32_t right = (uint32_t)file_position++;
  uint32_t sum = 0;
  for (int cycle = 0; cycle < 64; cycle++) {
    left += (((right << 4) ^ (right >> 5)) + right) ^ (sum + key[sum & 3]);
    sum += 0x9e3779b9;
    right += (((left << 4) ^ (left >> 5)) + left) ^ (sum + key[(sum >> 11) & 3]);
  }
  return (char)(buffer[at] ^ (char)left);
}

// The next share of the file, a number a line, whichever thread comes first.
static void init_data(size_t number) {
  struct number* numbers = calloc(share, sizeof *numbers);
  if (numbers == NULL)
    fail("allocating a share");
  pthread_mutex_lock(&file_lock);
  for (size_t i = 0; i < share; i++) {
    char character = read_wrapper();
    for (size_t at = 0; character != '\n' && at < longest_number; at++) {
      numbers[i].digits[at] = character;
      character = read_wrapper();
    }
  }
  pthread_mutex_unlock(&file_lock);
  for (size_t i = 0; i < share; i++)
    numbers[i].value = atoi_wrapper(numbers[i].digits);
  shares[number] = numbers;
}

static void* initThr(void* number) {
  init_data((size_t)number);
  start(&sorters[(size_t)number], sort_function, (size_t)number);
  return NULL;
}

// The first line says how many numbers each thread gets.
static size_t read_share(void) {
  char digits[longest_number + 1] = "";
  for (size_t at = 0; at < longest_number; at++) {
    digits[at] = read_wrapper();
    if (digits[at] == '\n')
      break;
  }
  const int64_t numbers = atoi_wrapper(digits);
  if (numbers <= 0 || numbers > 1000000) {
    fprintf(stderr, "sorter: this is no file of numbers; make one with sorter --make-input\n");
    exit(2);
  }
  return (size_t)numbers;
}

static int sort_file(const char* path) {
  pthread_t readers[threads];
  pthread_t mergers[threads];
  file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    fail(path);
  share = read_share();
  list = calloc(threads * share, sizeof *list);
  if (list == NULL || sem_init(&list_lock, 0, 1) != 0)
    fail("preparing the list");

  for (size_t i = 0; i < threads; i++)
    start(&readers[i], initThr, i);
  for (size_t i = 0; i < threads; i++)
    pthread_join(readers[i], NULL);
  for (size_t i = 0; i < threads; i++)
    start(&mergers[i], thrMerge, i);
  for (size_t i = 0; i < threads; i++)
    pthread_join(mergers[i], NULL);

  uint64_t sum_read = 0;
  for (size_t i = 0; i < threads; i++) {
    for (size_t j = 0; j < share; j++)
      sum_read += (uint64_t)shares[i][j].value;
    free(shares[i]);
  }
  bool sorted = true;
  uint64_t sum = 0;
  uint64_t checksum = 0;
  for (size_t i = 0; i < list_length; i++) {
    sorted = sorted && (i == 0 || list[i - 1] <= list[i]);
    sum += (uint64_t)list[i];
    checksum = checksum * 31 + (uint64_t)list[i];
  }
  free(list);
  close(file);
  if (!sorted || sum != sum_read || list_length != threads * share) {
    fprintf(stderr, "sorter: the list is wrong\n");
    return 1;
  }
  printf("sorted %zu numbers, checksum %016" PRIx64 "\n", list_length, checksum);
  return 0;
}

// Writes the numbers as text, and then, read_wrapper being its own inverse, what read_wrapper makes
// of it.
static int make_input(const char* path, size_t numbers_per_thread) {
  const size_t size = (threads * numbers_per_thread + 1) * longest_number;
  char* text = malloc(size + 1);
  file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (text == NULL || file < 0)
    fail(path);
  size_t length = (size_t)sprintf(text, "%zu\n", numbers_per_thread);
  uint64_t random = 1999;
  for (size_t i = 0; i < threads * numbers_per_thread; i++) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const uint64_t number = (random ^ (random >> 32)) % 1000000000000000000U;
    length += (size_t)sprintf(text + length, "%" PRIu64 "\n", number);
  }
  if (write(file, text, length) != (ssize_t)length || lseek(file, 0, SEEK_SET) != 0)
    fail(path);
  for (size_t i = 0; i < length; i++)
    text[i] = read_wrapper();
  if (pwrite(file, text, length, 0) != (ssize_t)length || close(file) != 0)
    fail(path);
  free(text);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2 && argv[1][0] != '-')
    return sort_file(argv[1]);
  if ((argc == 3 || argc == 4) && strcmp(argv[1], "--make-input") == 0) {
    const long numbers = argc == 4 ? strtol(argv[3], NULL, 10) : default_share;
    if (numbers > 0 && numbers <= 1000000)
      return make_input(argv[2], (size_t)numbers);
  }
  fprintf(stderr, "usage: sorter FILE | sorter --make-input FILE [NUMBERS_PER_THREAD]\n");
  return 2;
}
