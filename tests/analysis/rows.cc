#include "rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace longpole::analysis {

Study study_of(Recording recording) {
  return Study(std::make_shared<const Recording>(std::move(recording)));
}

const FunctionRow& row_of(const Study& study, const Table<FunctionRow>& table,
                          const std::string& name) {
  for (const FunctionRow& row : table.rows) {
    if (row.function.known() && study.recording().functions[row.function.index()].name == name)
      return row;
  }
  ADD_FAILURE() << "no row for " << name;
  static const FunctionRow none;
  return none;
}

std::string name_of(const Recording& recording, const Entity& entity) {
  switch (entity.kind) {
    case EntityKind::program:
      return "program";
    case EntityKind::function:
      return recording.functions[entity.id].name;
    case EntityKind::object:
      return recording.objects[entity.id].name;
    case EntityKind::thread:
      return "thread " + recording.threads[entity.id].name;
  }
  return "";
}

}  // namespace longpole::analysis
