// The library that plugins.c loads: it starts threads of its own while it is being loaded, and brings another one, which has a
// function that is not libc's.
#include <pthread.h>
#include <time.h>

int io_getevents(void* context, long least, long most, void* events, struct timespec* timeout);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread int calls;
static int total;

static void* works(void* unused) {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    ++calls;
    ++total;
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, works, NULL);
  pthread_join(thread, NULL);
}

int plugin_total(void);
int plugin_total(void) {
  start();
  return total;
}

int plugin_events(void);
int plugin_events(void) {
  return io_getevents(NULL, 0, 0, NULL, NULL);
}
