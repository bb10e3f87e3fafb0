// Loads a library that has threads, uses it and unloads it, three times.
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  for (int i = 0; i < 3; ++i) {
    void* library = dlopen(PLUGIN_PATH, RTLD_NOW);
    if (library == NULL) {
      printf("%s\n", dlerror());
      return 1;
    }
    int (*total)(void);
    *(void**)&total = dlsym(library, "plugin_total");
    int (*events)(void);
    *(void**)&events = dlsym(library, "plugin_events");
    printf("total %d, events %d\n", total(), events());
    dlclose(library);
  }
  return 0;
}
