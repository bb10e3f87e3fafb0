// An aligned table for a terminal. Numbers stand right, names left and last; where the table would
// be wider than the terminal, columns in which there is nothing are left out, and then the longest names
// are shortened.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace longpole::cli {

class TextTable {
 public:
  enum class Align : bool { left, right };
  struct Column {
    std::string header;
    Align align = Align::right;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column.
  void add(std::vector<std::string> cells);

  // A line a row, each ended by a line feed. `width` 0: as wide as it takes.
  [[nodiscard]] std::string text(std::size_t width) const;

 private:
  // `shown`: which columns there are; `widths`: of all.
  void fit(std::size_t width, std::vector<std::size_t>& shown,
           std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The columns of the terminal on standard output; 0 where it is none.
[[nodiscard]] std::size_t terminal_width();

}  // namespace longpole::cli
