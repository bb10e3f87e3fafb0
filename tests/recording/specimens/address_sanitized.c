/* The address sanitizer refuses to run behind another preloaded library. */
#include <pthread.h>

static void* nothing(void* unused) {
  return unused;
}

int main(void) {
  pthread_t thread;
  return pthread_create(&thread, NULL, nothing, NULL) != 0 || pthread_join(thread, NULL) != 0;
}
