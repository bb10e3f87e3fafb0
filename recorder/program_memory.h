// The program's memory, read by the kernel: what is not there cannot be read, and does no harm.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

#include "process.h"

namespace longpole::recorder {

// Returns how many of the bytes there are. While recording(). May set errno.
inline std::size_t read_memory(std::uintptr_t address, void* to, std::size_t bytes) {
  const iovec there{reinterpret_cast<void*>(address), bytes};
  const iovec here{to, bytes};
  const ssize_t read = process_vm_readv(control().pid, &here, 1, &there, 1, 0);
  return read > 0 ? static_cast<std::size_t>(read) : 0;
}

}  // namespace longpole::recorder
