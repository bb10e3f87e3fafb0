// Becomes itself again, after a look at its environment and with a child that looks at its own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

int main(int argc, char** argv) {
  const char* preloaded = getenv("LD_PRELOAD");
  const char* directory = getenv("LONGPOLE_RUN_DIRECTORY");
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  // The idle recorder stays where the user has put it; what is asked is that a recording one goes.
  if (directory != NULL || (preloaded != NULL && argc > 2)) {
    printf("still there\n");
  }
  if (argc < 2) {
    fflush(stdout);
    if (system("test -z \"$LONGPOLE_RUN_DIRECTORY\"") != 0) {
      printf("a child is left with it\n");
    }
    fflush(stdout);
    execl(argv[0], argv[0], "again", (char*)NULL);
    return 1;
  }
  printf("%s\n", argv[1]);
  return 4;
}
