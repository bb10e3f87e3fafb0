#include "programs.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "simulation/simulate.h"
#include "trace/program_text.h"
#include "trace/recording_text.h"

namespace longpole::analysis {

Recording read_text(const std::string& program) {
  auto recording = read_program(program, "test");
  if (!recording) {
    ADD_FAILURE() << recording.error().text() << "\n" << program;
    return {};
  }
  return simulation::with_known_condition_counts(*std::move(recording));
}

Recording read_recording(const std::string& text) {
  auto recording = read_recording_text(text, "test");
  if (!recording) {
    ADD_FAILURE() << recording.error().text() << "\n" << text;
    return {};
  }
  return *std::move(recording);
}

Recording read_golden(const std::string& name) {
  std::ifstream file(std::string(LONGPOLE_GOLDEN) + "/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return read_text(text.str());
}

}  // namespace longpole::analysis
