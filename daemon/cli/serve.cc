#include "service/serve.h"

#include <memory>

#include "cli/command.h"

namespace longpole::cli {

void add_serve(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand("serve", "Run the daemon that an editor talks to");
  const auto options = std::make_shared<service::ServeOptions>();
  command
      ->add_option("--socket", options->socket,
                   "The Unix socket to listen on, in a directory that only you can enter;\n"
                   "without it, a new one in a new directory")
      ->type_name("PATH");
  command->add_flag("--parent-stdin", options->parent_stdin,
                    "End when standard input ends, or the process that started this one");
  command->footer(
      "Prints one line once clients may connect: READY and a JSON document that says where.");
  command->callback([options, &chosen] {
    chosen.run = [options]() -> Expected<int> { return service::serve(*options); };
  });
}

}  // namespace longpole::cli
