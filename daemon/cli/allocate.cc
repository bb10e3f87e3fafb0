#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "allocation/binding_code.h"
#include "allocation/bound_parameters.h"
#include "allocation/disturbances.h"
#include "allocation/recommendation.h"
#include "cli/arguments.h"
#include "cli/binding_text.h"
#include "cli/command.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "cli/text_table.h"
#include "simulation/courses_of_chance.h"
#include "simulation/simulate.h"

namespace longpole::cli {
namespace {

using allocation::Algorithm;
using allocation::Recommendation;
using allocation::SearchResult;

constexpr std::uint32_t most_tests = 1'000'000'000;

struct AllocateOptions {
  std::string file;
  std::string cpus;       // empty: the machine's count
  std::string algorithm;  // empty: whichever finds the fastest binding
  std::string tests;
  std::string seed;
  std::string time;
  ComputerOptions computer;
  bool alone = false;
  bool json = false;
};

// Ends a search on Ctrl-C or when its time is over, and shows how far it is.
class Watch {
 public:
  explicit Watch(std::optional<Nanoseconds> time) : time_(time) {
    signals_.async_wait([this](const boost::system::error_code& error, int /*signal*/) {
      if (!error)
        interrupt_.request_stop();
    });
  }

  // Each search has the time anew.
  std::stop_token begin() {
    begun_ = std::chrono::steady_clock::now();
    time_is_over_ = std::stop_source();
    return time_is_over_.get_token();
  }
  void tested(const allocation::Standing& standing) {
    context_.poll();
    if (time_ && std::chrono::steady_clock::now() - begun_ >= *time_)
      time_is_over_.request_stop();
    std::string doing = fmt::format("{}: {}", name_of(standing.algorithm),
                                    count_text(standing.so_far.tests, "test"));
    if (!time_)
      doing += fmt::format(", {:.0f}% of all", 100 * standing.share);
    if (const SearchResult& best = standing.best; !best.binding.empty() && !best.trial.deadlocks)
      doing += ", " + duration_text(best.trial.total);
    progress_.set(doing);
  }
  [[nodiscard]] std::stop_token interrupted() const { return interrupt_.get_token(); }

 private:
  std::optional<Nanoseconds> time_;
  boost::asio::io_context context_;
  boost::asio::signal_set signals_{context_, SIGINT, SIGTERM};
  std::stop_source interrupt_;
  std::stop_source time_is_over_;
  std::chrono::steady_clock::time_point begun_;
  ProgressLine progress_{"searching"};
};

std::string algorithm_names() {
  std::string names;
  for (std::size_t i = 0; i < allocation::algorithm_count; ++i) {
    names += i == 0 ? "" : i + 1 == allocation::algorithm_count ? " or " : ", ";
    names += name_of(static_cast<Algorithm>(i));
  }
  return names;
}

struct Request {
  Algorithm algorithm = Algorithm::guided;
  bool any_algorithm = false;  // the answer may be that of another
  std::uint64_t tests = 500;
  std::uint64_t seed = 1;
  std::optional<Nanoseconds> time;
};

Expected<Request> read_request(const AllocateOptions& options) {
  Request request;
  request.any_algorithm = options.algorithm.empty();
  if (!options.algorithm.empty()) {
    const auto algorithm = allocation::algorithm_named(options.algorithm);
    if (!algorithm)
      return bad_input("--algorithm " + options.algorithm, "this version has no such algorithm",
                       "choose " + algorithm_names());
    request.algorithm = *algorithm;
  }
  if (!options.tests.empty()) {
    const auto tests = parse_number("--tests", options.tests, 1, most_tests);
    if (!tests)
      return tl::unexpected(tests.error());
    request.tests = *tests;
  }
  if (!options.seed.empty()) {
    const auto seed = parse_number("--seed", options.seed, 0, 0xffffffffU);
    if (!seed)
      return tl::unexpected(seed.error());
    request.seed = *seed;
  }
  if (!options.time.empty()) {
    const auto time = parse_duration("--time", options.time);
    if (!time)
      return tl::unexpected(time.error());
    request.time = *time;
    if (options.tests.empty())
      request.tests = most_tests;
  }
  return request;
}

Expected<Recommendation> recommend(const Recording& recording, const simulation::Machine& machine,
                                   const Request& request, bool alone) {
  Watch watch(request.time);
  allocation::Inquiry inquiry;
  inquiry.algorithms.clear();
  inquiry.algorithms.push_back(request.algorithm);
  for (const Algorithm other : allocation::all_algorithms()) {
    if (!alone && other != request.algorithm)
      inquiry.algorithms.push_back(other);
  }
  inquiry.takes_fastest = request.any_algorithm;
  inquiry.search.tests = request.tests;
  inquiry.search.seed = request.seed;
  inquiry.search.stop = watch.interrupted();
  inquiry.begin = [&](Algorithm /*algorithm*/) { return watch.begin(); };
  inquiry.progress = [&](const allocation::Standing& standing) { watch.tested(standing); };
  allocation::TestBench bench(recording, machine, std::thread::hardware_concurrency());
  return allocation::recommend(bench, simulation::simulate_ideal(recording), inquiry);
}

Json total_json(const SearchResult& result) {
  return result.trial.deadlocks ? Json(nullptr) : Json(result.trial.total.count());
}

Json spread_json(const SearchResult& result) {
  const auto& spread = result.trial.spread;
  if (!spread)
    return nullptr;
  const bool stands_still = spread->most == Nanoseconds::max();
  return {{"least_ns", spread->least.count()},
          {"most_ns", stands_still ? Json(nullptr) : Json(spread->most.count())}};
}

std::string json_of(const Recording& recording, const Recommendation& answer,
                    const Request& request, const analysis::Computer& computer) {
  const SearchResult& result = answer.found.result;
  Json assignment = Json::object();
  for (std::size_t thread = 0; thread < result.binding.size(); ++thread)
    assignment[recording.threads[thread].name] = result.binding[thread];
  Json others = Json::array();
  for (const Recommendation::Found& other : answer.others)
    others.push_back({{"algorithm", name_of(other.algorithm)},
                      {"total_ns", total_json(other.result)},
                      {"disturbed", spread_json(other.result)},
                      {"tests", other.result.tests}});
  return json_text(
      {{"assignment", std::move(assignment)},
       {"total_ns", total_json(result)},
       {"disturbed", spread_json(result)},
       {"tests", result.tests},
       {"tests_disturbed", result.disturbed},
       {"cpus", computer.machine.cpus},
       {"scheduler", scheduler_name(computer)},
       {"model", name_of(result.trial.model)},
       {"algorithm", name_of(answer.found.algorithm)},
       {"seed", request.seed},
       {"stopped", result.stopped},
       {"unbound_ns", answer.unbound ? Json(answer.unbound->count()) : Json(nullptr)},
       {"bound_ns", answer.bound ? number(answer.bound->convert_to<double>()) : Json(nullptr)},
       {"better_exists", answer.better_exists()},
       {"others", std::move(others)},
       {"notes", notes_of(recording)}});
}

std::string range_text(const std::optional<allocation::Spread>& spread) {
  if (!spread)
    return "–";
  return fmt::format("{} – {}", duration_text(spread->least),
                     spread->most == Nanoseconds::max() ? "deadlock" : duration_text(spread->most));
}

std::string comparison(const Recommendation& answer) {
  TextTable table({{"binding", TextTable::Align::left},
                   {"time"},
                   {"disturbed"},
                   {"against this one"},
                   {"tests"}});
  const auto found = static_cast<double>(answer.found.result.trial.total.count());
  const auto against = [&](Nanoseconds total) {
    return found > 0 ? fmt::format("{:.3f}", static_cast<double>(total.count()) / found) : "–";
  };
  const auto add = [&](const Recommendation::Found& one) {
    const allocation::Trial& trial = one.result.trial;
    table.add({std::string(name_of(one.algorithm)),
               trial.deadlocks ? "deadlock" : duration_text(trial.total), range_text(trial.spread),
               trial.deadlocks ? "–" : against(trial.total), count_text(one.result.tests)});
  };
  table.add({"unbound", answer.unbound ? duration_text(*answer.unbound) : "deadlock", "–",
             answer.unbound ? against(*answer.unbound) : "–", "–"});
  for (const Recommendation::Found& other : answer.others)
    add(other);
  add(answer.found);
  return table.text(terminal_width());
}

std::string disturbance_text(const Recommendation::Found& found, bool depends_on_chance) {
  std::string text = fmt::format(
      "\ndisturbed: the least and the most of {} simulations in which each CPU is up to 1%\n"
      "slower, and switches and wake-ups take from nothing to twice their time{}. What slower "
      "CPUs\n"
      "alone explain is left out of the most. The answer is the binding with the smallest most:\n"
      "one whose most exceeds its time is that fast only while one of two things at the same\n"
      "moment comes first.\n",
      allocation::disturbance_count,
      depends_on_chance
          ? fmt::format(",\nand of {} in which the ticks of the CPUs come at other moments",
                        simulation::courses_of_chance)
          : "");
  if (found.result.disturbed > 0)
    text += fmt::format("{} put {} of its {} through this.\n", name_of(found.algorithm),
                        count_text(found.result.disturbed), count_text(found.result.tests, "test"));
  return text;
}

std::string bound_text(const Recording& recording, const Recommendation& answer,
                       const simulation::Machine& machine) {
  if (!answer.bound)
    return {};
  const std::string bound = duration_text(answer.bound->convert_to<double>());
  // Here an idle CPU has to wake up first; `longpole bound` leaves that out unless it is told.
  const Nanoseconds latency = allocation::latency_to_bound(recording, machine);
  const std::string command = latency == Nanoseconds{}
                                  ? "longpole bound"
                                  : fmt::format("longpole bound --latency {}ns", latency.count());
  if (answer.better_exists())
    return fmt::format(
        "\nA better binding surely exists: on {} some binding of these threads takes {} or less\n"
        "(`{}`). More --tests or another --algorithm may find it.\n",
        count_text(machine.cpus, "CPU"), bound, command);
  return fmt::format(
      "\nSome binding surely takes {} or less (`{}`), and this one does. Whether there is\n"
      "a better one is not known.\n",
      bound, command);
}

std::string text_of(const Recording& recording, const Recommendation& answer,
                    const AllocateOptions& options, const analysis::Computer& computer) {
  const SearchResult& result = answer.found.result;
  const std::uint32_t cpus = computer.machine.cpus;
  std::string text =
      fmt::format("{}: {} bound to {} by {}, scheduler {}{}\n\n",
                  printable(program_name(recording, options.file)),
                  count_text(recording.threads.size(), "thread"), count_text(cpus, "CPU"),
                  name_of(answer.found.algorithm), scheduler_name(computer),
                  result.trial.model == simulation::Model::direct
                      ? ""
                      : fmt::format(", model {}", name_of(result.trial.model)));
  text += binding_table(recording, result.binding, computer.machine) + "\n" + comparison(answer);
  text +=
      disturbance_text(answer.found, simulation::depends_on_chance(recording, computer.machine)) +
      bound_text(recording, answer, computer.machine) + "\n" +
      allocation::binding_code(result.binding);
  const std::string notes = notes_text(recording);
  return text + (notes.empty() ? "" : "\n") + notes;
}

Expected<int> allocate(const AllocateOptions& options) {
  const auto request = read_request(options);
  if (!request)
    return tl::unexpected(request.error());
  std::vector<std::uint32_t> cpus;
  if (!options.cpus.empty()) {
    const auto count = parse_number("--cpus", options.cpus, 1, simulation::most_cpus);
    if (!count)
      return tl::unexpected(count.error());
    cpus.push_back(*count);
  }
  if (const auto sound = check_names(options.computer); !sound)
    return tl::unexpected(sound.error());
  const auto recording = open_recording(options.file);
  if (!recording)
    return tl::unexpected(recording.error());
  if (cpus.empty())
    cpus.push_back(recording->run.machine_cpus);
  const auto computers = read_computers(options.computer, *recording, cpus);
  if (!computers)
    return tl::unexpected(computers.error());
  const analysis::Computer& computer = computers->front();
  if (computer.kind != analysis::Computer::Kind::machine)
    return bad_input("--scheduler " + options.computer.scheduler,
                     "it knows no bindings of threads to CPUs", "choose linux or fifo");

  const auto found = recommend(*recording, computer.machine, *request, options.alone);
  if (!found)
    return tl::unexpected(found.error());
  if (found->found.result.trial.deadlocks)
    return bad_input("cannot bind the threads of " + options.file,
                     "the program stands still however its threads are bound",
                     "`longpole simulate` says where");
  const auto printed = print(options.json ? json_of(*recording, *found, *request, computer)
                                          : text_of(*recording, *found, options, computer));
  if (!printed)
    return tl::unexpected(printed.error());
  if (found->found.result.stopped && !request->time)
    fmt::print(stderr, "longpole: stopped; this is the best binding so far\n");
  return 0;
}

}  // namespace

void add_allocate(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "allocate", "Find a binding of threads to CPUs that makes the program fast");
  const auto options = std::make_shared<AllocateOptions>();
  options->computer.scheduler = "linux";
  command->add_option("FILE", options->file, "A .lptrace, .prog or .rec file")->required();
  command
      ->add_option("--cpus", options->cpus,
                   "The number of CPUs; without it, that of the machine that recorded")
      ->type_name("N");
  command
      ->add_option("--algorithm", options->algorithm,
                   "guided: changes where the threads are that held up the end; greedy,\n"
                   "dynamic-start: changes at random; sga: thread by thread, the longest\n"
                   "first; binpack: by their CPU times alone; c-sga: the better of those\n"
                   "two; block, round-robin: in order. Without it, the best that any of\n"
                   "them finds; with --alone, guided")
      ->type_name("NAME");
  command
      ->add_option("--tests", options->tests,
                   "How many bindings guided, greedy and dynamic-start try; without it, 500")
      ->type_name("N");
  command
      ->add_option("--time", options->time,
                   "Try no longer than that; without --tests, as many as there is time for.\n"
                   "The answer then depends on the speed of this computer")
      ->type_name("DURATION");
  command->add_option("--seed", options->seed, "Other numbers try other bindings; without it, 1")
      ->type_name("N");
  command
      ->add_option("--scheduler", options->computer.scheduler,
                   "linux (the default), fifo, linux-2.2 or solaris")
      ->type_name("NAME");
  command
      ->add_option("--priority", options->computer.priority,
                   "Priorities of threads; a larger one is higher. Under linux: real-time")
      ->type_name("T=N,..");
  add_machine_options(*command, options->computer);
  command->add_flag("--alone", options->alone, "Do not run the other algorithms for comparison");
  command->add_flag("--json", options->json, "Print one JSON document");
  command->footer(
      "Examples:\n"
      "  longpole allocate program.lptrace --cpus 8\n"
      "  longpole allocate program.lptrace --cpus 16 --nodes 2 --node-latency 2us --tests 5000\n"
      "  longpole allocate program.lptrace --cpus 4 --algorithm c-sga --json\n\n"
      "Ctrl-C ends the search with the best binding so far. The same options give the same "
      "binding.\n"
      "`longpole simulate --scheduler linux --bind ...` predicts the same time for it.");
  command->callback([options, &chosen] { chosen.run = [options] { return allocate(*options); }; });
}

}  // namespace longpole::cli
