// Every file of conversations/ is a test: each command is run and must answer as the file says.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>

#include "conversation.h"

namespace longpole::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> conversation_files() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(LONGPOLE_TEST_DATA "/conversations"))
    out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines)
    out += "  " + line + "\n";
  return out;
}

class ConversationTest : public testing::TestWithParam<fs::path> {
 protected:
  ConversationTest() {
    fs::create_directories(folder_);
    const char* const path = std::getenv("PATH");
    setenv("PATH", (std::string(LONGPOLE_BINARIES ":") + (path == nullptr ? "" : path)).c_str(), 1);
    setenv("GOLDEN", LONGPOLE_GOLDEN, 1);
    setenv("SPECIMENS", LONGPOLE_SPECIMENS, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
  }
  ~ConversationTest() override {
    fs::remove_all(folder_);
    fs::remove_all(folder_.string() + ".said");
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("longpole_conversation_" + std::to_string(getpid()));
};

TEST_P(ConversationTest, IsAnsweredAsWritten) {
  Conversation conversation = read_conversation(GetParam());
  ASSERT_FALSE(conversation.turns.empty());
  const bool update = std::getenv("UPDATE_CONVERSATIONS") != nullptr;
  for (Turn& turn : conversation.turns) {
    const std::vector<std::string> said = run_command(turn.command, folder_);
    if (answers_match(turn.answer, said))
      continue;
    if (!update)
      ADD_FAILURE() << "$ " << turn.command << "\nexpected\n"
                    << joined(turn.answer) << "but was answered\n"
                    << joined(said);
    turn.answer = said;
  }
  if (update)
    std::ofstream(GetParam()) << conversation_text(conversation);
}

INSTANTIATE_TEST_SUITE_P(Cli, ConversationTest, testing::ValuesIn(conversation_files()),
                         [](const auto& chosen) {
                           std::string name = chosen.param.stem().string();
                           std::replace_if(
                               name.begin(), name.end(),
                               [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace longpole::cli
