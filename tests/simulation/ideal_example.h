// A small program with a CPU for each thread: program in, table out (schedule_table.h).
#pragma once

#include <gmock/gmock.h>

#include <ostream>
#include <string>

#include "schedule_table.h"
#include "simulation/simulate.h"
#include "trace/program_text.h"

namespace longpole::simulation {

struct IdealCase {
  std::string name;
  std::string program;
  std::string table;
};

inline void PrintTo(const IdealCase& test, std::ostream* out) {
  *out << test.name;
}

inline std::string name_of_case(const testing::TestParamInfo<IdealCase>& info) {
  return info.param.name;
}

class IdealTest : public testing::TestWithParam<IdealCase> {
 protected:
  static void expect_it_runs_as_written() {
    EXPECT_EQ(ideal_table(GetParam().program), GetParam().table);
  }
};

}  // namespace longpole::simulation
