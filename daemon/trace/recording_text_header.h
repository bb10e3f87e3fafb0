// The lines of a text recording above its events: the run, the tables, the threads. README.md has
// the grammar.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/recording.h"
#include "trace/text_line.h"
#include "trace/text_tables.h"

namespace longpole {

// Threads of a text recording, in the order in which they are first mentioned. Each must also be
// there: have a line of its own, stand in the header, or be created.
class MentionedThreads {
 public:
  MentionedThreads(Recording& recording, TextTables& tables, const Limits& limits)
      : recording_(recording), tables_(tables), limits_(limits) {}

  [[nodiscard]] Expected<ThreadId> mention(const TextLine& line, const Word& word);
  void note_there(ThreadId thread) { there_[thread.index()] = true; }
  [[nodiscard]] bool is_there(ThreadId thread) const { return there_[thread.index()]; }
  [[nodiscard]] Expected<void> all_there() const;

 private:
  Recording& recording_;
  TextTables& tables_;
  const Limits& limits_;
  std::vector<bool> there_;
  std::vector<Error> if_not_there_;  // by thread: what to say, with the line of its first mention
};

// What the header may leave to be worked out from the events.
struct HeaderTimes {
  std::optional<Nanoseconds> elapsed{};
  std::optional<Nanoseconds> cpu_time{};
};

class RecordingHeaderReader {
 public:
  RecordingHeaderReader(Recording& recording, TextTables& tables, MentionedThreads& threads,
                        const Limits& limits)
      : recording_(recording), tables_(tables), threads_(threads), limits_(limits) {}

  [[nodiscard]] Expected<void> read(TextLine& line);
  [[nodiscard]] const HeaderTimes& times() const { return times_; }

 private:
  using Handler = Expected<void> (RecordingHeaderReader::*)(TextLine&);
  struct Form {
    std::string_view word;
    Handler handler;
    bool once;
  };
  static const std::vector<Form>& forms();

  [[nodiscard]] Expected<void> read_source(TextLine& line);
  [[nodiscard]] Expected<void> read_command(TextLine& line);
  [[nodiscard]] Expected<void> read_directory(TextLine& line);
  [[nodiscard]] Expected<void> read_started(TextLine& line);
  [[nodiscard]] Expected<void> read_elapsed(TextLine& line);
  [[nodiscard]] Expected<void> read_cpu_time(TextLine& line);
  [[nodiscard]] Expected<void> read_cpus(TextLine& line);
  [[nodiscard]] Expected<void> read_machine_cpus(TextLine& line);
  [[nodiscard]] Expected<void> read_exit_status(TextLine& line);
  [[nodiscard]] Expected<void> read_exit_signal(TextLine& line);
  [[nodiscard]] Expected<void> read_cost_per_event(TextLine& line);
  [[nodiscard]] Expected<void> read_cost(TextLine& line);
  [[nodiscard]] Expected<void> read_cpu_time_on(TextLine& line);
  [[nodiscard]] Expected<void> read_samples(TextLine& line);
  [[nodiscard]] Expected<void> read_sample_rate(TextLine& line);
  [[nodiscard]] Expected<void> read_incomplete(TextLine& line);
  [[nodiscard]] Expected<void> read_notice(TextLine& line);
  [[nodiscard]] Expected<void> read_module(TextLine& line);
  [[nodiscard]] Expected<void> read_file(TextLine& line);
  [[nodiscard]] Expected<void> read_function(TextLine& line);
  [[nodiscard]] Expected<void> read_stack(TextLine& line);
  [[nodiscard]] Expected<void> read_profile(TextLine& line);
  [[nodiscard]] Expected<void> read_thread(TextLine& line);
  [[nodiscard]] Expected<void> read_priority(TextLine& line);
  [[nodiscard]] Expected<void> read_object(TextLine& line, ObjectKind kind);

  // The number that every entry of a table begins with: the next one.
  [[nodiscard]] Expected<void> read_number(TextLine& line, std::size_t next) const;

  Recording& recording_;
  TextTables& tables_;
  MentionedThreads& threads_;
  const Limits& limits_;
  HeaderTimes times_;
  std::vector<bool> seen_;  // by form
};

}  // namespace longpole
