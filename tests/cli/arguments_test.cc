#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace longpole::cli {
namespace {

using ::testing::ElementsAre;

TEST(CpuList, CountsAndRangesInTheOrderGiven) {
  EXPECT_THAT(*parse_cpu_list("8"), ElementsAre(8));
  EXPECT_THAT(*parse_cpu_list("4,1,2"), ElementsAre(4, 1, 2));
  EXPECT_THAT(*parse_cpu_list("1-4"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(*parse_cpu_list("1,3-5,16,2-2"), ElementsAre(1, 3, 4, 5, 16, 2));
  EXPECT_EQ(parse_cpu_list("1-4096")->size(), longest_cpu_list);
  EXPECT_THAT(*parse_cpu_list("65536"), ElementsAre(most_cpus));
}

TEST(CpuList, WhatIsNoListIsRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "the list is empty"},
      {"0", "at least one CPU"},
      {"1,0", "at least one CPU"},
      {"0-3", "at least one CPU"},
      {"abc", "\"abc\" is neither a number"},
      {"2x", "\"2x\" is neither a number"},
      {"1,,2", "\"\" is neither a number"},
      {"1,", "\"\" is neither a number"},
      {",", "\"\" is neither a number"},
      {"-3", "\"-3\" is neither a number"},
      {"3-", "\"3-\" is neither a number"},
      {"1-2-3", "\"1-2-3\" is neither a number"},
      {"1.5", "\"1.5\" is neither a number"},
      {" 2", "\" 2\" is neither a number"},
      {"+2", "\"+2\" is neither a number"},
      {"4-2", "runs backwards"},
      {"65537", "the largest machine has 65536"},
      {"99999999999999999999999", "the largest machine has 65536"},
      {"1-4097", "more than 4096 counts"},
      {"1-4000,1-4000", "more than 4096 counts"},
  };
  for (const auto& [text, why] : cases) {
    const auto list = parse_cpu_list(text);
    ASSERT_FALSE(list) << text;
    EXPECT_EQ(list.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(list.error().text(), testing::HasSubstr(why)) << text;
    EXPECT_EQ(list.error().what.find("--cpus"), 0) << list.error().text();
  }
}

TEST(Numbers, HaveToBeWholeAndWithinBounds) {
  EXPECT_EQ(*parse_number("--rate", "1000", 1, 20000), 1000);
  for (const char* text : {"", "0", "20001", "-1", "1e3", "10 ", "4294967297"})
    EXPECT_FALSE(parse_number("--rate", text, 1, 20000)) << text;
  EXPECT_EQ(parse_number("--rate", "0", 1, 20000).error().text(),
            "--rate 0: not a whole number from 1 to 20000");
}

TEST(Schedulers, GoByTheirNames) {
  EXPECT_EQ(*parse_scheduler("ideal"), analysis::Scheduler::ideal);
  EXPECT_EQ(*parse_scheduler("shared"), analysis::Scheduler::shared);
  for (const char* name : {"linux", "fifo", "", "Shared"})
    EXPECT_FALSE(parse_scheduler(name)) << name;
}

}  // namespace
}  // namespace longpole::cli
