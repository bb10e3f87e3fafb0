// Finds, and names, rows of a study's or of Quartz' tables.
#pragma once

#include <string>

#include "analysis/quartz.h"
#include "analysis/study.h"

namespace longpole::analysis {

[[nodiscard]] Study study_of(Recording recording);

// Fails the test where there is none.
[[nodiscard]] const FunctionRow& row_of(const Study& study, const Table<FunctionRow>& table,
                                        const std::string& name);

// "program", the name of a function or an object, or "thread NAME".
[[nodiscard]] std::string name_of(const Recording& recording, const Entity& entity);

[[nodiscard]] constexpr double ms(double nanoseconds) {
  return nanoseconds / 1e6;
}

}  // namespace longpole::analysis
