#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "recording/system.h"
#include "version/version.h"

namespace longpole::cli {

Expected<void> print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return failure("cannot write to standard output", std::generic_category().message(errno));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

namespace {

constexpr const char* footer = R"(Examples:
  longpole record -- ./program its arguments        one run, kept in program.lptrace
  longpole simulate program.lptrace --cpus 1-8      how fast it would be on 1 to 8 CPUs
  longpole report program.lptrace --cpus 8          which functions are worth optimising there
  longpole report program.lptrace --by line         which lines
  longpole whatif program.lptrace --speed f=30      what it brings to make f 30% faster
  longpole bound program.lptrace --cpus 1-8         how fast it can surely be made by binding threads
  longpole validate -- ./program its arguments      the predictions beside real runs

`longpole COMMAND --help` says more. A FILE is a recording (.lptrace), a program written by hand
(.prog) or a recording as text (.rec).)";

constexpr int status_bad_input = 2;
constexpr int status_failure = 1;

int report_error(const Error& error) {
  fmt::print(stderr, "longpole: {}\n", error.text());
  return error.kind == ErrorKind::failure ? status_failure : status_bad_input;
}

std::string version_line() {
  return commit().empty() ? fmt::format("longpole {}", version())
                          : fmt::format("longpole {} ({})", version(), commit());
}

// What the parser has to say, in our form.
Error parse_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string command = "longpole";
  for (const CLI::App* sub : app.get_subcommands())
    command += " " + sub->get_name();
  std::string why = error.what();
  if (!why.empty() && (why.size() < 2 || why[1] < 'A' || why[1] > 'Z'))
    why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return {ErrorKind::bad_input, "cannot understand the command line", why,
          fmt::format("see `{} --help`", command)};
}

// Of a variable that a script has not set, most often: nobody knows what is asked for. --against '' asks for the defaults.
std::optional<Error> find_empty_value(const CLI::App& app) {
  for (const CLI::App* sub : app.get_subcommands())
    for (const CLI::Option* option : sub->get_options())
      if (!option->get_positional() && option->get_name() != "--against" &&
          std::ranges::count(option->results(), "") != 0)
        return Error{ErrorKind::bad_input, option->get_name() + " ''", "its value is empty",
                     "give one, or leave the option out"};
  return std::nullopt;
}

Error unknown_command(const std::string& name) {
  return {ErrorKind::bad_input, fmt::format("cannot understand {}", name),
          "there is no such command", "see `longpole --help`"};
}

// Cuts "PROGRAM ARGS…" off the arguments of a command that runs one: what follows "--", or begins
// with the first word that is neither an option nor the value of one.
std::vector<std::string> cut_program(const CLI::App& app, std::vector<std::string>& arguments) {
  if (arguments.empty() || (arguments.front() != "record" && arguments.front() != "validate"))
    return {};
  const CLI::App* const command = app.get_subcommand(arguments.front());
  std::size_t i = 1;
  for (; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--" || argument.size() < 2 || argument.front() != '-')
      break;
    const CLI::Option* const option = command->get_option_no_throw(argument);
    if (option != nullptr && option->get_items_expected_max() > 0)
      ++i;  // its value
  }
  i = std::min(i, arguments.size());
  const auto begin = arguments.begin() + static_cast<std::ptrdiff_t>(i);
  std::vector<std::string> program(begin, arguments.end());
  if (!program.empty() && program.front() == "--")
    program.erase(program.begin());
  arguments.erase(begin, arguments.end());
  return program;
}

int run(std::vector<std::string> arguments) {
  CLI::App app(
      "Longpole records one run of a multithreaded C or C++ program, simulates it on any number\n"
      "of CPUs, and says per function and line what the whole program would gain.",
      "longpole");
  app.footer(footer);
  app.set_version_flag("--version", version_line());
  app.require_subcommand(1);
  app.get_formatter()->label("REQUIRED", "");
  app.get_formatter()->label("TEXT", "");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  Chosen chosen;
  add_record(app, chosen);
  add_calibrate(app, chosen);
  add_simulate(app, chosen);
  add_report(app, chosen);
  add_what_if(app, chosen);
  add_allocate(app, chosen);
  add_bound(app, chosen);
  add_validate(app, chosen);
  add_dump(app, chosen);
  add_assemble(app, chosen);
  add_export(app, chosen);
  add_serve(app, chosen);
  add_launch(app, chosen);
  for (CLI::App* sub : app.get_subcommands({}))
    if (!sub->get_group().empty())
      sub->group("Commands");
  const bool nothing_asked = arguments.empty();
  const auto is_asked = [&](const CLI::App* sub) { return sub->get_name() == arguments.front(); };
  if (!nothing_asked && arguments.front().find('-') != 0 &&
      std::as_const(app).get_subcommands(is_asked).empty())
    return report_error(unknown_command(arguments.front()));
  chosen.program = cut_program(app, arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    if (nothing_asked) {
      fmt::print(stderr, "{}", app.help());
      return status_bad_input;
    }
    return report_error(parse_error(app, error));
  }
  if (const std::optional<Error> error = find_empty_value(app))
    return report_error(*error);
  const Expected<int> status = chosen.run();
  return status ? *status : report_error(status.error());
}

}  // namespace
}  // namespace longpole::cli

int main(int argc, char** argv) {
  longpole::recording::outlive_file_limits();
  try {
    return longpole::cli::run({argv + std::min(argc, 1), argv + argc});
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "longpole: not enough memory; close other programs or limit the input\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "longpole: unexpected: {}; please report this\n", error.what());
  }
  return 1;
}
