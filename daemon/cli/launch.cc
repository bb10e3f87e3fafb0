#include <memory>
#include <string>

#include "cli/command.h"
#include "recording/launcher.h"

namespace longpole::cli {

void add_launch(CLI::App& app, Chosen& chosen) {
  struct Options {
    std::string directory;
    int lifeline = -1;
  };
  CLI::App* const command =
      app.add_subcommand("launch", "Start a program to record; used by record and serve");
  command->group("");  // not shown
  const auto options = std::make_shared<Options>();
  command->add_option("DIRECTORY", options->directory)->required();
  command->add_option("LIFELINE", options->lifeline)->required();
  command->callback([options, &chosen] {
    chosen.run = [options]() -> Expected<int> {
      return recording::run_launcher(options->directory, options->lifeline);
    };
  });
}

}  // namespace longpole::cli
