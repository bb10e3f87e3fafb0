#include "cli/binding_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/human.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

// "worker.12" is worker, 12.
struct Numbered {
  std::string_view stem;  // with the dot
  std::uint64_t number = 0;
};
std::optional<Numbered> numbered(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size() || name[dot + 1] == '0')
    return std::nullopt;
  Numbered out{name.substr(0, dot + 1), 0};
  const auto [end, error] =
      std::from_chars(name.data() + dot + 1, name.data() + name.size(), out.number);
  if (error != std::errc() || end != name.data() + name.size())
    return std::nullopt;
  return out;
}

std::string names_text(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t next = i + 1;
    const auto first = numbered(names[i]);
    while (first && next < names.size()) {
      const auto follows = numbered(names[next]);
      if (!follows || follows->stem != first->stem || follows->number != first->number + (next - i))
        break;
      ++next;
    }
    text += text.empty() ? "" : ", ";
    text += printable(names[i]);
    if (next - i > 1)
      text += fmt::format("-{}", first->number + (next - i) - 1);
    i = next;
  }
  return text.empty() ? "–" : text;
}

}  // namespace

std::string binding_table(const Recording& recording, const allocation::Binding& binding,
                          const simulation::Machine& machine) {
  std::vector<TextTable::Column> columns{{"CPU"}, {"threads", TextTable::Align::left}};
  if (!machine.nodes.empty())
    columns.insert(columns.begin(), {"node"});
  TextTable table(std::move(columns));
  for (std::uint32_t cpu = 0; cpu < machine.cpus; ++cpu) {
    std::vector<std::string_view> names;
    for (std::size_t thread = 0; thread < binding.size(); ++thread) {
      if (binding[thread] == cpu)
        names.emplace_back(recording.threads[thread].name);
    }
    std::vector<std::string> cells{fmt::format("{}", cpu), names_text(names)};
    if (!machine.nodes.empty())
      cells.insert(cells.begin(), fmt::format("{}", machine.nodes[cpu]));
    table.add(std::move(cells));
  }
  return table.text(0);
}

}  // namespace longpole::cli
