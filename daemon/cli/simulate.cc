#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/confidence.h"
#include "analysis/forecast.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/comparison.h"
#include "cli/computer_options.h"
#include "cli/human.h"
#include "cli/input.h"
#include "cli/json_document.h"
#include "cli/machine_note.h"
#include "cli/progress_line.h"
#include "cli/text_table.h"

namespace longpole::cli {
namespace {

struct SimulateOptions {
  std::string file;
  std::string cpus = "1,2,4,8,16";
  ComputerOptions computer;
  std::optional<std::string> against;
  bool json = false;
};

struct SimulatedRun {
  std::uint32_t cpus = 1;
  analysis::Forecast forecast;
  double speedup = 1;                            // against the same scheduler on one CPU
  std::optional<analysis::Interval> interval{};  // of the speed-up; none: nothing was measured
};

// On as many threads as there are CPUs.
Expected<std::vector<SimulatedRun>> simulate_all(const analysis::Forecaster& forecaster,
                                                 const std::vector<analysis::Computer>& computers,
                                                 const analysis::ModelChoice& models) {
  // The last is the one CPU that the others are compared with.
  std::vector<Expected<analysis::Forecast>> forecasts(computers.size() + 1);
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < forecasts.size(); i = next++)
      forecasts[i] = forecaster.on(
          i < computers.size() ? computers[i] : with_one_cpu(computers.front()), models);
  };
  std::vector<std::future<void>> helpers;
  const std::size_t threads =
      std::min<std::size_t>(forecasts.size(), std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t i = 1; i < threads; ++i)
    helpers.push_back(std::async(std::launch::async, take));
  take();
  for (std::future<void>& helper : helpers)
    helper.get();

  std::vector<SimulatedRun> runs;
  for (const auto& forecast : forecasts) {
    if (!forecast)
      return tl::unexpected(forecast.error());
  }
  const double on_one = forecasts.back()->total_ns;
  for (std::size_t i = 0; i < computers.size(); ++i) {
    const double total = forecasts[i]->total_ns;
    runs.push_back({computers[i].machine.cpus, *forecasts[i], total > 0 ? on_one / total : 1});
  }
  return runs;
}

// Once more for each cause of doubt, so after all that is asked for.
Expected<void> add_intervals(std::vector<SimulatedRun>& runs,
                             const std::shared_ptr<const Recording>& recording,
                             const std::vector<analysis::Computer>& computers,
                             const analysis::ModelChoice& models) {
  const auto confidence = analysis::Confidence::of(recording);
  if (!confidence)
    return {};
  std::vector<std::future<Expected<analysis::Interval>>> intervals(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].cpus > 1 && !runs[i].forecast.deadlock)
      intervals[i] = std::async(std::launch::async, [&, i] {
        const double total = runs[i].forecast.total_ns;
        return confidence->of_speedup(computers[i], models, runs[i].speedup * total, total);
      });
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!intervals[i].valid())
      continue;
    const auto interval = intervals[i].get();
    if (!interval)
      return tl::unexpected(interval.error());
    runs[i].interval = *interval;
  }
  return {};
}

// Where something is most that a forecast counts; none: there are no runs.
const SimulatedRun* run_with_most(const std::vector<SimulatedRun>& runs,
                                  auto analysis::Forecast::*counted) {
  const auto most = std::ranges::max_element(
      runs, {}, [&](const SimulatedRun& run) { return run.forecast.*counted; });
  return most == runs.end() ? nullptr : &*most;
}

// What locks that another CPU had take, if it is much.
void add_fetching(const std::vector<SimulatedRun>& runs, const Recording& recording,
                  std::vector<std::string>& notes) {
  constexpr double telling_share = 0.01;
  const SimulatedRun* const most = run_with_most(runs, &analysis::Forecast::fetching_ns);
  if (most == nullptr)
    return;
  const double fetching = most->forecast.fetching_ns;
  const double share = fetching / (fetching + static_cast<double>(recording.run.cpu_time.count()));
  if (fetching > 0 && share >= telling_share)
    notes.push_back(
        fmt::format("on {} {} of the CPU time goes into fetching locks that another CPU had last, "
                    "and what they guard (--costs)",
                    count_text(most->cpus, "CPU"), percent_text(share)));
}

// That threads are packed, unless they hardly are.
void add_packing(const std::vector<SimulatedRun>& runs, const Recording& recording,
                 const analysis::Computer& computer, std::vector<std::string>& notes) {
  constexpr std::uint64_t telling_times = 10;
  const SimulatedRun* const most = run_with_most(runs, &analysis::Forecast::packed);
  if (most == nullptr || most->forecast.packed < telling_times)
    return;
  const auto& of_host = computer.machine.packed_use;
  const Nanoseconds use = of_host.value_or(recording.run.costs.packed_use);
  notes.push_back(fmt::format(
      "on {} threads that together used less than {:.0f}% of a CPU shared one {}, though another "
      "was idle; so some kernels for virtual machines do, that of {} among them (--costs)",
      count_text(most->cpus, "CPU"), static_cast<double>(use.count()) / 1e7,
      count_text(most->forecast.packed, "time"),
      of_host ? "this machine" : "the machine that recorded"));
}

std::vector<std::string> notes_on(const std::vector<SimulatedRun>& runs, const Recording& recording,
                                  const analysis::Computer& computer) {
  std::vector<std::string> notes = notes_of(recording);
  const auto not_direct = std::find_if(runs.begin(), runs.end(), [](const SimulatedRun& run) {
    return run.forecast.of_direct.has_value();
  });
  if (not_direct != runs.end())
    notes.push_back(fmt::format("by the model direct, {}",
                                deadlock_text(recording, *not_direct->forecast.of_direct)));
  if (computer.kind == analysis::Computer::Kind::machine && !computer.machine.wake_up &&
      recording.run.costs.wake_up > Nanoseconds{}) {
    const bool says_busy = computer.machine.scheduler == simulation::SchedulerKind::linux_fair &&
                           !computer.machine.interrupt &&
                           recording.run.costs.interrupt > Nanoseconds{};
    const std::string busy =
        says_busy ? fmt::format(", and a busy one {} to learn of a thread that another woke",
                                duration_text(recording.run.costs.interrupt))
                  : "";
    const HostCosts& costs = recording.run.costs;
    const bool sleeps_deeply = costs.deep_sleep > Nanoseconds{};
    const std::string deep = sleeps_deeply ? fmt::format(", one that has been for {} takes {}",
                                                         duration_text(costs.deep_sleep),
                                                         duration_text(costs.deep_wake_up))
                                           : "";
    notes.push_back(fmt::format(
        "an idle CPU takes {} to wake up{}{}, as on the machine that recorded (--costs)",
        duration_text(costs.wake_up), deep, busy));
  }
  add_packing(runs, recording, computer, notes);
  add_fetching(runs, recording, notes);
  return notes;
}

std::string json_of(const Recording& recording, const std::vector<SimulatedRun>& runs,
                    const analysis::Computer& computer) {
  const std::string_view scheduler = scheduler_name(computer);
  Json rows = Json::array();
  for (const SimulatedRun& run : runs) {
    // A program that stands still has no completion time.
    const auto& deadlock = run.forecast.deadlock;
    Json row = {{"cpus", run.cpus},
                {"scheduler", scheduler},
                {"model", simulation::name_of(run.forecast.model)},
                {"total_ns", deadlock ? Json(nullptr) : number(run.forecast.total_ns)},
                {"speedup", deadlock ? Json(nullptr) : number(run.speedup)},
                {"deadlock", deadlock ? deadlock_json(recording, *deadlock) : Json(nullptr)}};
    if (run.interval) {
      row["speedup_low"] = fraction(run.interval->low);
      row["speedup_high"] = fraction(run.interval->high);
    }
    rows.push_back(std::move(row));
  }
  return json_text({{"runs", std::move(rows)}, {"notes", notes_on(runs, recording, computer)}});
}

std::string text_of(const Recording& recording, const std::vector<SimulatedRun>& runs,
                    const analysis::Computer& computer, const std::string& file) {
  const std::string_view scheduler = scheduler_name(computer);
  const bool one_model = std::all_of(runs.begin(), runs.end(), [&](const SimulatedRun& run) {
    return run.forecast.model == runs.front().forecast.model;
  });
  std::vector<TextTable::Column> columns{{"CPUs"}, {"time"}, {"speed-up"}};
  const bool intervals = std::any_of(
      runs.begin(), runs.end(), [](const SimulatedRun& run) { return run.interval.has_value(); });
  if (intervals)
    columns.push_back({"from–to"});
  if (!one_model)
    columns.push_back({"model", TextTable::Align::left});
  TextTable table(std::move(columns));
  for (const SimulatedRun& run : runs) {
    std::vector<std::string> cells{count_text(run.cpus), duration_text(run.forecast.total_ns),
                                   fmt::format("{:.2f}", run.speedup)};
    if (intervals)
      cells.push_back(
          run.interval ? fmt::format("{:.2f}–{:.2f}", run.interval->low, run.interval->high) : "–");
    if (!one_model)
      cells.emplace_back(simulation::name_of(run.forecast.model));
    table.add(std::move(cells));
  }
  const std::string notes = notes_text(notes_on(runs, recording, computer));
  const std::string model =
      one_model ? fmt::format(", model {}", name_of(runs.front().forecast.model)) : "";
  return fmt::format("{}: {}, scheduler {}{}\n\n{}{}{}", printable(program_name(recording, file)),
                     count_text(recording.threads.size(), "thread"), scheduler, model,
                     table.text(terminal_width()), notes.empty() ? "" : "\n", notes);
}

Expected<int> simulate(const SimulateOptions& options) {
  const auto cpus = parse_cpu_list(options.cpus);
  if (!cpus)
    return tl::unexpected(cpus.error());
  if (const auto sound = check_names(options.computer); !sound)
    return tl::unexpected(sound.error());
  std::optional<Side> other;
  if (options.against) {
    auto parsed = parse_against(*options.against, options.cpus);
    if (!parsed)
      return tl::unexpected(parsed.error());
    other = *std::move(parsed);
  }
  auto opened = open_recording(options.file);
  if (!opened)
    return tl::unexpected(opened.error());
  const auto recording = std::make_shared<const Recording>(*std::move(opened));
  if (other)
    return compare(recording, {options.computer, options.cpus, written(options.computer)}, *other,
                   options.file, options.json);
  const auto computers = read_computers(options.computer, *recording, *cpus);
  if (!computers)
    return tl::unexpected(computers.error());
  const auto models = read_models(options.computer, *recording);
  if (!models)
    return tl::unexpected(models.error());

  const analysis::Forecaster forecaster(recording);
  Expected<std::vector<SimulatedRun>> runs;
  {
    const ProgressLine progress(
        fmt::format("simulating {}", count_text(recording->event_count(), "event")));
    runs = simulate_all(forecaster, *computers, *models);
  }
  if (!runs)
    return tl::unexpected(runs.error());
  if (const auto added = add_intervals(*runs, recording, *computers, *models); !added)
    return tl::unexpected(added.error());
  const auto still = std::find_if(runs->begin(), runs->end(), [](const SimulatedRun& run) {
    return run.forecast.deadlock.has_value();
  });

  if (options.json) {
    if (const auto printed = print(json_of(*recording, *runs, computers->front())); !printed)
      return tl::unexpected(printed.error());
    fmt::print(stderr, "{}", notes_text(*recording));
  }
  if (still != runs->end())
    return tl::unexpected(deadlock_error(*recording, *still->forecast.deadlock, options.file));
  if (!options.json) {
    if (const auto printed = print(text_of(*recording, *runs, computers->front(), options.file));
        !printed)
      return tl::unexpected(printed.error());
    if (computers->front().kind == analysis::Computer::Kind::shared) {
      // On the most CPUs the two are the furthest apart.
      const SimulatedRun& most = *std::max_element(
          runs->begin(), runs->end(),
          [](const SimulatedRun& a, const SimulatedRun& b) { return a.cpus < b.cpus; });
      const analysis::Prediction prediction{
          most.cpus, analysis::Scheduler::shared, most.forecast.total_ns, most.speedup, {}};
      fmt::print(stderr, "{}", machine_note(forecaster, *models, prediction));
    }
  }
  return 0;
}

}  // namespace

void add_simulate(CLI::App& app, Chosen& chosen) {
  CLI::App* const command = app.add_subcommand(
      "simulate", "Predict how long the recorded program takes on other numbers of CPUs");
  const auto options = std::make_shared<SimulateOptions>();
  command->add_option("FILE", options->file, "A .lptrace, .prog or .rec file")->required();
  command
      ->add_option("--cpus", options->cpus,
                   "Numbers of CPUs, as in 1,2,4 or 1-8; without it, 1,2,4,8,16")
      ->type_name("LIST");
  add_computer_options(*command, options->computer);
  command
      ->add_option("--against", options->against,
                   "Compare with another simulation, for which OPTIONS in quotes are those\n"
                   "above, not taken over from here but for the numbers of CPUs")
      ->type_name("OPTIONS");
  command->add_flag("--json", options->json, "Print one JSON document");
  command->footer(
      "Examples:\n"
      "  longpole simulate program.lptrace --cpus 1,2,4,8\n"
      "  longpole simulate program.lptrace --cpus 2,4 --scheduler linux --bind main=0\n"
      "  longpole simulate program.prog --cpus 1-16 --json\n"
      "  longpole simulate program.lptrace --cpus 4 --against '--scheduler solaris --lwps 4'\n\n"
      "from–to: where the speed-up lies if waits, switches and wake-ups take anything from nothing "
      "to twice\n"
      "what was measured, CPUs that fall idle had learnt to look for a thread never or each time,\n"
      "recording cost a third less or more, and waits for nobody known may be gone. That threads\n"
      "compute faster or slower on more CPUs, because of caches, only `longpole validate` can "
      "tell.\n\n"
      "A program that deadlocks has no completion time: its threads and what they wait for are\n"
      "named, and the exit status is 2. With --json the document is printed all the same.");
  command->callback([options, &chosen] { chosen.run = [options] { return simulate(*options); }; });
}

}  // namespace longpole::cli
