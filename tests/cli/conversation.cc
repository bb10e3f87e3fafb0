#include "conversation.h"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

namespace longpole::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* indent = "  ";

// The lines of a file, with "FOLDER" in place of the name of the folder.
std::vector<std::string> lines_of(const fs::path& path, const std::string& prefix,
                                  const fs::path& folder) {
  std::ifstream in(path);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    for (std::size_t at = 0; (at = line.find(folder.string(), at)) != std::string::npos;)
      line.replace(at, folder.string().size(), "FOLDER");
    out.push_back(prefix + line);
  }
  return out;
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool line_matches(const std::string& expected, const std::string& said) {
  for (const auto& [marker, prefix] : {std::pair("re: ", ""), std::pair("2 re: ", "2: ")}) {
    if (starts_with(expected, marker))
      return starts_with(said, prefix) &&
             std::regex_match(said.substr(std::string(prefix).size()),
                              std::regex(expected.substr(std::string(marker).size())));
  }
  return expected == said;
}

// As one word of a shell. Folders of temporary files have no apostrophe in their names.
std::string quoted(const fs::path& path) {
  std::ostringstream out;
  out << '\'' << path.string() << '\'';
  return out.str();
}

}  // namespace

Conversation read_conversation(const fs::path& path) {
  Conversation out;
  std::vector<std::string> prose;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const bool indented = starts_with(line, indent);
    const std::string said = indented ? line.substr(2) : "";
    if (indented && starts_with(said, "$ ")) {
      out.turns.push_back({std::move(prose), said.substr(2), {}});
      prose.clear();
    } else if (indented && prose.empty() && !out.turns.empty()) {
      Turn& turn = out.turns.back();
      if (starts_with(said, "> ") && turn.answer.empty())
        turn.command += "\n" + said.substr(2);
      else
        turn.answer.push_back(said);
    } else {
      prose.push_back(line);
    }
  }
  out.after = std::move(prose);
  return out;
}

std::string conversation_text(const Conversation& conversation) {
  std::string out;
  const auto add = [&](const std::vector<std::string>& lines, const char* prefix) {
    for (const std::string& line : lines)
      out += prefix + line + "\n";
  };
  for (const Turn& turn : conversation.turns) {
    add(turn.before, "");
    std::istringstream command(turn.command);
    const char* prompt = "  $ ";
    for (std::string line; std::getline(command, line); prompt = "  > ")
      out += prompt + line + "\n";
    add(turn.answer, indent);
  }
  add(conversation.after, "");
  return out;
}

std::vector<std::string> run_command(const std::string& command, const fs::path& folder) {
  const fs::path aside = folder.string() + ".said";
  fs::create_directories(aside);
  const fs::path standard_output = aside / "1";
  const fs::path standard_error = aside / "2";
  std::ostringstream script;
  script << "cd " << quoted(folder) << " && (\n"
         << command << "\n) </dev/null >" << quoted(standard_output) << " 2>"
         << quoted(standard_error);
  const int status = std::system(script.str().c_str());

  std::vector<std::string> out = lines_of(standard_output, "", folder);
  const std::vector<std::string> errors = lines_of(standard_error, "2: ", folder);
  out.insert(out.end(), errors.begin(), errors.end());
  if (WIFSIGNALED(status))
    out.push_back("[signal " + std::to_string(WTERMSIG(status)) + "]");
  else if (WEXITSTATUS(status) != 0)
    out.push_back("[" + std::to_string(WEXITSTATUS(status)) + "]");
  return out;
}

bool answers_match(const std::vector<std::string>& expected, const std::vector<std::string>& said) {
  return std::equal(expected.begin(), expected.end(), said.begin(), said.end(), line_matches);
}

}  // namespace longpole::cli
