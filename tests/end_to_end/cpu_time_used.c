// Preloaded into longpole and with it into the program that it records: each, as it ends, writes
// down the CPU time that the kernel says it used, in nanoseconds, into the folder CPU_TIME_USED, in
// a file with its own name. An opinion independent of the recorder's.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

__attribute__((destructor)) static void write_cpu_time(void) {
  const char* folder = getenv("CPU_TIME_USED");
  struct rusage usage;
  char path[4096];
  if (folder == NULL || getrusage(RUSAGE_SELF, &usage) != 0)
    return;
  snprintf(path, sizeof path, "%s/%s.cpu-time", folder, program_invocation_short_name);
  FILE* file = fopen(path, "w");
  if (file == NULL)
    return;
  fprintf(file, "%lld\n",
          (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL +
              (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL);
  fclose(file);
}
