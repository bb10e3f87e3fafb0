// A conversation with the command line: a text file of commands and their answers.
//
//   Anything that is not indented is for people.
//     $ longpole simulate dead.prog --cpus 2       a command, for `sh -c`
//     > …                                          more of it: a line each
//     CPUs   time                                  its standard output, line by line
//     2: longpole: cannot …                        its standard error
//     [2]                                          its exit status, where it is not 0
//
// "re: REGEX" and "2 re: REGEX" stand for one line that matches. All commands of a file run in one
// new folder, called FOLDER in answers, with the program in PATH, GOLDEN naming the folder of the
// papers' examples and SPECIMENS that of small programs to record. With
// UPDATE_CONVERSATIONS set the answers are written instead of compared; lines with "re:" that
// match stay.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace longpole::cli {

struct Turn {
  std::vector<std::string> before;  // lines for people
  std::string command;              // with line feeds
  std::vector<std::string> answer;
};

struct Conversation {
  std::vector<Turn> turns;
  std::vector<std::string> after;
};

[[nodiscard]] Conversation read_conversation(const std::filesystem::path& path);
[[nodiscard]] std::string conversation_text(const Conversation& conversation);

// Runs the command in `folder`; what it said, in the form of the file.
[[nodiscard]] std::vector<std::string> run_command(const std::string& command,
                                                   const std::filesystem::path& folder);

// Whether what was said is what was expected, "re:" lines taken into account.
[[nodiscard]] bool answers_match(const std::vector<std::string>& expected,
                                 const std::vector<std::string>& said);

}  // namespace longpole::cli
