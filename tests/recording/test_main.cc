// The test programs are their own launchers: Session starts /proc/self/exe with `launch`.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string_view>

#include "recording/launcher.h"

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "launch")
    return longpole::recording::run_launcher(argv[2], std::atoi(argv[3]));
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
