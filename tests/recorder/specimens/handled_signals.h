#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

// Whether somebody in this process handles it, as the kernel has it, and not as a library would have us believe.
static int is_handled(int signal) {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } present = {0};
  return syscall(SYS_rt_sigaction, signal, NULL, &present, sizeof present.mask) == 0 &&
         present.handler != SIG_DFL && present.handler != SIG_IGN;
}
