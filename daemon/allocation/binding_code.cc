#include "allocation/binding_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace longpole::allocation {
namespace {

constexpr std::size_t code_width = 100;

// The CPUs in order of threads, as a list of C.
std::string initializers(const Binding& binding) {
  std::string text;
  std::string line = "       ";
  for (std::size_t i = 0; i < binding.size(); ++i) {
    const std::string item = fmt::format(" {}{}", binding[i], i + 1 < binding.size() ? "," : "");
    if (line.size() + item.size() > code_width) {
      text += line + "\n";
      line = "       ";
    }
    line += item;
  }
  return text + line;
}

}  // namespace

std::string binding_code(const Binding& binding) {
  return fmt::format(
      R"(In the program, with the threads numbered as they are created (the first is 0): call
bind_thread() in each of them first of all.

  static void bind_thread(unsigned number) {{ // needs _GNU_SOURCE, pthread.h and sched.h
    static const unsigned short cpu_of[] = {{
{}}};
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu_of[number], &cpus);
    pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
  }}

From outside, once all threads of process PID are there:

  set -- {}
  for thread in $(ls /proc/PID/task | sort -n); do taskset -cp $1 $thread; shift; done
)",
      initializers(binding), fmt::join(binding, " "));
}

}  // namespace longpole::allocation
