#include "cli/arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace longpole::cli {
namespace {

constexpr const char* example = "give counts and ranges like 1,2,4 or 1-8";

// `part` is the number or the range that `text` stands in; `what`, the option and its value.
Expected<std::uint32_t> parse_cpus(std::string_view text, std::string_view part,
                                   const std::string& what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size() || error == std::errc::invalid_argument)
    return bad_input(what, fmt::format("\"{}\" is neither a number of CPUs nor a range", part),
                     example);
  if (error != std::errc() || value > most_cpus)
    return bad_input(what, fmt::format("the largest machine has {} CPUs", most_cpus), example);
  if (value == 0)
    return bad_input(what, "a machine has at least one CPU", example);
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Expected<std::vector<std::uint32_t>> parse_cpu_list(const std::string& text,
                                                    const std::string& option) {
  std::vector<std::uint32_t> out;
  if (text.empty())
    return bad_input(option, "the list is empty", example);
  const std::string what = fmt::format("{} {}", option, text);
  for (std::string_view rest = text;;) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const std::size_t dash = part.find('-');
    const auto first = parse_cpus(part.substr(0, dash), part, what);
    if (!first)
      return tl::unexpected(first.error());
    const auto last =
        dash == std::string_view::npos ? first : parse_cpus(part.substr(dash + 1), part, what);
    if (!last)
      return tl::unexpected(last.error());
    if (*last < *first)
      return bad_input(what, fmt::format("the range {} runs backwards", part), example);
    for (std::uint32_t cpus = *first; cpus <= *last; ++cpus) {
      if (out.size() == longest_cpu_list)
        return bad_input(what, fmt::format("more than {} counts at once", longest_cpu_list),
                         "ask for fewer");
      out.push_back(cpus);
    }
    if (part.size() == rest.size())
      return out;
    rest.remove_prefix(part.size() + 1);
  }
}

Expected<std::uint32_t> parse_number(const std::string& option, const std::string& text,
                                     std::uint32_t least, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    return bad_input(fmt::format("{} {}", option, text),
                     fmt::format("not a whole number from {} to {}", least, most));
  return value;
}

Expected<analysis::Scheduler> parse_scheduler(const std::string& name) {
  for (const auto scheduler : {analysis::Scheduler::ideal, analysis::Scheduler::shared})
    if (name == analysis::scheduler_name(scheduler))
      return scheduler;
  return bad_input(
      fmt::format("--scheduler {}", name), "this version has no such scheduler",
      "choose ideal (a CPU for each thread) or shared (threads share the CPUs evenly)");
}

}  // namespace longpole::cli
