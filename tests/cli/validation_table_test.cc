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

TEST(ValidationTable, SaysWhenRunsHadToReadFromADisk) {
  Validation validation;
  EXPECT_THAT(validation_caveats(validation), Not(HasSubstr("disk")));
  validation.that_read = {.runs = 3, .most_bytes = 33'400'000};
  EXPECT_THAT(
      validation_caveats(validation),
      HasSubstr(
          "3 of the real runs read from a disk what others found in memory, up to 33 MB; they"));
}

TEST(ValidationTable, SaysWhenAProgramHadToBeKeptOnItsCpus) {
  Validation validation;
  EXPECT_THAT(validation_caveats(validation), Not(HasSubstr("affinity")));
  validation.kept_on_cpus = true;
  EXPECT_THAT(validation_caveats(validation), HasSubstr("it was kept on them"));
}

TEST(ValidationTable, SaysWhenTheHostTookCpusAway) {
  Validation validation;
  validation.rows.emplace_back().real.emplace();
  EXPECT_THAT(validation_caveats(validation), Not(HasSubstr("host")));
  validation.rows.back().real->stolen_share = 0.0831;
  EXPECT_THAT(validation_caveats(validation),
              HasSubstr("the host of this virtual machine took up to 8.3% of the CPUs' time for "
                        "others; that is taken out of the real times"));
}

}  // namespace
}  // namespace longpole::cli
