#include "cli/text_table.h"

#include <gtest/gtest.h>

namespace longpole::cli {
namespace {

TextTable example() {
  TextTable table(
      {{"time"}, {"thread", TextTable::Align::left}, {"function", TextTable::Align::left}});
  table.add({"12 ms", "main", "work::twice<double>(double)"});
  table.add({"834.2 µs", "P1", "f"});
  return table;
}

TEST(TextTable, NumbersStandRightAndNamesLeft) {
  EXPECT_EQ(example().text(0),
            "    time  thread  function\n"
            "   12 ms  main    work::twice<double>(double)\n"
            "834.2 µs  P1      f\n");
}

TEST(TextTable, TheLastColumnGivesWayToTheTerminal) {
  EXPECT_EQ(example().text(36),
            "    time  thread  function\n"
            "   12 ms  main    work::twice<…>(…)\n"
            "834.2 µs  P1      f\n");
  EXPECT_EQ(example().text(5), example().text(34)) << "but not beyond all use";
}

TEST(TextTable, ColumnsWithNothingInThemGiveWayFirst) {
  TextTable table({{"time"}, {"calls"}, {"function", TextTable::Align::left}});
  table.add({"12 ms", "–", "merge_sort"});
  table.add({"8 ms", "–", "quick_sort"});
  EXPECT_EQ(table.text(24),
            " time  calls  function\n"
            "12 ms      –  merge_sort\n"
            " 8 ms      –  quick_sort\n");
  EXPECT_EQ(table.text(23),
            " time  function\n"
            "12 ms  merge_sort\n"
            " 8 ms  quick_sort\n");
}

TEST(TextTable, TheLongestNamesGiveWayToTheTerminal) {
  TextTable table({{"defined at", TextTable::Align::left}, {"function", TextTable::Align::left}});
  table.add({"parallel_backend_utils.h:48", "main::{lambda:10}"});
  table.add({"sort.cc:7", "main::{lambda:24}"});
  EXPECT_EQ(table.text(40),
            "defined at             function\n"
            "parall…end_utils.h:48  main::{lambda:10}\n"
            "sort.cc:7              main::{lambda:24}\n");
}

TEST(TextTable, WideCharactersMoveNothingBehindThem) {
  TextTable table({{"thread", TextTable::Align::left}, {"function", TextTable::Align::left}});
  table.add({"日本語", "f"});
  table.add({"render", "g"});
  EXPECT_EQ(table.text(0), "thread  function\n日本語  f\nrender  g\n");
}

TEST(TextTable, CellsCannotMoveTheCursor) {
  TextTable table({{"name", TextTable::Align::left}});
  table.add({"a\033[2J\nb"});
  EXPECT_EQ(table.text(0), "name\na?[2J?b\n");
}

}  // namespace
}  // namespace longpole::cli
