#include "recording/children.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "recording/check_program.h"
#include "recording/run_files.h"
#include "recording/system.h"

namespace longpole::recording {
namespace {

namespace fs = std::filesystem;

std::optional<longpole_control> read_control(const fs::path& run_directory) {
  const std::string bytes = read_special_file(run_directory / control_file);
  longpole_control control{};
  if (bytes.size() < sizeof control)
    return std::nullopt;
  std::memcpy(&control, bytes.data(), sizeof control);
  return control;
}

std::uint32_t numbered_children(const fs::path& run_directory) {
  const auto control = read_control(run_directory);
  return control ? std::min(control->next_child, LONGPOLE_MOST_CHILDREN) : 0;
}

// Up to the next null byte, which is taken away as well.
std::string take_text(std::string_view& rest) {
  const std::string_view text = rest.substr(0, rest.find('\0'));
  rest.remove_prefix(std::min(text.size() + 1, rest.size()));
  return std::string(text);
}

std::optional<ChildProcess> read_child(const fs::path& directory) {
  const auto control = read_control(directory);
  if (!control || control->magic != LONGPOLE_CONTROL_MAGIC || control->pid <= 0 ||
      control->start.monotonic_ns <= 0)
    return std::nullopt;
  ChildProcess child;
  child.run_directory = directory;
  child.control = *control;
  const std::string bytes = read_special_file(directory / "command");
  std::string_view rest = bytes;
  child.program = take_text(rest);
  child.directory = take_text(rest);
  while (!rest.empty())
    child.command.push_back(take_text(rest));
  if (child.command.empty())
    child.command.push_back(child.program.string());
  return child;
}

std::string reason_of(const std::string& program) {
  const auto checked = check_program(program, {}, own_search_path());
  if (!checked && checked.error().kind != ErrorKind::not_found)
    return fmt::format("{} ({})", program, checked.error().why);
  return fmt::format("{} (the recorder was not loaded into it)", program);
}

// Of the programs that a process became, those after as many as recorded.
std::vector<std::string> unfollowed(const fs::path& run_directory,
                                    const std::map<std::int32_t, std::size_t>& recorded) {
  const MappedFile file(run_directory / "launches");
  std::map<std::int32_t, std::vector<std::string>> launched;
  for (std::size_t at = 0; at + sizeof(longpole_launch) <= file.bytes().size();
       at += sizeof(longpole_launch)) {
    longpole_launch launch{};
    std::memcpy(&launch, file.bytes().data() + at, sizeof launch);
    launch.program[sizeof launch.program - 1] = '\0';
    std::vector<std::string>& programs = launched[launch.pid];
    if (launch.failed == 0)
      programs.emplace_back(launch.program);
    else if (!programs.empty())
      programs.pop_back();
  }
  std::vector<std::string> reasons;
  for (const auto& [pid, programs] : launched) {
    const auto found = recorded.find(pid);
    for (std::size_t i = found != recorded.end() ? found->second : 0; i < programs.size(); ++i)
      reasons.push_back(reason_of(programs[i]));
  }
  return reasons;
}

}  // namespace

Family find_family(const fs::path& run_directory) {
  Family family;
  std::map<std::int32_t, std::size_t> recorded;
  for (std::uint32_t i = 1; i <= numbered_children(run_directory); ++i)
    if (auto child = read_child(run_directory / child_directory(i)); child) {
      recorded[child->control.pid] += child->control.beginning == LONGPOLE_BEGINNING_EXEC ? 1U : 0U;
      family.children.push_back(std::move(*child));
    }
  family.unfollowed = unfollowed(run_directory, recorded);
  return family;
}

void end_recordings_of_children(const fs::path& run_directory) {
  const auto overwrite = [](const fs::path& directory, std::size_t at, std::uint32_t value) {
    const Descriptor file(::open((directory / control_file).c_str(), O_WRONLY | O_CLOEXEC));
    return ::pwrite(file.get(), &value, sizeof value, static_cast<off_t>(at)) == sizeof value;
  };
  const std::uint32_t children = numbered_children(run_directory);
  // The first one's is the settings of those that come.
  static_cast<void>(overwrite(run_directory, offsetof(longpole_control, follow), 0));
  for (std::uint32_t i = 1; i <= children; ++i)
    static_cast<void>(
        overwrite(run_directory / child_directory(i), offsetof(longpole_control, max_units), 0));
}

}  // namespace longpole::recording
