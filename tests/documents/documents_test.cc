// Documents rot where nobody runs them. Whatever a page of this repository names in code marks or
// links, as a path, a CMake target or preset, or an npm script, must exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = LONGPOLE_SOURCE_DIRECTORY;

struct Reference {
  int line = 0;
  std::string text;
};

struct Page {
  fs::path path;
  std::vector<Reference> words;  // in code marks and code blocks, split at blanks
  std::vector<Reference> links;
};

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void add_words(const std::string& code, int line, std::vector<Reference>& words) {
  std::istringstream stream(code);
  for (std::string word; stream >> word;)
    words.push_back({line, word});
}

Page read_page(const fs::path& path) {
  static const std::regex code_mark("`([^`]+)`");
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  Page page{.path = path, .words = {}, .links = {}};
  std::istringstream text(read(path));
  bool block = false;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    number++;
    if (line.starts_with("```")) {
      block = !block;
    } else if (block || line.starts_with("    ")) {
      add_words(line, number, page.words);
    } else {
      const std::sregex_iterator end;
      for (std::sregex_iterator mark(line.begin(), line.end(), code_mark); mark != end; ++mark)
        add_words((*mark)[1], number, page.words);
      for (std::sregex_iterator mark(line.begin(), line.end(), link); mark != end; ++mark)
        page.links.push_back({number, (*mark)[1]});
    }
  }
  return page;
}

std::vector<Page> pages() {
  std::vector<Page> found;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const std::string name = entry->path().filename();
    if (entry->is_directory() &&
        (name == "node_modules" || name == "build" || name == ".git" || name == "dist"))
      entry.disable_recursion_pending();
    else if (entry->is_regular_file() && entry->path().extension() == ".md")
      found.push_back(read_page(entry->path()));
  }
  std::sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.path < b.path; });
  return found;
}

std::string place(const Page& page, const Reference& reference) {
  return fs::relative(page.path, root).string() + ":" + std::to_string(reference.line) + ": " +
         reference.text;
}

bool exists_from(const Page& page, const std::string& path) {
  return fs::exists(root / path) || fs::exists(page.path.parent_path() / path);
}

// A word is a path of ours when its first part is the name of something at the top of the
// repository.
bool is_our_path(std::string& word) {
  static const std::regex path(R"((\./)?[\w.-]+(/[\w.-]+)+/?)");
  while (!word.empty() && std::string(",.:;)").find(word.back()) != std::string::npos)
    word.pop_back();
  if (!std::regex_match(word, path))
    return false;
  if (word.starts_with("./"))
    word.erase(0, 2);
  const std::string top = word.substr(0, word.find('/'));
  return top != "build" && fs::exists(root / top);
}

std::set<std::string> lines_of(const fs::path& path) {
  std::set<std::string> lines;
  std::istringstream text(read(path));
  for (std::string line; std::getline(text, line);)
    lines.insert(line);
  return lines;
}

std::set<std::string> preset_names() {
  std::set<std::string> names;
  const auto presets = nlohmann::json::parse(read(root / "CMakePresets.json"));
  for (const char* kind :
       {"configurePresets", "buildPresets", "testPresets", "packagePresets", "workflowPresets"}) {
    for (const auto& preset : presets.value(kind, nlohmann::json::array())) {
      if (!preset.value("hidden", false))
        names.insert(preset["name"]);
    }
  }
  return names;
}

TEST(Documents, ThereAreThePagesThatNewcomersLookFor) {
  EXPECT_TRUE(fs::exists(root / "README.md"));
  EXPECT_TRUE(fs::exists(root / "CONTRIBUTING.md"));
  EXPECT_TRUE(fs::exists(root / "LICENSE"));
}

TEST(Documents, EveryLinkInsideTheRepositoryLeadsSomewhere) {
  for (const Page& page : pages()) {
    for (const Reference& link : page.links) {
      if (link.text.find("://") == std::string::npos && !link.text.starts_with("#")) {
        const std::string target = link.text.substr(0, link.text.find('#'));
        EXPECT_TRUE(fs::exists(page.path.parent_path() / target)) << place(page, link);
      }
    }
  }
}

TEST(Documents, EveryPathThatIsNamedExists) {
  int checked = 0;
  for (const Page& page : pages()) {
    for (const Reference& word : page.words) {
      std::string path = word.text;
      if (is_our_path(path)) {
        checked++;
        EXPECT_TRUE(exists_from(page, path)) << place(page, word);
      }
    }
  }
  EXPECT_GT(checked, 20);
}

// The build writes down the files that its targets make and the targets' names.
TEST(Documents, EveryBuiltFileThatIsNamedIsMadeByATarget) {
  const std::set<std::string> made = lines_of(LONGPOLE_TARGET_FILES);
  static const std::regex built(R"((\./)?build/[\w-]+/((bin|lib|examples)/[\w.-]+))");
  for (const Page& page : pages()) {
    for (const Reference& word : page.words) {
      std::smatch match;
      if (std::regex_match(word.text, match, built)) {
        EXPECT_TRUE(made.contains(match[2])) << place(page, word);
      }
    }
  }
  EXPECT_TRUE(made.contains("bin/longpole"));
}

TEST(Documents, EveryTargetPresetAndScriptThatIsNamedExists) {
  const std::set<std::string> targets = lines_of(LONGPOLE_TARGET_NAMES);
  const std::set<std::string> presets = preset_names();
  for (const Page& page : pages()) {
    for (std::size_t i = 0; i + 1 < page.words.size(); i++) {
      const std::string& word = page.words[i].text;
      const Reference& next = page.words[i + 1];
      if (word == "--target") {
        EXPECT_TRUE(targets.contains(next.text)) << place(page, next);
      }
      if (word == "--preset") {
        EXPECT_TRUE(presets.contains(next.text)) << place(page, next);
      }
      if (word == "npm" && next.text == "run" && i + 2 < page.words.size()) {
        const auto package = nlohmann::json::parse(read(root / "vscode-extension/package.json"));
        EXPECT_TRUE(package["scripts"].contains(page.words[i + 2].text))
            << place(page, page.words[i + 2]);
      }
    }
  }
}

}  // namespace
