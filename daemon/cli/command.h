// The subcommands of `longpole`: one file each, which tells CLI11 its options and does its work.
//
// Every command returns its exit status or an Error; main() prints the error as
// "longpole: what: why; what to do" and turns its kind into the status: 2 for bad input, 1 for a
// failure. A command that fails has written nothing to standard output, and no file by half.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/error.h"

namespace longpole::cli {

struct Chosen {
  std::function<Expected<int>()> run;  // what the command line asked for; filled in by the parser
  // Of `record` and `validate`: the program and its arguments, which no parser of ours must touch.
  std::vector<std::string> program;
};

void add_record(CLI::App& app, Chosen& chosen);
void add_calibrate(CLI::App& app, Chosen& chosen);
void add_simulate(CLI::App& app, Chosen& chosen);
void add_report(CLI::App& app, Chosen& chosen);
void add_what_if(CLI::App& app, Chosen& chosen);
void add_allocate(CLI::App& app, Chosen& chosen);
void add_bound(CLI::App& app, Chosen& chosen);
void add_validate(CLI::App& app, Chosen& chosen);
void add_dump(CLI::App& app, Chosen& chosen);
void add_assemble(CLI::App& app, Chosen& chosen);
void add_export(CLI::App& app, Chosen& chosen);
void add_serve(CLI::App& app, Chosen& chosen);
void add_launch(CLI::App& app, Chosen& chosen);  // for `record` and `serve`, not for people

// The whole of a command's standard output, at its end.
[[nodiscard]] Expected<void> print(std::string_view text);

}  // namespace longpole::cli
