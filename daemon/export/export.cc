#include "export/export.h"

#include <array>

namespace longpole::exporting {
namespace {

constexpr std::array<std::string_view, 3> names = {"perfetto", "pprof", "speedscope"};

}  // namespace

std::optional<Format> format_named(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name)
      return static_cast<Format>(i);
  }
  return std::nullopt;
}

std::vector<std::string_view> format_names() {
  return {names.begin(), names.end()};
}

bool is_binary(Format format) {
  return format != Format::speedscope;
}

Expected<std::string> write(const Run& run, Format format) {
  if (!run.has_axis && format != Format::pprof)
    return bad_input("cannot export " + run.program,
                     "it is a program that nobody has run, so its threads have no times in common",
                     "add --cpus N to export a simulated run");
  switch (format) {
    case Format::perfetto:
      return perfetto_trace(run);
    case Format::pprof:
      return pprof_profile(run);
    case Format::speedscope:
      break;
  }
  return speedscope_file(run);
}

}  // namespace longpole::exporting
