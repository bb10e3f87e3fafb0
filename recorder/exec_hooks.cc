// Becoming another program, starting one, and leaving. Where children are followed, each process's recording ends when it
// does, and what was started and could not record is known; where they are not, a recording ends with the program.
#include <spawn.h>
#include <unistd.h>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>

#include "next_definition.h"
#include "process.h"
#include "run_directory.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

template <auto kBecome, typename... Arguments>
int become(const char* program, Arguments... arguments) {
  const auto function = next().*kBecome;
  const bool is_followed = follows_children();
  if (is_followed) {
    note_launch(getpid(), program, false);
  }
  mark_ending(LONGPOLE_ENDING_EXEC, program);
  const int result = function(program, arguments...);
  const int errno_before = errno;
  mark_ending(LONGPOLE_ENDING_UNKNOWN);
  if (is_followed) {
    note_launch(getpid(), program, true);
  }
  errno = errno_before;
  return result;
}

template <auto kSpawn, typename... Arguments>
int spawn(pid_t* child, const char* program, Arguments... arguments) {
  pid_t unwanted = 0;
  pid_t* const pid = child != nullptr ? child : &unwanted;
  const int result = (next().*kSpawn)(pid, program, arguments...);
  if (result == 0 && follows_children()) {
    const int errno_before = errno;
    note_launch(*pid, program, false);
    errno = errno_before;
  }
  return result;
}

// The arguments of a call that lists them, `first` and the null pointer behind the last included, in an array
// on the caller's stack.
#define LONGPOLE_LISTED_ARGUMENTS(first, list)                                                 \
  va_list list;                                                                                \
  va_start(list, first);                                                                       \
  std::size_t count = 0;                                                                       \
  for (const char* one = first; one != nullptr; one = va_arg(list, char*)) {                   \
    ++count;                                                                                   \
  }                                                                                            \
  va_end(list);                                                                                \
  auto** const arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  arguments[0] = const_cast<char*>(first);                                                     \
  va_start(list, first);                                                                       \
  for (std::size_t i = 1; i <= count; ++i) {                                                   \
    arguments[i] = va_arg(list, char*);                                                        \
  }

}  // namespace
}  // namespace longpole::recorder

using namespace longpole::recorder;

LONGPOLE_HOOK int execve(const char* program, char* const arguments[],
                         char* const environment[]) noexcept {
  return become<&NextDefinitions::execve>(program, arguments, environment);
}

LONGPOLE_HOOK int execv(const char* program, char* const arguments[]) noexcept {
  return become<&NextDefinitions::execv>(program, arguments);
}

LONGPOLE_HOOK int execvp(const char* program, char* const arguments[]) noexcept {
  return become<&NextDefinitions::execvp>(program, arguments);
}

LONGPOLE_HOOK int execvpe(const char* program, char* const arguments[],
                          char* const environment[]) noexcept {
  return become<&NextDefinitions::execvpe>(program, arguments, environment);
}

LONGPOLE_HOOK int execl(const char* program, const char* first, ...) noexcept {
  LONGPOLE_LISTED_ARGUMENTS(first, list)
  va_end(list);
  return become<&NextDefinitions::execv>(program, arguments);
}

LONGPOLE_HOOK int execlp(const char* program, const char* first, ...) noexcept {
  LONGPOLE_LISTED_ARGUMENTS(first, list)
  va_end(list);
  return become<&NextDefinitions::execvp>(program, arguments);
}

LONGPOLE_HOOK int execle(const char* program, const char* first, ...) noexcept {
  LONGPOLE_LISTED_ARGUMENTS(first, list)
  char* const* const environment = va_arg(list, char* const*);
  va_end(list);
  return become<&NextDefinitions::execve>(program, arguments, environment);
}

LONGPOLE_HOOK int posix_spawn(pid_t* child, const char* program,
                              const posix_spawn_file_actions_t* files,
                              const posix_spawnattr_t* attributes, char* const arguments[],
                              char* const environment[]) {
  return spawn<&NextDefinitions::posix_spawn>(child, program, files, attributes, arguments,
                                              environment);
}

LONGPOLE_HOOK int posix_spawnp(pid_t* child, const char* program,
                               const posix_spawn_file_actions_t* files,
                               const posix_spawnattr_t* attributes, char* const arguments[],
                               char* const environment[]) {
  return spawn<&NextDefinitions::posix_spawnp>(child, program, files, attributes, arguments,
                                               environment);
}

// NOLINTBEGIN(bugprone-reserved-identifier): POSIX's own.
LONGPOLE_HOOK void _exit(int status) {
  mark_ending(LONGPOLE_ENDING_EXIT);
  next()._exit(status);
  __builtin_unreachable();
}

LONGPOLE_HOOK void _Exit(int status) noexcept {
  mark_ending(LONGPOLE_ENDING_EXIT);
  next()._Exit(status);
  __builtin_unreachable();
}
// NOLINTEND(bugprone-reserved-identifier)
