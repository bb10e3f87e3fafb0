/* Prints its arguments, a variable, where it is and how many CPUs it is told of; then something on
 * standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    printf("%s\n", argv[i]);
  char directory[4096];
  printf("%s\n%s\n%ld\n", getenv("SPECIMEN"), getcwd(directory, sizeof directory),
         sysconf(_SC_NPROCESSORS_ONLN));
  fputs("complaint\n", stderr);
}
