/* Spends its time in a function of libc that keeps no frame pointer, called by functions that keep
 * none either. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { length = 1 << 18 };
static volatile char sink;

__attribute__((noinline)) static void copy_all(char* to, const char* from, int times) {
  for (int i = 0; i < times; ++i) {
    memcpy(to, from, length);
    sink = to[i & 1023];
  }
}

__attribute__((noinline)) static void prepare(char* memory) {
  volatile char local[256];
  local[3] = 1;
  memset(memory, local[3], length);
  copy_all(memory + length, memory, 40000);
  sink = local[3];
}

static void* work(void* argument) {
  char* memory = malloc(2 * (size_t)length);
  if (memory != NULL)
    prepare(memory);
  free(memory);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  return 0;
}
