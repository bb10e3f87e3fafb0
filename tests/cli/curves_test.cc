#include "cli/curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace longpole::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Curves, AreLinesThroughTheirPoints) {
  const std::string svg = svg_of({{"title", "x", "y", {{"one", {{0, 0}, {6, 3}}}}}});
  // From corner to corner of the axes, whose numbers are 0 … 6 and 0 … 3.
  EXPECT_THAT(svg, HasSubstr("<polyline points=\"56.0,256.0 430.0,34.0 \""));
  EXPECT_THAT(svg, HasSubstr(">6</text>"));
  EXPECT_THAT(svg, HasSubstr(">0.5</text>"));
  EXPECT_THAT(svg, HasSubstr(">one</text>"));
}

TEST(Curves, OfNumbersOfCpusHaveWholeNumbersAndEndWithTheLast) {
  const std::string three = svg_of({{"", "CPUs", "", {{"", {{1, 10}, {3, 20}}}}}});
  EXPECT_THAT(three, HasSubstr(">3</text>"));
  EXPECT_THAT(three, Not(HasSubstr(">1.5</text>")));
  const std::string sixteen = svg_of({{"", "CPUs", "", {{"", {{1, 100}, {16, 200}}}}}});
  EXPECT_THAT(sixteen, HasSubstr(">15</text>"));
  EXPECT_THAT(sixteen, Not(HasSubstr(">20</text>")));
}

TEST(Curves, NamesMayBeAnything) {
  const std::string svg = svg_of({{"<a> & \xff", "x", "y", {}}});
  EXPECT_THAT(svg, HasSubstr(">&lt;a&gt; &amp; \xef\xbf\xbd</text>"));
}

TEST(Curves, WithoutPointsAreNothing) {
  const std::string svg =
      svg_of({{"none", "x", "y", {{"empty", {}}}}, {"one", "x", "y", {{"dot", {{2, 2}}}}}});
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg_of({}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace longpole::cli
