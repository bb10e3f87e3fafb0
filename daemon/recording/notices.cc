#include "recording/notices.h"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "recording/sample_rate.h"
#include "recording/stolen_time.h"

namespace longpole::recording {
namespace {

std::string duration_text(std::int64_t nanoseconds) {
  const double seconds = static_cast<double>(nanoseconds) / 1e9;
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.1f} s", seconds);
}

std::string stop_text(const longpole_control& control) {
  switch (control.stop_reason) {
    case LONGPOLE_STOP_NO_SPACE:
      if (control.stop_errno == EFBIG)
        return "The recording ends early because a file of it has reached the limit on the size of "
               "files; raise that (ulimit -f).";
      return "The recording ends early because there was no space left for it; make room, or set "
             "TMPDIR to a larger disk.";
    case LONGPOLE_STOP_TOO_MANY_UNITS:
      return "The recording ends early because it reached the limit on its size; record a shorter "
             "run.";
    default:
      return fmt::format(
          "The recording ends early because the system refused memory for it ({}); record a "
          "shorter "
          "run.",
          std::strerror(static_cast<int>(control.stop_errno)));
  }
}

std::string name_of_successor(const longpole_control& control) {
  if (control.ending != LONGPOLE_ENDING_EXEC || control.becomes[0] == '\0')
    return "another one";
  return {control.becomes, ::strnlen(control.becomes, sizeof(control.becomes))};
}

// Each once, with how often.
std::string unfollowed_text(const std::vector<std::string>& unfollowed) {
  constexpr std::size_t most_named = 3;
  std::map<std::string, std::size_t> often;
  for (const std::string& program : unfollowed)
    ++often[program];
  std::string text = unfollowed.size() == 1
                         ? std::string("One program that was started")
                         : fmt::format("{} programs that were started", unfollowed.size());
  text += " could not be recorded: ";
  std::size_t named = 0;
  for (const auto& [program, times] : often) {
    if (named == most_named)
      return text + fmt::format("; and {} others.", often.size() - named);
    text += fmt::format("{}{}{}", named == 0 ? "" : "; ", program,
                        times > 1 ? fmt::format(", {} times", times) : "");
    ++named;
  }
  return text + ".";
}

// Of the program's CPUs by the host of a virtual machine, where it is more than the steps of its counter and telling.
std::optional<std::int64_t> telling_stolen_time(const Result& result) {
  constexpr std::int64_t least_ns = 50'000'000;
  constexpr std::int64_t telling = 20;  // a part in so many of the run
  const std::int64_t stolen = StolenTime(result.stolen, result.started_ns).total();
  if (stolen < least_ns || stolen * telling < (result.ended_ns - result.started_ns) * result.cpus)
    return std::nullopt;
  return stolen;
}

}  // namespace

std::vector<Notice> notices_of(const MergeInput& input, const Losses& losses) {
  std::vector<Notice> notices;
  const Result& result = input.result;
  const longpole_control& control = input.control;
  if (!result.perf_refused.empty())
    notices.push_back({"perf-refused",
                       fmt::format("CPU times come from thread clocks and samples from timers, "
                                   "which is coarser, because {}.",
                                   result.perf_refused),
                       0});
  if (result.lockstep != 0 && control.lockstep_cpus == 0)
    notices.push_back({"lockstep-refused",
                       "The threads could not be kept in step, for the program uses all real-time "
                       "signals; it ran as the kernel had it.",
                       0});
  else if (result.lockstep != 0)
    notices.push_back(
        {std::string(lockstep_code),
         fmt::format("Recorded in lockstep for {} CPUs: how long threads spin and which of them "
                     "takes what work is as there, and holds for that number.",
                     result.lockstep),
         result.lockstep});
  constexpr std::int64_t costly = 3;  // times what the program itself computes
  if (const std::int64_t own = losses.computed_ns, others = result.cpu_time_ns - own;
      result.lockstep != 0 && own > 0 && others > own * costly)
    notices.push_back(
        {"lockstep-costly",
         fmt::format("Keeping the threads in step took {} of CPU time, {:.0f} times "
                     "what the program has left, as it calls so often. What of that "
                     "could not be taken out again makes its CPU times longer than "
                     "they are; without lockstep they are not.",
                     duration_text(others), static_cast<double>(others) / static_cast<double>(own)),
         0});
  if (result.stopped)
    notices.push_back(
        {"cut-short", "The program was stopped; all that it did until then is here.", 0});
  else if (result.exit_signal)
    notices.push_back({"cut-short",
                       fmt::format("The program was ended by a signal ({}); all that it did until "
                                   "then is here.",
                                   ::strsignal(*result.exit_signal)),
                       0});
  if (input.ending == Ending::unseen)
    notices.push_back({"cut-short",
                       "The process was killed, or ended by a system call of its own; all that it "
                       "did until then is here.",
                       0});
  else if (input.ending == Ending::running)
    notices.push_back({"cut-short",
                       "The process still ran when the one that was recorded first had ended; all "
                       "that it did until then is here.",
                       0});
  if (!input.unfollowed.empty())
    notices.push_back(
        {"children-not-recorded", unfollowed_text(input.unfollowed), input.unfollowed.size()});
  if (control.stop_reason != LONGPOLE_STOP_NONE)
    notices.push_back({"recording-stopped", stop_text(control), control.dropped});
  else if (control.dropped + losses.damaged_chunks != 0)
    notices.push_back({"records-dropped",
                       "Some recorded calls were lost; waits and wake-ups near them may be wrong.",
                       control.dropped + losses.damaged_chunks});
  if (!result.spool_error.empty())
    notices.push_back({"recording-stopped",
                       fmt::format("CPU times and samples end early ({}); make room, set TMPDIR to "
                                   "a larger disk, or raise the limit on files (ulimit -f).",
                                   result.spool_error),
                       0});
  if (input.kernel.lost != 0 || input.kernel.torn)
    notices.push_back({"samples-lost",
                       "The kernel dropped samples or context switches; CPU times near them may be "
                       "wrong. Record with a lower --rate, or on a quieter machine.",
                       input.kernel.lost});
  // The user's own, for there is no other in step; what was asked for is what is done.
  if (const std::uint32_t better_hz = out_of_step_hz(result.sample_hz, result.ticks_hz);
      result.kernel_source && losses.several_threads && better_hz != 0 &&
      better_hz != result.sample_hz)
    notices.push_back({"samples-in-step",
                       fmt::format("{} samples a second are in step with the {} ticks of the "
                                   "kernel at which threads take "
                                   "turns: shares of lines that count more at the beginning of a "
                                   "turn may be wrong. Record "
                                   "without --rate, or with --rate {}.",
                                   result.sample_hz, result.ticks_hz, better_hz),
                       0});
  if (losses.futex_waits != 0)
    notices.push_back(
        {"dependencies-may-be-missing",
         "Dependencies may be missing: the program waits by system calls of its own (std::future, "
         "std::atomic::wait, std::latch, std::counting_semaphore, oneTBB). Who woke whom is known "
         "there; what a thread found done, and did not wait for, is not. In code of your own, "
         "longpole/sync.h stands in for those of C++20 and is recorded exactly.",
         losses.futex_waits});
  else if (input.may_wait_unseen)
    notices.push_back(
        {"dependencies-may-be-missing",
         "Dependencies may be missing: the program can wait in ways of its own "
         "(std::atomic::wait, std::latch, std::counting_semaphore, oneTBB, GCC's OpenMP), and what "
         "it found done there, and did not wait for, is not known. In code of your own, "
         "longpole/sync.h stands in for those of C++20 and is recorded exactly.",
         0});
  constexpr std::int64_t worth_saying = 100;  // a part in so many of the run
  if (losses.several_threads && !input.kernel.has_wakes &&
      losses.unexplained_ns * worth_saying > result.ended_ns - result.started_ns)
    notices.push_back({"wakers-unknown",
                       fmt::format("Threads waited in no recorded call, {} in all, and who "
                                   "woke them is not known: the simulation does not know what they "
                                   "wait for. A recording as root, with tracefs mounted on "
                                   "/sys/kernel/tracing, sees wake-ups.",
                                   duration_text(losses.unexplained_ns)),
                       losses.unexplained_waits});
  if (losses.polls.rows != 0)
    notices.push_back({"polls",
                       fmt::format("Threads waited for a limited time and looked whether something "
                                   "was done, again and again, "
                                   "{} times in all: {} such waits is taken for one wait, for what "
                                   "seems to have ended it.",
                                   losses.polls.waits,
                                   losses.polls.rows == 1
                                       ? std::string("the row of")
                                       : fmt::format("each of the {} rows of", losses.polls.rows)),
                       losses.polls.waits});
  if (losses.polls.unexplained_waits != 0)
    notices.push_back(
        {"polls-unexplained",
         fmt::format(
             "A thread waited for a limited time again and again, {} times, and no recorded call "
             "shows what "
             "for: it does so as often on any number of CPUs. If that is for other threads, the "
             "program is "
             "faster than predicted there; with a condition variable or a join it would be seen.",
             losses.polls.unexplained_waits),
         losses.polls.unexplained_waits});
  if (result.stacks_left_out)
    notices.push_back({"stacks-left-out",
                       "The run was so long that its later samples have call paths from frame "
                       "pointers alone; record with a lower --rate.",
                       0});
  const bool was_replaced =
      input.kernel.execs > 1 || (control.ending == LONGPOLE_ENDING_EXEC && !input.follow);
  if (!losses.several_threads && !was_replaced)
    notices.push_back(
        {"no-threads-created",
         fmt::format("The program created no thread with pthread_create, so more CPUs cannot make "
                     "it faster.{}",
                     input.follow ? "" : " If programs that it starts do, record with --follow."),
         0});
  if (control.function_depth != 0 && !losses.entered_functions)
    notices.push_back(
        {"functions-not-recorded",
         "No function of the program says when it is entered and left, so functions "
         "come from samples and their calls are not counted; compile and link it with "
         "-finstrument-functions.",
         0});
  if (was_replaced)
    notices.push_back({"program-replaced",
                       fmt::format("The program replaced itself by {} (exec), whose calls were not "
                                   "recorded; record that one directly, or with --follow.",
                                   name_of_successor(control)),
                       std::max<std::uint64_t>(input.kernel.execs, 2) - 1});
  if (const auto stolen = telling_stolen_time(result))
    notices.push_back(
        {"cpu-stolen",
         fmt::format("The host of this virtual machine gave the CPU to others for {} of the run. "
                     "That is taken out of the CPU times, a tenth of a second at a time: "
                     "what ran for less may seem longer or shorter than it is.",
                     duration_text(*stolen)),
         static_cast<std::uint64_t>(*stolen)});
  return notices;
}

}  // namespace longpole::recording
