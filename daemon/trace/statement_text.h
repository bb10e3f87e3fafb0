// One statement of the text forms: the words behind a thread in a program file, and behind a time
// and a thread in a text recording. DESIGN section 4; README.md has the grammar.
#pragma once

#include <functional>
#include <string>

#include "trace/recording.h"
#include "trace/text_line.h"
#include "trace/text_tables.h"

namespace longpole {

enum class TextForm : bool {
  program,    // what a person writes: calls succeed, every thread and object is named
  recording,  // what happened: calls may fail or not return, and then need not name anything
};

class StatementReader {
 public:
  // Gives the thread that a word names, or the error that it names none.
  using FindThread = std::function<Expected<ThreadId>(const TextLine& line, const Word& word)>;

  StatementReader(TextForm form, TextTables& tables, FindThread find_thread)
      : form_(form), tables_(tables), find_thread_(std::move(find_thread)) {}

  struct Statement {
    Event event;
    FunctionId run_function;  // of a `run`: where; its `cpu` is set. none: not said
  };

  // Reads from the statement's word on. Settings of the text recording that may follow are left in
  // the line.
  [[nodiscard]] Expected<Statement> read(TextLine& line);

 private:
  // none where it is not said, which only a recording may leave open.
  [[nodiscard]] Expected<FunctionId> read_function(TextLine& line);
  [[nodiscard]] Expected<void> read_subject(TextLine& line, const EventForm& form, Event& event);
  [[nodiscard]] Expected<void> read_other(TextLine& line, const EventForm& form, Event& event);
  [[nodiscard]] Expected<void> read_outcome(TextLine& line, const EventForm& form, Event& event);
  [[nodiscard]] bool is_unknown(const Word& word) const {
    return form_ == TextForm::recording && word.is("?");
  }

  TextForm form_;
  TextTables& tables_;
  FindThread find_thread_;
};

// Prints what StatementReader reads from a recording. `run_function` as there. `index` is that of
// the recording.
void append_statement(std::string& out, const Recording& recording, const TextIndex& index,
                      const Event& event, FunctionId run_function);

}  // namespace longpole
