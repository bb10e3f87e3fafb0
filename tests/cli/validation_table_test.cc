#include "cli/validation_table.h"

#include <gmock/gmock.h>

namespace longpole::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ValidationTable, SaysWhereCpusAreNotAlike) {
  Validation validation;
  validation.unevenness = 1.45;
  EXPECT_THAT(validation_caveats(validation),
              HasSubstr("one of them took 1.45 times as long as another in the same round"));
  validation.unevenness = 1.05;
  EXPECT_THAT(validation_caveats(validation), Not(HasSubstr("not alike")));
}

}  // namespace
}  // namespace longpole::cli
