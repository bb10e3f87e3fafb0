#include "cli/human.h"

#include <gtest/gtest.h>

namespace longpole::cli {
namespace {

TEST(Human, DurationsHaveFourDigitsAndNoIdleZeros) {
  EXPECT_EQ(duration_text(0.0), "0 ns");
  EXPECT_EQ(duration_text(7.0), "7 ns");
  EXPECT_EQ(duration_text(0.25), "0.25 ns");
  EXPECT_EQ(duration_text(12e6), "12 ms");
  EXPECT_EQ(duration_text(7333333.333), "7.333 ms");
  EXPECT_EQ(duration_text(834230.0), "834.2 µs");
  EXPECT_EQ(duration_text(1025.768e6), "1.026 s");
  EXPECT_EQ(duration_text(-1.5e6), "-1.5 ms");
  EXPECT_EQ(duration_text(Nanoseconds(1500)), "1.5 µs");
}

TEST(Human, DurationsTakeTheNextUnitWhereTheyWouldRoundUpToIt) {
  EXPECT_EQ(duration_text(999.94), "999.9 ns");
  EXPECT_EQ(duration_text(999.99), "1 µs");
  EXPECT_EQ(duration_text(999.96e6), "1 s");
  EXPECT_EQ(duration_text(59.9e9), "59.9 s");
  EXPECT_EQ(duration_text(60e9), "1 min 0 s");
  EXPECT_EQ(duration_text(123.56e9), "2 min 3.5 s");
  EXPECT_EQ(duration_text(-7200e9), "-120 min 0 s");
}

TEST(Human, CountsAndShares) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(57337), "57,337");
  EXPECT_EQ(count_text(1234567890), "1,234,567,890");
  EXPECT_EQ(count_text(1, "thread"), "1 thread");
  EXPECT_EQ(count_text(2, "thread"), "2 threads");
  EXPECT_EQ(percent_text(0.5858), "58.6%");
  EXPECT_EQ(percent_text(-1e-9), "0.0%");
  EXPECT_EQ(percent_text(-0.25), "-25.0%");
}

TEST(Human, ColumnsAreCharactersAndWideOnesTakeTwo) {
  EXPECT_EQ(columns(""), 0);
  EXPECT_EQ(columns("µs → …"), 6);
  EXPECT_EQ(columns("日本語"), 6);
  EXPECT_EQ(columns("\xff\xfe"), 2) << "what is no UTF-8";
}

TEST(Human, NamesLoseWhatIsInBracketsFirst) {
  const std::string name = "std::vector<int, std::allocator<int> >::push_back(int const&)";
  EXPECT_EQ(shortened(name, 100), name);
  EXPECT_EQ(shortened(name, 61), name);
  EXPECT_EQ(shortened(name, 60), "std::vector<int, std::allocator<int> >::push_back(…)");
  EXPECT_EQ(shortened(name, 40), "std::vector<…>::push_back(…)");
  EXPECT_EQ(shortened(name, 25), "std::vector<…>::push_back");
  EXPECT_EQ(shortened(name, 10), "std…h_back");
  EXPECT_EQ(shortened(name, 1), "…");
  EXPECT_EQ(shortened("operator<(Key, Key)", 18), "operator<(…)");
  EXPECT_EQ(shortened("main::{lambda:10}", 16), "main:…lambda:10}");
  EXPECT_EQ(shortened("main::{lambda:24}", 16), "main:…lambda:24}");
  EXPECT_EQ(shortened("Pool::Pool(int)::{lambda()#1}::operator()() const", 16), "Pool:…ambda()#1}");
  EXPECT_EQ(shortened("(waiting: sleep, I/O)", 16), "(wait…leep, I/O)");
  EXPECT_EQ(shortened("μμμμ", 3), "…μμ");
  EXPECT_EQ(shortened("日本語", 5), "…本語");
  EXPECT_EQ(shortened("日本語", 4), "…語") << "half a character is none";
}

TEST(Human, ControlCharactersDoNotReachTheTerminal) {
  EXPECT_EQ(printable("a\033[2Jb\n\x7fµ"), "a?[2Jb??µ");
  EXPECT_EQ(printable("a\u009b2J"), "a?2J") << "of Latin-1, what introduces a control sequence";
}

TEST(Human, BytesThatAreNoUtf8DoNotReachTheTerminal) {
  EXPECT_EQ(printable("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(printable("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd") << "cut off";
  EXPECT_EQ(printable("µ € 名前 😀"), "µ € 名前 😀");
}

}  // namespace
}  // namespace longpole::cli
