// What a user calls a part of the program.
#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string>

#include "analysis/call_tree.h"
#include "analysis/change.h"
#include "analysis/critical_sections.h"

namespace longpole::analysis {
namespace {

constexpr std::size_t most_names = 5;

std::string listed(const std::set<std::string>& names) {
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (count++ == most_names)
      return text + ", …";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// "ns::compute[abi:cxx11](int)" → "ns::compute(int)": the compiler puts the tag there, nobody wrote it.
std::string without_abi_tags(std::string_view name) {
  constexpr std::string_view opening = "[abi:";
  std::string out;
  for (std::size_t at = name.find(opening); at != std::string_view::npos; at = name.find(opening)) {
    out += name.substr(0, at);
    name.remove_prefix(std::min(name.find(']', at), name.size() - 1) + 1);
  }
  return out += name;
}

// "ns::Type<int>::merge<2>(int) const" → "ns::Type<int>::merge<2>".
std::string_view without_parameters(std::string_view name) {
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<')
      ++depth;
    else if (name[i] == '>')
      --depth;
    else if (name[i] == '(' && depth == 0 && i > 0)
      return name.substr(0, i);
  }
  return name;
}

// "ns::Type<int>::merge<2>(int) const" → "merge": without parameters, scopes and what is in <…>.
std::string_view bare_name(std::string_view name) {
  name = without_parameters(name);
  int depth = 0;
  std::size_t end = name.size();
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>' || name[i] == ']')
      ++depth;
    else if (name[i] == '[')
      --depth;
    else if (name[i] == '<' && --depth == 0 && end == name.size())
      end = i;
    else if (depth == 0 && (name[i] == ':' || name[i] == ' '))
      return name.substr(i + 1, end - i - 1);
  }
  return name.substr(0, end);
}

// Several functions may have it.
bool has_short_name(std::string_view full, std::string_view name) {
  if (full.find("operator") != std::string_view::npos)
    return full == name;
  const std::string untagged = without_abi_tags(full);
  return name == without_parameters(full) || name == bare_name(full) || name == untagged ||
         name == without_parameters(untagged) || name == bare_name(untagged);
}

Expected<Part> find_function(const Recording& recording, std::string_view name, bool with_callees) {
  Part part;
  part.kind = with_callees ? Part::Kind::function_with_callees : Part::Kind::function;
  std::set<std::string> alike;
  std::vector<FunctionId> by_short_name;
  for (std::uint32_t f = 0; f < recording.functions.size(); ++f) {
    const std::string& full = recording.functions[f].name;
    if (full == name)
      part.functions.push_back(FunctionId{f});
    if (has_short_name(full, name)) {
      by_short_name.push_back(FunctionId{f});
      alike.insert(full);
    }
  }
  if (part.functions.empty() && alike.size() == 1)
    part.functions = by_short_name;
  if (!part.functions.empty())
    return part;
  const std::string what = "cannot change " + std::string(name);
  if (alike.size() > 1)
    return bad_input(what, "several functions are called that: " + listed(alike),
                     "give the whole name");
  return not_found(what, "the recording has no function, line, thread or lock of that name",
                   "`longpole report --by function --top 0` lists the functions");
}

bool is_path_end(const std::string& path, std::string_view end) {
  return path == end || (path.size() > end.size() && path.ends_with(end) &&
                         path[path.size() - end.size() - 1] == '/');
}

// none: not of the form FILE:LINE, or there is no such file.
std::optional<Expected<Part>> find_line(const Recording& recording, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0)
    return std::nullopt;
  Part part;
  part.kind = Part::Kind::line;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), part.line);
  if (error != std::errc() || end != digits.data() + digits.size() || part.line == 0)
    return std::nullopt;
  for (std::uint32_t f = 0; f < recording.files.size(); ++f) {
    if (is_path_end(recording.files[f].path, text.substr(0, colon)))
      part.files.push_back(FileId{f});
  }
  if (part.files.empty())
    return std::nullopt;
  const std::string what = "cannot change " + std::string(text);
  if (part.files.size() > 1) {
    std::set<std::string> paths;
    for (const FileId file : part.files)
      paths.insert(recording.files[file.index()].path);
    if (paths.size() > 1)
      return bad_input(what, "several files are called that: " + listed(paths),
                       "give more of the path");
  }
  for (const StackId charged : charged_frames(recording)) {
    const Stack& frame = recording.stacks[charged.index()];
    if (frame.line == part.line &&
        std::find(part.files.begin(), part.files.end(), frame.file) != part.files.end())
      return part;
  }
  return not_found(what, "no time was seen at that line",
                   "`longpole report --by line --top 0` lists the lines that have some");
}

Expected<Part> find_thread(const Recording& recording, std::string_view name) {
  for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
    if (recording.threads[t].name != name)
      continue;
    Part part;
    part.kind = Part::Kind::thread;
    part.thread = ThreadId{t};
    return part;
  }
  return not_found("cannot change thread " + std::string(name),
                   "the recording has no thread of that name",
                   "`longpole report --by thread --top 0` lists the threads");
}

std::optional<std::string_view> after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix) || text.substr(prefix.size()).starts_with(':'))
    return std::nullopt;
  return text.substr(prefix.size());
}

Expected<ObjectId> find_named(const Recording& recording, std::string_view name,
                              const std::vector<bool>& eligible, const char* thing) {
  for (std::uint32_t o = 0; o < recording.objects.size(); ++o) {
    if (eligible[o] && recording.objects[o].name == name)
      return ObjectId{o};
  }
  return not_found("cannot change " + std::string(name),
                   "the recording has no " + std::string(thing) + " of that name",
                   "`longpole report --by object --top 0` lists them");
}

}  // namespace

Expected<ObjectId> find_lock(const Recording& recording, std::string_view name) {
  return find_named(recording, name, locks_of(recording), "lock");
}

Expected<ObjectId> find_object(const Recording& recording, std::string_view name) {
  return find_named(recording, name, std::vector<bool>(recording.objects.size(), true), "object");
}

Expected<Part> find_part(const Recording& recording, std::string_view text, bool with_callees) {
  if (const auto name = after(text, "thread:"))
    return find_thread(recording, *name);
  if (const auto name = after(text, "lock:")) {
    const auto lock = find_lock(recording, *name);
    if (!lock)
      return tl::unexpected(lock.error());
    Part part;
    part.kind = Part::Kind::lock;
    part.lock = *lock;
    return part;
  }
  if (const auto name = after(text, "function:"))
    return find_function(recording, *name, with_callees);
  auto line = find_line(recording, after(text, "line:").value_or(text));
  if (line)
    return *std::move(line);
  return find_function(recording, text, with_callees);
}

}  // namespace longpole::analysis
