#include "recording/tracepoints.h"

#include <fmt/format.h>

#include <charconv>

#include "recording/system.h"

namespace longpole::recording {
namespace {

// The number behind `label`, after blanks.
std::optional<std::uint32_t> number_after(std::string_view text, std::string_view label) {
  std::size_t at = text.find(label);
  if (at == std::string_view::npos)
    return std::nullopt;
  at = text.find_first_not_of(" \t", at + label.size());
  std::uint32_t number = 0;
  if (at == std::string_view::npos ||
      std::from_chars(text.data() + at, text.data() + text.size(), number).ec != std::errc{})
    return std::nullopt;
  return number;
}

}  // namespace

std::optional<TracepointFormat> read_tracepoint_format(std::string_view text,
                                                       std::string_view field) {
  TracepointFormat format;
  const auto id = number_after(text, "ID:");
  if (!id)
    return std::nullopt;
  format.id = *id;
  if (field.empty())
    return format;
  const std::size_t declaration = text.find(fmt::format(" {};", field));
  if (declaration == std::string_view::npos)
    return std::nullopt;
  const std::string_view line =
      text.substr(declaration, text.find('\n', declaration) - declaration);
  const auto offset = number_after(line, "offset:");
  const auto size = number_after(line, "size:");
  if (!offset || size != 4)
    return std::nullopt;
  format.field_at = *offset;
  return format;
}

Expected<Tracepoints> find_tracepoints(bool one_cpu) {
  const char* const wake_up = one_cpu ? "sched_wakeup" : "sched_waking";
  for (const std::string root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    const std::string events = root + "/events/sched/";
    const auto waking =
        read_tracepoint_format(read_special_file(events + wake_up + "/format"), "pid");
    const auto switching =
        read_tracepoint_format(read_special_file(events + "sched_switch/format"), "");
    if (waking && switching) {
      Tracepoints found;
      found.waking = waking->id;
      found.woken_at = waking->field_at;
      found.switching = switching->id;
      return found;
    }
  }
  return failure("cannot record wake-ups", "the kernel's scheduler tracepoints cannot be read",
                 "record as root, with `mount -t tracefs nodev /sys/kernel/tracing` if need be");
}

}  // namespace longpole::recording
