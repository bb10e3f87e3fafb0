// The recorder's twin that does nothing: what it costs to stand between a program and its library alone.
#include <dlfcn.h>
#include <pthread.h>

static int (*next_lock)(pthread_mutex_t*);
static int (*next_unlock)(pthread_mutex_t*);

__attribute__((constructor)) static void find_next(void) {
  *(void**)&next_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  *(void**)&next_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (next_lock == NULL)
    find_next();
  return next_lock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  if (next_unlock == NULL)
    find_next();
  return next_unlock(mutex);
}
