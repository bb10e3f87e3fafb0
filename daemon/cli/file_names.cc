#include "cli/file_names.h"

#include <fmt/format.h>

#include <map>

#include "trace/event_forms.h"

namespace longpole::cli {
namespace {

std::string name_of(const File& file) {
  return file.path.substr(file.path.rfind('/') + 1);
}

}  // namespace

FileNames::FileNames(const Recording& recording) {
  std::map<std::string, std::size_t> uses;
  for (const File& file : recording.files)
    ++uses[name_of(file)];
  for (const File& file : recording.files)
    names_.push_back(uses[name_of(file)] == 1 ? name_of(file) : file.path);
}

std::string FileNames::place(FileId file, std::uint32_t line) const {
  if (!file.known())
    return nothing;
  const std::string& name = names_[file.index()];
  return line == 0 ? name : fmt::format("{}:{}", name, line);
}

std::string object_text(const Recording& recording, ObjectId id) {
  const Object& object = recording.objects[id.index()];
  return fmt::format("{} {}", object_kind_word(object.kind), object.name);
}

}  // namespace longpole::cli
