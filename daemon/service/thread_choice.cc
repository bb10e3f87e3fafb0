#include "service/thread_choice.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "service/marshalling.h"

namespace longpole::service {

Expected<ThreadChoice> choose_threads(const OpenRecording& opened,
                                      const v1::ThreadChoice& message) {
  const std::unordered_set<std::string> names(message.names().begin(), message.names().end());
  const std::unordered_set<std::string> functions(message.functions().begin(),
                                                  message.functions().end());
  const Recording& recording = opened.recording();
  ThreadChoice choice;
  for (std::uint32_t id = 0; id < recording.threads.size(); ++id) {
    const Thread& thread = recording.threads[id];
    if (names.contains(to_utf8(thread.name)) ||
        (thread.start_function.known() &&
         functions.contains(function_name(recording, thread.start_function))))
      choice.threads.push_back(ThreadId{id});
  }
  if (choice.threads.empty())
    return not_found("cannot show these threads alone",
                     "no thread of the recording is called so, or was created with such a function",
                     "show all threads, or name some that it has: GetThreads lists them");
  choice.sums = opened.sums_of(choice.threads);
  return choice;
}

}  // namespace longpole::service
