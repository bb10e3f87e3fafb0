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

Recording worker_that_finds_its_task() {
  return read_recording(R"(
0  main create W
0  W    lock M
0  W    cwait C M took=2 from main
2  main lock M cpu=2
2  main signal C woke=1
2  main unlock M
2  W    unlock M cpu=0
10 main lock M cpu=8
10 main signal C woke=0
10 main unlock M
11 W    lock M cpu=1
11 W    unlock M
15 W    end cpu=4
15 main end
)");
}

Recording read_golden(const std::string& name) {
  std::ifstream file(std::string(LONGPOLE_GOLDEN) + "/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  std::stringstream text;
  text << file.rdbuf();
  return read_text(text.str());
}

}  // namespace longpole::analysis
