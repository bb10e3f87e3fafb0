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
#include "allocation/search.h"
#include "cli/arguments.h"
#include "cli/binding_text.h"
#include "cli/command.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/progress_line.h"
#include "cli/text_table.h"
#include "simulation/simulate.h"

namespace longpole::cli {
namespace {

using allocation::Algorithm;
using allocation::SearchResult;
using allocation::TestBench;

constexpr std::uint32_t most_tests = 1'000'000'000;

struct Options {
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

struct Found {
  Algorithm algorithm = Algorithm::guided;
  SearchResult result;
};

struct Answer {
  Found found;
  std::optional<double> unbound_ns;  // none: it stands still
  std::vector<Found> others;
  std::optional<double> bound_ns;  // none: nothing is known for such a machine

  // Only what lies above the bound is surely not the best.
  [[nodiscard]] bool better_exists() const {
    return bound_ns && static_cast<double>(found.result.trial.total.count()) > *bound_ns;
  }
};

// Ends a search on Ctrl-C or when its time is over, and shows how far it is.
class Watch {
 public:
  explicit Watch(std::optional<Nanoseconds> time) : time_(time) {
    signals_.async_wait([this](const boost::system::error_code& error, int /*signal*/) {
      if (error)
        return;
      interrupted_ = true;
      stop_.request_stop();
    });
  }

  // Each search has the time anew.
  void begin(Algorithm algorithm, std::uint64_t tests) {
    name_ = name_of(algorithm);
    of_tests_ = tests;
    begun_ = std::chrono::steady_clock::now();
    if (!interrupted_)
      stop_ = std::stop_source();
  }
  void tested(const SearchResult& so_far) {
    context_.poll();
    if (time_ && std::chrono::steady_clock::now() - begun_ >= *time_)
      stop_.request_stop();
    std::string doing = fmt::format("{}: {}", name_, count_text(so_far.tests, "test"));
    if (of_tests_ > 0)
      doing = fmt::format("{}: {} of {}", name_, count_text(so_far.tests),
                          count_text(of_tests_, "test"));
    if (!so_far.binding.empty() && !so_far.trial.deadlocks)
      doing += ", " + duration_text(so_far.trial.total);
    progress_.set(doing);
  }
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }
  [[nodiscard]] bool interrupted() const { return interrupted_; }

 private:
  std::optional<Nanoseconds> time_;
  boost::asio::io_context context_;
  boost::asio::signal_set signals_{context_, SIGINT, SIGTERM};
  std::stop_source stop_;
  bool interrupted_ = false;
  std::string_view name_;
  std::uint64_t of_tests_ = 0;
  std::chrono::steady_clock::time_point begun_;
  ProgressLine progress_{"searching"};
};

bool is_search(Algorithm algorithm) {
  return algorithm == Algorithm::greedy || algorithm == Algorithm::dynamic_start ||
         algorithm == Algorithm::guided;
}

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

Expected<Request> read_request(const Options& options) {
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

Expected<Found> find(TestBench& bench, Algorithm algorithm, const Request& request, Watch& watch) {
  watch.begin(algorithm, is_search(algorithm) ? request.tests : 0);
  allocation::SearchOptions options;
  options.tests = request.tests;
  options.seed = request.seed;
  options.stop = watch.token();
  options.progress = [&](const SearchResult& so_far) { watch.tested(so_far); };
  auto result = search(bench, algorithm, options);
  if (!result)
    return tl::unexpected(result.error());
  return Found{algorithm, *std::move(result)};
}

void take_the_fastest(Answer& answer) {
  const auto fastest = std::min_element(
      answer.others.begin(), answer.others.end(),
      [](const Found& a, const Found& b) { return a.result.trial.total < b.result.trial.total; });
  if (fastest == answer.others.end() ||
      fastest->result.trial.total >= answer.found.result.trial.total)
    return;
  std::swap(*fastest, answer.found);
  answer.found.result.stopped |= fastest->result.stopped;
  std::sort(answer.others.begin(), answer.others.end(),
            [](const Found& a, const Found& b) { return a.algorithm < b.algorithm; });
}

Expected<Answer> answer(const Recording& recording, const simulation::Machine& machine,
                        const Request& request, bool alone) {
  Watch watch(request.time);
  TestBench bench(recording, machine, std::thread::hardware_concurrency());
  auto found = find(bench, request.algorithm, request, watch);
  if (!found)
    return tl::unexpected(found.error());
  Answer answer{*std::move(found), {}, {}, {}};
  if (const auto bound =
          allocation::surely_reached(recording, simulation::simulate_ideal(recording), machine))
    answer.bound_ns = bound->convert_to<double>();
  const auto unbound = bench.test_unbound();
  if (!unbound)
    return tl::unexpected(unbound.error());
  if (!unbound->deadlocks)
    answer.unbound_ns = static_cast<double>(unbound->total.count());
  for (std::size_t i = 0; !alone && i < allocation::algorithm_count; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    if (algorithm == request.algorithm || (watch.interrupted() && is_search(algorithm)))
      continue;
    // Paper IV's may need more CPUs than a machine can have.
    if (auto other = find(bench, algorithm, request, watch);
        other && !(other->result.stopped && watch.interrupted()))
      answer.others.push_back(*std::move(other));
  }
  if (request.any_algorithm)
    take_the_fastest(answer);
  return answer;
}

Json total_json(const SearchResult& result) {
  return result.trial.deadlocks ? Json(nullptr) : Json(result.trial.total.count());
}

std::string json_of(const Recording& recording, const Answer& answer, const Request& request,
                    const analysis::Computer& computer) {
  const SearchResult& result = answer.found.result;
  Json assignment = Json::object();
  for (std::size_t thread = 0; thread < result.binding.size(); ++thread)
    assignment[recording.threads[thread].name] = result.binding[thread];
  Json others = Json::array();
  for (const Found& other : answer.others)
    others.push_back({{"algorithm", name_of(other.algorithm)},
                      {"total_ns", total_json(other.result)},
                      {"tests", other.result.tests}});
  return json_text({{"assignment", std::move(assignment)},
                    {"total_ns", total_json(result)},
                    {"tests", result.tests},
                    {"cpus", computer.machine.cpus},
                    {"scheduler", scheduler_name(computer)},
                    {"model", name_of(result.trial.model)},
                    {"algorithm", name_of(answer.found.algorithm)},
                    {"seed", request.seed},
                    {"stopped", result.stopped},
                    {"unbound_ns", answer.unbound_ns ? number(*answer.unbound_ns) : Json(nullptr)},
                    {"bound_ns", answer.bound_ns ? number(*answer.bound_ns) : Json(nullptr)},
                    {"better_exists", answer.better_exists()},
                    {"others", std::move(others)}});
}

std::string comparison(const Answer& answer) {
  struct Row {
    std::string name;
    std::optional<double> total;
    std::string tests;
  };
  std::vector<Row> rows{{"unbound", answer.unbound_ns, "–"}};
  const auto add = [&](const Found& found) {
    const SearchResult& result = found.result;
    rows.push_back(
        {std::string(name_of(found.algorithm)),
         result.trial.deadlocks ? std::nullopt : std::optional(double(result.trial.total.count())),
         count_text(result.tests)});
  };
  for (const Found& other : answer.others)
    add(other);
  add(answer.found);
  const auto found_ns = static_cast<double>(answer.found.result.trial.total.count());
  TextTable table({{"binding", TextTable::Align::left}, {"time"}, {"against this one"}, {"tests"}});
  for (const Row& row : rows)
    table.add({row.name, row.total ? duration_text(*row.total) : "deadlock",
               row.total && found_ns > 0 ? fmt::format("{:.3f}", *row.total / found_ns) : "–",
               row.tests});
  return table.text(terminal_width());
}

std::string bound_text(const Answer& answer, std::uint32_t cpus) {
  if (!answer.bound_ns)
    return {};
  if (answer.better_exists())
    return fmt::format(
        "\nA better binding surely exists: on {} some binding of these threads takes {} or less\n"
        "(`longpole bound`). More --tests or another --algorithm may find it.\n",
        count_text(cpus, "CPU"), duration_text(*answer.bound_ns));
  return fmt::format(
      "\nSome binding surely takes {} or less (`longpole bound`), and this one does. Whether there "
      "is\n"
      "a better one is not known.\n",
      duration_text(*answer.bound_ns));
}

std::string text_of(const Recording& recording, const Answer& answer, const Options& options,
                    const analysis::Computer& computer) {
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
  text += bound_text(answer, cpus) + "\n" + allocation::binding_code(result.binding);
  const std::string notes = notices_text(recording);
  return text + (notes.empty() ? "" : "\n") + notes;
}

Expected<int> allocate(const Options& options) {
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

  const auto found = answer(*recording, computer.machine, *request, options.alone);
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
  const auto options = std::make_shared<Options>();
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
