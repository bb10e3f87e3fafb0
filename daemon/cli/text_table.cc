#include "cli/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "cli/file_names.h"
#include "cli/human.h"

namespace longpole::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_name_column = 16;

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells)
    cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_)
    widths.push_back(cli::columns(column.header));
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], cli::columns(row[i]));
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), 0);
  if (width > 0)
    fit(width, shown, widths);

  std::string out;
  const auto add_cell = [&](std::size_t i, const std::string& cell) {
    const std::string fitting = shortened(cell, widths[i]);
    const std::string padding(widths[i] - cli::columns(fitting), ' ');
    const bool is_last = i == shown.back();
    if (columns_[i].align == Align::right)
      out += padding + fitting;
    else
      out += is_last ? fitting : fitting + padding;
    out += is_last ? "\n" : std::string(gap, ' ');
  };
  for (const std::size_t i : shown)
    add_cell(i, columns_[i].header);
  for (const auto& row : rows_)
    for (const std::size_t i : shown)
      add_cell(i, row[i]);
  return out;
}

void TextTable::fit(std::size_t width, std::vector<std::size_t>& shown,
                    std::vector<std::size_t>& widths) const {
  const auto all = [&] {
    std::size_t sum = gap * (shown.size() - 1);
    for (const std::size_t i : shown)
      sum += widths[i];
    return sum;
  };
  const auto is_empty = [&](std::size_t i) {
    return !rows_.empty() && std::all_of(rows_.begin(), rows_.end(),
                                         [&](const auto& row) { return row[i] == nothing; });
  };
  if (all() > width)
    shown.erase(std::remove_if(shown.begin(), shown.end(), is_empty), shown.end());
  const auto shrinks = [&](std::size_t i) {
    return (columns_[i].align == Align::left || i == shown.back()) && widths[i] > least_name_column;
  };
  for (std::size_t sum = all(); sum > width; --sum) {
    std::size_t widest = columns_.size();
    for (const std::size_t i : shown) {
      if (shrinks(i) && (widest == columns_.size() || widths[i] > widths[widest]))
        widest = i;
    }
    if (widest == columns_.size())
      break;
    --widths[widest];
  }
}

std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col;
}

}  // namespace longpole::cli
