// What the results of C11's thread functions mean as errno values.
#pragma once

#include <threads.h>
#include <cerrno>

namespace longpole::recorder {

constexpr int errno_of_c11(int result) {
  switch (result) {
    case thrd_success:
      return 0;
    case thrd_busy:
      return EBUSY;
    case thrd_timedout:
      return ETIMEDOUT;
    case thrd_nomem:
      return ENOMEM;
    default:
      return EINVAL;
  }
}

}  // namespace longpole::recorder
