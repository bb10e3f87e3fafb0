#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/progress_line.h"
#include "storage/load.h"

namespace longpole::cli {
namespace {

struct AssembleOptions {
  std::string file;
  std::string output;
};

Expected<int> assemble(const AssembleOptions& options) {
  const ProgressLine progress("reading " + options.file);
  const auto recording = storage::load_recording(options.file);
  if (!recording)
    return tl::unexpected(recording.error());
  if (const auto saved = storage::save_recording(*recording, options.output); !saved)
    return tl::unexpected(saved.error());
  return 0;
}

}  // namespace

void add_assemble(CLI::App& app, Chosen& chosen) {
  CLI::App* const command =
      app.add_subcommand("assemble", "Make a recording file from text (.rec or .prog)");
  const auto options = std::make_shared<AssembleOptions>();
  command->add_option("FILE", options->file, "A .rec, .prog or .lptrace file")->required();
  command->add_option("-o,--output", options->output, "The .lptrace file to write")
      ->type_name("FILE")
      ->required();
  command->footer(
      "Example:\n"
      "  longpole assemble program.rec -o program.lptrace");
  command->callback([options, &chosen] { chosen.run = [options] { return assemble(*options); }; });
}

}  // namespace longpole::cli
