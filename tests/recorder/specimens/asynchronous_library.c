// The one call of libaio that waits.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <errno.h>

int io_getevents(void* context, long least, long most, void* events, struct timespec* timeout);
int io_getevents(void* context, long least, long most, void* events, struct timespec* timeout) {
  const int errno_before = errno;
  const long result = syscall(SYS_io_getevents, context, least, most, events, timeout);
  const int error = errno;
  errno = errno_before;
  return result < 0 ? -error : (int)result;
}
