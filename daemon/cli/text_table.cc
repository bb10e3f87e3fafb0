#include "cli/text_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "cli/human.h"

namespace longpole::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_last_column = 16;

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
  if (width > 0) {
    std::size_t before = 0;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i)
      before += widths[i] + gap;
    const std::size_t left = std::max(width > before ? width - before : 0, least_last_column);
    widths.back() = std::min(widths.back(), left);
  }

  std::string out;
  const auto add_cell = [&](std::size_t i, const std::string& cell) {
    const std::string fitting = shortened(cell, widths[i]);
    const std::string padding(widths[i] - cli::columns(fitting), ' ');
    const bool is_last = i + 1 == columns_.size();
    if (columns_[i].align == Align::right)
      out += padding + fitting;
    else
      out += is_last ? fitting : fitting + padding;
    out += is_last ? "\n" : std::string(gap, ' ');
  };
  for (std::size_t i = 0; i < columns_.size(); ++i)
    add_cell(i, columns_[i].header);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      add_cell(i, row[i]);
  return out;
}

std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col;
}

}  // namespace longpole::cli
