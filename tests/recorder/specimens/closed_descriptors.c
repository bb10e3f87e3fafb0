// Closes every descriptor, as daemons do, opens files of its own in their place, and works on until
// the recorder needs room.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(void) {
  for (int descriptor = 3; descriptor < 2048; ++descriptor) {
    close(descriptor);
  }
  char name[] = "/tmp/longpole-specimen-XXXXXX";
  const int first = mkstemp(name);
  unlink(name);
  for (int descriptor = first + 1; descriptor < 1020; ++descriptor) {
    dup2(first, descriptor);
  }
  for (int i = 0; i < 20000; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  struct stat status;
  fstat(first, &status);
  printf("first %d, its file has %ld bytes\n", first, (long)status.st_size);
  return 0;
}
