// A pipe to a child, and values that go through it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "recording/system.h"

namespace longpole::recording {

// Without ends where the system has none.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
      return;
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }

  Descriptor out;
  Descriptor in;
};

// False when nobody says anything any more.
template <typename Value>
bool hear(const Pipe& pipe, Value& value) {
  return ::read(pipe.out.get(), &value, sizeof value) == sizeof value;
}

template <typename Value>
bool say(const Pipe& pipe, const Value& value) {
  return ::write(pipe.in.get(), &value, sizeof value) == sizeof value;
}

}  // namespace longpole::recording
