#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/progress_line.h"
#include "storage/load.h"
#include "trace/recording_text.h"

namespace longpole::cli {
namespace {

Expected<int> dump(const std::string& file) {
  std::string text;
  {
    const ProgressLine progress("reading " + file);
    const auto recording = storage::load_recording(file);
    if (!recording)
      return tl::unexpected(recording.error());
    text = write_recording_text(*recording);
  }
  if (const auto printed = print(text); !printed)
    return tl::unexpected(printed.error());
  return 0;
}

}  // namespace

void add_dump(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand("dump", "Print a recording as text");
  const auto file = std::make_shared<std::string>();
  command->add_option("FILE", *file, "A .lptrace, .prog or .rec file")->required();
  command->footer(
      "The text holds everything that the recording holds; `longpole assemble` reads it back.\n\n"
      "Example:\n"
      "  longpole dump program.lptrace > program.rec");
  command->callback([file, &chosen] { chosen.run = [file] { return dump(*file); }; });
}

}  // namespace longpole::cli
