#include "cli/computer_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "calibration/host_costs.h"
#include "cli/arguments.h"
#include "cli/human.h"
#include "trace/text_line.h"

namespace longpole::cli {
namespace {

using analysis::Computer;
using simulation::Machine;

constexpr std::uint32_t most_lwps = 1'000'000;  // as many as threads

std::string scheduler_names() {
  std::string names = "ideal, shared";
  for (std::size_t i = 0; i < simulation::scheduler_kind_count; ++i) {
    names += i + 1 == simulation::scheduler_kind_count ? " or " : ", ";
    names += name_of(static_cast<simulation::SchedulerKind>(i));
  }
  return names;
}

// A thread or object and what is asked of it.
struct Assignment {
  std::string name;
  std::int64_t value = 0;
};

// "T1=0,T2=1". Names may hold commas and signs: a name ends with "=NUMBER," or at the end.
Expected<std::vector<Assignment>> parse_assignments(const std::string& option,
                                                    const std::string& text) {
  std::vector<Assignment> out;
  std::size_t begin = 0;
  for (std::size_t sign = text.find('='); sign != std::string::npos; sign = text.find('=', sign)) {
    const char* const first = text.data() + ++sign;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
    const auto after = static_cast<std::size_t>(end - text.data());
    if (error != std::errc() || (after < text.size() && text[after] != ','))
      continue;
    out.push_back({text.substr(begin, sign - 1 - begin), value});
    begin = after + 1;
    if (after == text.size())
      return out;
  }
  return bad_input(fmt::format("{} {}", option, text),
                   fmt::format("\"{}\" is not a name, = and a whole number",
                               text.substr(std::min(begin, text.size()))),
                   "give threads as in worker=0,main=1");
}

std::optional<std::size_t> find_thread(const Recording& recording, const std::string& name) {
  const auto at = std::find_if(recording.threads.begin(), recording.threads.end(),
                               [&](const Thread& thread) { return thread.name == name; });
  if (at == recording.threads.end())
    return std::nullopt;
  return static_cast<std::size_t>(at - recording.threads.begin());
}

// Hands each thread that the option names, and its value, to `set`.
template <typename Set>
Expected<void> for_threads(const std::string& option, const std::string& text, std::int64_t least,
                           std::int64_t most, const Recording& recording, const Set& set) {
  if (text.empty())
    return {};
  const auto assignments = parse_assignments(option, text);
  if (!assignments)
    return tl::unexpected(assignments.error());
  for (const Assignment& one : *assignments) {
    const auto thread = find_thread(recording, one.name);
    if (!thread)
      return not_found(fmt::format("{} {}", option, text),
                       fmt::format("the recording has no thread called \"{}\"", one.name),
                       "`longpole dump` names its threads");
    if (one.value < least || one.value > most)
      return bad_input(
          fmt::format("{} {}", option, text),
          fmt::format("{} is not a whole number from {} to {}", one.value, least, most));
    set(*thread, one.value);
  }
  return {};
}

Expected<void> read_threads(const ComputerOptions& options, const Recording& recording,
                            std::uint32_t fewest_cpus, Machine& machine) {
  machine.threads.resize(recording.threads.size());
  constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
  return for_threads("--bind", options.bind, 0, std::int64_t{fewest_cpus} - 1, recording,
                     [&](std::size_t thread, std::int64_t cpu) {
                       machine.threads[thread].cpu = static_cast<std::uint32_t>(cpu);
                     })
      .and_then([&] {
        return for_threads("--priority", options.priority, lowest, highest, recording,
                           [&](std::size_t thread, std::int64_t priority) {
                             machine.threads[thread].priority = static_cast<std::int32_t>(priority);
                           });
      })
      .and_then([&] {
        return for_threads("--nice", options.nice, -20, 19, recording,
                           [&](std::size_t thread, std::int64_t nice) {
                             machine.threads[thread].nice = static_cast<std::int32_t>(nice);
                           });
      });
}

template <typename Duration>
Expected<void> read_duration(const std::string& option, const std::string& text,
                             Duration& duration) {
  if (text.empty())
    return {};
  const auto read = parse_duration(option, text);
  if (!read)
    return tl::unexpected(read.error());
  if (*read > std::chrono::seconds(1))
    return bad_input(fmt::format("{} {}", option, text), "it is longer than a second");
  duration = *read;
  return {};
}

Expected<std::vector<std::uint32_t>> read_speeds(const std::string& text) {
  std::vector<std::uint32_t> speeds;
  for (std::string_view rest = text; !text.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    double speed = 0;
    const auto [end, error] =
        std::from_chars(part.data(), part.data() + part.size(), speed, std::chars_format::fixed);
    if (error != std::errc() || end != part.data() + part.size() || !(speed >= 0.001) ||
        !(speed <= 1000))
      return bad_input(fmt::format("--speeds {}", text),
                       fmt::format("\"{}\" is not a number from 0.001 to 1000", part),
                       "give the speed of each CPU against the one that recorded, as in 1,1,0.5");
    speeds.push_back(static_cast<std::uint32_t>(std::llround(speed * simulation::recorded_speed)));
    if (part.size() == rest.size())
      break;
    rest.remove_prefix(part.size() + 1);
  }
  return speeds;
}

// 0: none were given.
Expected<std::uint32_t> read_nodes(const ComputerOptions& options, std::uint32_t fewest_cpus) {
  if (options.nodes.empty() != options.node_latency.empty())
    return bad_input(options.nodes.empty() ? "--node-latency " + options.node_latency
                                           : "--nodes " + options.nodes,
                     "--nodes and --node-latency go together");
  if (options.nodes.empty())
    return 0;
  return parse_number("--nodes", options.nodes, 1, fewest_cpus);
}

Expected<void> read_costs(const std::string& name, const Recording& recording,
                          const std::optional<HostCosts>& usual, Machine& machine) {
  HostCosts costs;
  if (name.empty() || name == "recorded") {
    if (!usual)
      return {};
    costs = *usual;
  } else if (name == "host") {
    costs = calibration::host_costs().costs;
  } else if (name != "none") {
    return bad_input("--costs " + name, "there are no such costs", "choose recorded, none or host");
  }
  machine.wake_up = costs.wake_up;
  machine.deep_sleep = costs.deep_sleep;
  machine.deep_wake_up = costs.deep_wake_up;
  machine.interrupt = costs.interrupt;
  machine.migration_cost = costs.migration;
  machine.idle_look = costs.idle_look;
  machine.packed_use = costs.packed_use;
  if (costs.tick > Nanoseconds{})
    machine.tick = costs.tick;
  // Recorded times hold those of the recorded run, but for what switches and waits took on one CPU.
  if (recording.run.cpus == 1) {
    machine.switch_cost = costs.context_switch;
    machine.block_cost = costs.block;
    machine.release_cost = costs.release;
    machine.release_afar_cost = costs.release_afar;
    machine.deep_release_cost = costs.deep_release;
    machine.interruption = costs.interruption;
    machine.lock_afar_cost = costs.lock_afar;
  }
  if (recording.run.source == Source::program)
    machine.primitive_cost = costs.call;
  return {};
}

Expected<Computer> read_scheduler(const ComputerOptions& options) {
  const std::string name = options.scheduler.empty() ? default_scheduler : options.scheduler;
  if (const auto computer = analysis::computer_named(name))
    return *computer;
  return unknown_scheduler(name);
}

struct ModelText {
  std::string object;                      // empty: in general
  std::optional<simulation::Model> model;  // none: auto
};

Expected<ModelText> parse_model(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  const bool of_object = sign != std::string::npos;
  const std::string name = of_object ? text.substr(sign + 1) : text;
  const auto model = simulation::model_named(name);
  if (!model && (of_object || name != "auto"))
    return bad_input(fmt::format("--model {}", text), "this version has no such model",
                     of_object ? "choose direct, client-server or strict"
                               : "choose auto, direct, client-server or strict");
  return ModelText{of_object ? text.substr(0, sign) : std::string(), model};
}

struct OptionOfOneValue {
  const char* name;
  std::string ComputerOptions::*value;
};

constexpr std::array<OptionOfOneValue, 15> options_of_one_value{{
    {"--scheduler", &ComputerOptions::scheduler},
    {"--bind", &ComputerOptions::bind},
    {"--priority", &ComputerOptions::priority},
    {"--nice", &ComputerOptions::nice},
    {"--latency", &ComputerOptions::latency},
    {"--nodes", &ComputerOptions::nodes},
    {"--node-latency", &ComputerOptions::node_latency},
    {"--speeds", &ComputerOptions::speeds},
    {"--switch-cost", &ComputerOptions::switch_cost},
    {"--migration-cost", &ComputerOptions::migration_cost},
    {"--wake-up", &ComputerOptions::wake_up},
    {"--interrupt", &ComputerOptions::interrupt},
    {"--costs", &ComputerOptions::costs},
    {"--devices", &ComputerOptions::devices},
    {"--lwps", &ComputerOptions::lwps},
}};

// The first option that only a machine with a scheduler has.
std::optional<std::string> of_machines(const ComputerOptions& options) {
  std::optional<std::string> first;
  for_each_option(options, [&](std::string_view name, const std::string& value) {
    if (!first && name != "--scheduler" && name != "--model")
      first = fmt::format("{} {}", name, value);
  });
  return first;
}

}  // namespace

void add_machine_options(CLI::App& command, ComputerOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    command.add_option(name, value, help)->type_name(type);
  };
  add("--latency", options.latency, "DURATION",
      "How long a signal takes from one CPU to another, as in 5us; a bare number is\nmilliseconds, "
      "here and wherever it says DURATION");
  add("--nodes", options.nodes, "N", "The CPUs are in so many nodes, the first ones in the first");
  add("--node-latency", options.node_latency, "DURATION",
      "With --nodes: how long a signal takes from one node to another");
  add("--speeds", options.speeds, "LIST",
      "How fast each CPU is against the one that recorded, as in 1,1,0.5");
  add("--switch-cost", options.switch_cost, "DURATION",
      "CPU time that it takes a CPU to change to another thread");
  add("--migration-cost", options.migration_cost, "DURATION",
      "CPU time that it takes a thread to take up on another CPU");
  add("--wake-up", options.wake_up, "DURATION",
      "Until an idle CPU takes up a thread that was woken from another CPU");
  add("--interrupt", options.interrupt, "DURATION",
      "Until a busy CPU learns of a thread that was woken from another CPU, under linux");
  add("--costs", options.costs, "NAME",
      "recorded (the default): waits, wake-ups, interrupts, migrations and switches take what\n"
      "they do on the machine that recorded; none: they take no time; host: what they do on\n"
      "this one and, of a program file, calls too; see `longpole calibrate`");
}

void add_computer_options(CLI::App& command, ComputerOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* type,
                       const std::string& help) {
    command.add_option(name, value, help)->type_name(type);
  };
  add("--scheduler", options.scheduler, "NAME",
      "linux (the default): the fair scheduler of today's kernels; shared:\n"
      "threads share the CPUs evenly, as in `report`; ideal: a CPU for each\n"
      "thread; fifo: fixed priorities, preemptive; linux-2.2, solaris: those\n"
      "of around 2000");
  command
      .add_option("--model", options.models,
                  "How a wait finds its release: direct: any will do;\n"
                  "client-server, strict: the one of the recording, for a server's\n"
                  "requests as they come or all in order; auto (the default): the\n"
                  "first of them that does not stand still. OBJECT=NAME: of one\n"
                  "lock, semaphore, condition, barrier or channel alone")
      ->type_name("NAME|OBJECT=NAME")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  add("--bind", options.bind, "T=CPU,..", "Bind threads to CPUs, counted from 0");
  add("--priority", options.priority, "T=N,..", "Priorities of threads; a larger one is higher");
  add("--nice", options.nice, "T=N,..", "Nice values of threads, -20 to 19, under linux");
  add_machine_options(command, options);
  add("--devices", options.devices, "NAME",
      "queued (the default): a device serves one request at a time;\n"
      "parallel: all at once");
  add("--lwps", options.lwps, "N",
      "Kernel threads for the threads that are not bound, under solaris;\n"
      "without it, as many as there are threads");
}

void for_each_option(const ComputerOptions& options,
                     const std::function<void(const char*, const std::string&)>& visit) {
  for (const auto& [name, value] : options_of_one_value) {
    if (!(options.*value).empty())
      visit(name, options.*value);
  }
  for (const std::string& model : options.models)
    visit("--model", model);
}

tl::unexpected<Error> unknown_scheduler(const std::string& name) {
  return bad_input(fmt::format("--scheduler {}", name), "this version has no such scheduler",
                   fmt::format("choose {}", scheduler_names()));
}

Expected<void> check_names(const ComputerOptions& options) {
  if (const auto scheduler = read_scheduler(options); !scheduler)
    return tl::unexpected(scheduler.error());
  for (const std::string& text : options.models) {
    if (const auto model = parse_model(text); !model)
      return tl::unexpected(model.error());
  }
  return {};
}

Expected<std::vector<Computer>> read_computers(const ComputerOptions& options,
                                               const Recording& recording,
                                               const std::vector<std::uint32_t>& cpus,
                                               const std::optional<HostCosts>& usual) {
  auto computer = read_scheduler(options);
  if (!computer)
    return tl::unexpected(computer.error());
  const std::string name(scheduler_name(*computer));
  if (const auto given = of_machines(options); given && computer->kind != Computer::Kind::machine)
    return bad_input(*given,
                     fmt::format("under the scheduler {} all CPUs and threads are alike", name),
                     "choose another with --scheduler, such as linux");
  Machine& machine = computer->machine;
  if (const auto costs = read_costs(options.costs, recording, usual, machine); !costs)
    return tl::unexpected(costs.error());
  const std::uint32_t fewest = *std::min_element(cpus.begin(), cpus.end());
  if (auto read = read_threads(options, recording, fewest, machine); !read)
    return tl::unexpected(read.error());
  auto read =
      read_duration("--latency", options.latency, machine.latency)
          .and_then([&] {
            return read_duration("--switch-cost", options.switch_cost, machine.switch_cost);
          })
          .and_then([&] {
            return read_duration("--migration-cost", options.migration_cost,
                                 machine.migration_cost);
          })
          .and_then([&] {
            return read_duration("--node-latency", options.node_latency, machine.node_latency);
          })
          .and_then([&] {
            if (!options.wake_up.empty())
              machine.deep_sleep = Nanoseconds{};
            return read_duration("--wake-up", options.wake_up, machine.wake_up);
          })
          .and_then(
              [&] { return read_duration("--interrupt", options.interrupt, machine.interrupt); });
  if (!read)
    return tl::unexpected(read.error());
  if (!options.devices.empty() && options.devices != "queued" && options.devices != "parallel")
    return bad_input("--devices " + options.devices, "devices are not served so",
                     "choose queued or parallel");
  machine.parallel_devices = options.devices == "parallel";
  if (!options.lwps.empty()) {
    if (machine.scheduler != simulation::SchedulerKind::solaris)
      return bad_input("--lwps " + options.lwps,
                       fmt::format("under the scheduler {} threads have no LWPs", name),
                       "choose --scheduler solaris");
    const auto lwps = parse_number("--lwps", options.lwps, 1, most_lwps);
    if (!lwps)
      return tl::unexpected(lwps.error());
    machine.lwps = *lwps;
  }
  const auto speeds = read_speeds(options.speeds);
  if (!speeds)
    return tl::unexpected(speeds.error());
  // With fewer CPUs, those are the first.
  const std::uint32_t most = *std::max_element(cpus.begin(), cpus.end());
  if (!speeds->empty() && speeds->size() != most)
    return bad_input(
        fmt::format("--speeds {}", options.speeds),
        fmt::format("{} for {}", count_text(speeds->size(), "speed"), count_text(most, "CPU")),
        "give one for each CPU");
  const auto nodes = read_nodes(options, fewest);
  if (!nodes)
    return tl::unexpected(nodes.error());

  std::vector<Computer> computers;
  for (const std::uint32_t count : cpus) {
    if (computer->kind == Computer::Kind::machine && count > simulation::most_cpus)
      return bad_input(
          fmt::format("--cpus {}", count),
          fmt::format("the scheduler {} knows up to {} CPUs", name, simulation::most_cpus),
          "choose fewer, or --scheduler shared");
    machine.cpus = count;
    machine.nodes.clear();
    for (std::uint32_t cpu = 0; *nodes > 0 && cpu < count; ++cpu)
      machine.nodes.push_back(static_cast<std::uint32_t>(std::uint64_t{cpu} * *nodes / count));
    if (!speeds->empty())
      machine.speeds.assign(speeds->begin(), speeds->begin() + count);
    computers.push_back(*computer);
  }
  return computers;
}

Expected<analysis::ModelChoice> read_models(const ComputerOptions& options,
                                            const Recording& recording) {
  analysis::ModelChoice choice;
  for (const std::string& text : options.models) {
    const auto parsed = parse_model(text);
    if (!parsed)
      return tl::unexpected(parsed.error());
    if (text.find('=') == std::string::npos) {
      choice.general = parsed->model;
      continue;
    }
    const std::size_t before = choice.objects.size();
    for (std::uint32_t i = 0; i < recording.objects.size(); ++i) {
      if (recording.objects[i].name == parsed->object)
        choice.objects.push_back({ObjectId{i}, *parsed->model});
    }
    if (choice.objects.size() == before)
      return not_found(fmt::format("--model {}", text),
                       fmt::format("the recording has no object called \"{}\"", parsed->object),
                       "`longpole dump` names its objects");
  }
  return choice;
}

Expected<Nanoseconds> parse_duration(const std::string& option, const std::string& text) {
  const Limits limits;
  TextLine line(text, 1, limits);
  auto duration = line.duration("a duration");
  if (duration && line.end())
    return duration;
  return bad_input(fmt::format("{} {}", option, text), "that is no duration",
                   "give one like 10us, 1.5ms or 2s");
}

}  // namespace longpole::cli
