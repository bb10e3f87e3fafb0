// The studies of Papers IV and V, repeated: how much faster programs get when their threads are bound
// by one algorithm than by another. Prints tables; draws the papers' figures into FOLDER.
//
//   allocation_study paper-iv|paper-iv-readings|paper-v|tests FOLDER [PROGRAMS [SCHEDULER]]
//   allocation_study program THREADS SEED [UNIT]   prints one of the programs; UNIT in nanoseconds
//
//   paper-iv   Figures 5 and 6: binpack against sga and c-sga for 4, 8, … 32 threads on 2 CPUs up to as
//              many as threads; least, average and most (260 programs a number of threads)
//   paper-iv-readings   what the average gain of c-sga comes to by how the paper is read (minutes)
//   paper-v    Figure 2: the gain of greedy on binpack by number of tests; what stopping after 100 tests
//              without gain costs; Figure 3: 10 × 500 against 1 × 5000 tests and 10 × 50 against 1 × 500
//   tests      the gain on binpack by number of tests, of every search
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "allocation/search.h"
#include "cli/curves.h"
#include "paper_programs.h"
#include "trace/program_text.h"

namespace {

using namespace longpole;
using allocation::Algorithm;
using allocation::SearchResult;
using allocation::TestBench;
using cli::Chart;
using cli::Curve;

struct Study {
  std::string folder;
  std::uint32_t programs = 0;
  simulation::SchedulerKind scheduler = simulation::SchedulerKind::linux_fair;
  PaperReading reading{};
  std::optional<simulation::HandOff> hand_off{};
};

double total_of(const SearchResult& result) {
  return static_cast<double>(result.trial.total.count());
}

double total_after(const SearchResult& result, std::uint64_t tests) {
  double total = 0;
  for (const SearchResult::Improvement& one : result.improvements) {
    if (one.tests <= tests || total == 0)
      total = static_cast<double>(one.total.count());
  }
  return total;
}

SearchResult run(TestBench& bench, Algorithm algorithm, const allocation::SearchOptions& options) {
  auto result = search(bench, algorithm, options);
  if (!result) {
    fmt::print(stderr, "{}\n", result.error().text());
    std::exit(1);
  }
  return *std::move(result);
}

// Calls `measure` for each program on the bench of a machine, on all cores; what it answers, in order.
std::vector<std::vector<double>> for_programs(
    const Study& study, std::uint32_t threads, std::uint32_t cpus,
    const std::function<std::vector<double>(TestBench&)>& measure) {
  std::vector<std::vector<double>> out(study.programs);
  std::atomic<std::uint32_t> next = 0;
  const auto take = [&] {
    for (std::uint32_t program = next++; program < study.programs; program = next++) {
      const auto recording =
          read_program(paper_program(threads, program, study.reading), "program");
      simulation::Machine machine;
      machine.scheduler = study.scheduler;
      machine.hand_off = study.hand_off;
      machine.cpus = cpus;
      TestBench bench(*recording, machine, 1);
      out[program] = measure(bench);
    }
  };
  std::vector<std::jthread> workers;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
    workers.emplace_back(take);
  workers.clear();
  return out;
}

double average(const std::vector<std::vector<double>>& rows, std::size_t column) {
  double sum = 0;
  for (const std::vector<double>& row : rows)
    sum += row[column];
  return sum / static_cast<double>(rows.size());
}

double extreme(const std::vector<std::vector<double>>& rows, std::size_t column, bool most) {
  double value = rows.front()[column];
  for (const std::vector<double>& row : rows)
    value = most ? std::max(value, row[column]) : std::min(value, row[column]);
  return value;
}

void write_charts(const Study& study, const std::string& name, const std::vector<Chart>& charts) {
  const std::string path = study.folder + "/" + name;
  std::ofstream(path) << cli::svg_of(charts);
  fmt::print("{}\n", path);
}

// On how many CPUs binpack is as fast on average as c-sga on four (Paper IV section 6: seven, give or
// take one); the number of threads where it is on none.
std::uint32_t cpus_as_good_as_four(const Study& study, std::uint32_t threads) {
  const auto on_four = for_programs(study, threads, 4, [](TestBench& bench) {
    return std::vector{total_of(run(bench, Algorithm::c_sga, {}))};
  });
  for (std::uint32_t cpus = 4; cpus < threads; ++cpus) {
    const auto rows = for_programs(study, threads, cpus, [](TestBench& bench) {
      return std::vector{total_of(run(bench, Algorithm::binpack, {}))};
    });
    if (average(rows, 0) <= average(on_four, 0))
      return cpus;
  }
  return threads;
}

void paper_iv(const Study& study) {
  std::vector<Chart> sga_charts;
  std::vector<Chart> c_sga_charts;
  std::uint64_t worse = 0;
  std::uint64_t all = 0;
  double least_of_half = 1e9;
  double most_of_half = 0;
  fmt::print("threads  cpus   least  average    most   c-sga average\n");
  for (std::uint32_t threads = 4; threads <= 32; threads += 4) {
    Chart sga{fmt::format("{} threads", threads),
              "CPUs",
              "binpack / SGA",
              {{"min", {}}, {"average", {}}, {"max", {}}}};
    Chart c_sga{fmt::format("{} threads", threads),
                "CPUs",
                "binpack / C-SGA",
                {{"average", {}}, {"max", {}}}};
    for (std::uint32_t cpus = 2; cpus <= threads; ++cpus) {
      const auto rows = for_programs(study, threads, cpus, [](TestBench& bench) {
        const double binpack = total_of(run(bench, Algorithm::binpack, {}));
        return std::vector{binpack / total_of(run(bench, Algorithm::sga, {})),
                           binpack / total_of(run(bench, Algorithm::c_sga, {}))};
      });
      if (2 * cpus <= threads) {
        least_of_half = std::min(least_of_half, average(rows, 1));
        most_of_half = std::max(most_of_half, average(rows, 1));
      }
      for (const std::vector<double>& row : rows)
        worse += row[0] < 1 ? 1U : 0U;
      all += rows.size();
      sga.curves[0].points.emplace_back(cpus, extreme(rows, 0, false));
      sga.curves[1].points.emplace_back(cpus, average(rows, 0));
      sga.curves[2].points.emplace_back(cpus, extreme(rows, 0, true));
      c_sga.curves[0].points.emplace_back(cpus, average(rows, 1));
      c_sga.curves[1].points.emplace_back(cpus, extreme(rows, 1, true));
      fmt::print("{:7} {:5} {:7.3f} {:8.3f} {:7.3f} {:15.3f}\n", threads, cpus,
                 extreme(rows, 0, false), average(rows, 0), extreme(rows, 0, true),
                 average(rows, 1));
      std::fflush(stdout);
      if (extreme(rows, 1, false) < 1)
        fmt::print("c-sga was worse than binpack\n");
    }
    if (threads >= 8)
      fmt::print("{} threads: binpack on {} CPUs is as fast as c-sga on 4\n", threads,
                 cpus_as_good_as_four(study, threads));
    sga_charts.push_back(std::move(sga));
    c_sga_charts.push_back(std::move(c_sga));
  }
  fmt::print("sga is worse than binpack for {:.1f}%\n",
             100 * static_cast<double>(worse) / static_cast<double>(all));
  fmt::print("on up to half as many CPUs as threads c-sga gains {:.1f}% to {:.1f}% on average\n",
             100 * (least_of_half - 1), 100 * (most_of_half - 1));
  write_charts(study, "paper-iv-figure-5.svg", sga_charts);
  write_charts(study, "paper-iv-figure-6.svg", c_sga_charts);
}

struct Variant {
  std::string name;
  Study study;
};

std::vector<Variant> readings(const Study& study) {
  using simulation::HandOff;
  std::vector<Variant> all;
  for (const auto& [entering, enters] : {std::pair{"first", PaperReading::Enters::first},
                                         {"chance", PaperReading::Enters::chance},
                                         {"draw", PaperReading::Enters::draw}}) {
    for (const bool leaves_any : {true, false}) {
      for (const bool does_the_other : {true, false}) {
        for (const auto& [grouping, groups] : {std::pair{"", PaperReading::Groups::chance},
                                               {" even", PaperReading::Groups::even},
                                               {" one", PaperReading::Groups::one}}) {
          for (const auto& [handing, hand_off] :
               {std::pair{"", HandOff::ordered}, {" barging", HandOff::barging}}) {
            Variant variant{fmt::format("{}{}{}{}{}", entering, leaves_any ? " any" : " last",
                                        does_the_other ? " other" : "", grouping, handing),
                            study};
            variant.study.reading = {enters, leaves_any, does_the_other, groups};
            variant.study.hand_off = hand_off;
            all.push_back(std::move(variant));
          }
        }
      }
    }
  }
  return all;
}

// The gain of c-sga by each reading, the least gain of a case highest; then that of the default
// reading by the other schedulers.
void paper_iv_readings(const Study& study) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> cases = {
      {8, 2},  {8, 4},   {16, 2}, {16, 4}, {16, 8}, {24, 2},
      {24, 6}, {24, 12}, {32, 2}, {32, 8}, {32, 16}};
  fmt::print("{:30}", "gain of c-sga in %");
  for (const auto& [threads, cpus] : cases)
    fmt::print("{:>7}", fmt::format("{}/{}", threads, cpus));
  fmt::print("   16 as 4   32 as 4\n");
  const auto measured = [&](const Variant& variant) {
    std::string text = fmt::format("{:30}", variant.name);
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [threads, cpus] : cases) {
      const auto rows = for_programs(variant.study, threads, cpus, [](TestBench& bench) {
        return std::vector{total_of(run(bench, Algorithm::binpack, {})) /
                           total_of(run(bench, Algorithm::c_sga, {}))};
      });
      const double gain = average(rows, 0) - 1;
      least = std::min(least, gain);
      text += fmt::format("{:7.1f}", 100 * gain);
    }
    for (const std::uint32_t threads : {16U, 32U})
      text += fmt::format("{:10}", cpus_as_good_as_four(variant.study, threads));
    return std::pair{least, text};
  };
  std::multimap<double, std::string, std::greater<>> lines;
  for (const Variant& reading : readings(study))
    lines.insert(measured(reading));
  for (const auto& [least, line] : lines)
    fmt::print("{}\n", line);
  for (std::size_t i = 0; i < simulation::scheduler_kind_count; ++i) {
    Study other = study;
    other.scheduler = static_cast<simulation::SchedulerKind>(i);
    if (other.scheduler != study.scheduler)
      fmt::print(
          "{}\n",
          measured({fmt::format("scheduler {}", simulation::name_of(other.scheduler)), other})
              .second);
  }
}

void paper_v(const Study& study) {
  Chart gain{"The gain of greedy on binpack", "tests", "binpack / greedy", {}};
  double all_tests = 0;
  double stopped_tests = 0;
  double loss = 0;
  double cases = 0;
  for (std::uint32_t threads = 8; threads <= 36; threads += 4) {
    const auto rows = for_programs(study, threads, threads / 4, [](TestBench& bench) {
      const double binpack = total_of(run(bench, Algorithm::binpack, {}));
      const SearchResult all = run(bench, Algorithm::greedy, {.tests = 500, .patience = 0});
      const SearchResult stopped = run(bench, Algorithm::greedy, {.tests = 500, .patience = 100});
      std::vector<double> row{static_cast<double>(all.tests), static_cast<double>(stopped.tests),
                              total_of(stopped) / total_of(all)};
      for (std::uint64_t tests = 20; tests <= 500; tests += 40)
        row.push_back(binpack / total_after(all, tests));
      return row;
    });
    Curve curve{fmt::format("{} threads, {} CPUs", threads, threads / 4), {}};
    for (std::size_t i = 0; i <= 12; ++i)
      curve.points.emplace_back(20 + 40 * static_cast<double>(i), average(rows, 3 + i));
    fmt::print("{}: {:.3f} after 20 tests, {:.3f} after 500\n", curve.name,
               curve.points.front().second, curve.points.back().second);
    std::fflush(stdout);
    gain.curves.push_back(std::move(curve));
    all_tests += average(rows, 0);
    stopped_tests += average(rows, 1);
    loss += average(rows, 2);
    cases += 1;
  }
  fmt::print(
      "stopping after 100 tests without gain: {:.0f}% fewer tests, {:.1f}% slower programs\n",
      100 * (1 - stopped_tests / all_tests), 100 * (loss / cases - 1));

  Chart starts{"One start against ten", "CPUs", "1 x / 10 x", {}};
  for (const std::uint32_t threads : {16U, 24U}) {
    for (const std::uint64_t tests : {std::uint64_t{500}, std::uint64_t{5000}}) {
      Curve curve{fmt::format("{} threads, 1 x {} / 10 x {}", threads, tests, tests / 10), {}};
      for (std::uint32_t cpus = 2; cpus <= threads / 2; cpus += 2) {
        const auto rows = for_programs(study, threads, cpus, [&](TestBench& bench) {
          const SearchResult one = run(bench, Algorithm::greedy, {.tests = tests, .patience = 0});
          const SearchResult ten =
              run(bench, Algorithm::dynamic_start,
                  {.tests = tests, .patience = 0, .tests_per_start = tests / 10});
          return std::vector{total_of(one) / total_of(ten)};
        });
        curve.points.emplace_back(cpus, average(rows, 0));
      }
      fmt::print("{}:", curve.name);
      for (const auto& [cpus, ratio] : curve.points)
        fmt::print(" {}: {:.3f}", cpus, ratio);
      fmt::print("\n");
      std::fflush(stdout);
      starts.curves.push_back(std::move(curve));
    }
  }
  write_charts(study, "paper-v.svg", {gain, starts});
}

void by_tests(const Study& study) {
  const std::vector<std::uint64_t> budgets{20, 50, 100, 200, 500, 1000, 2000};
  std::vector<Chart> charts;
  for (const std::uint32_t threads : {16U, 32U}) {
    for (const std::uint32_t cpus : {threads / 8, threads / 4}) {
      Chart chart{fmt::format("{} threads, {} CPUs", threads, cpus), "tests", "binpack / …", {}};
      for (const Algorithm algorithm :
           {Algorithm::greedy, Algorithm::dynamic_start, Algorithm::guided}) {
        const auto rows = for_programs(study, threads, cpus, [&](TestBench& bench) {
          const double binpack = total_of(run(bench, Algorithm::binpack, {}));
          const SearchResult result = run(
              bench, algorithm,
              {.tests = budgets.back(), .patience = algorithm == Algorithm::greedy ? 0U : 100U});
          std::vector<double> row;
          for (const std::uint64_t budget : budgets)
            row.push_back(binpack / total_after(result, budget));
          return row;
        });
        Curve curve{std::string(name_of(algorithm)), {}};
        fmt::print("{} {:14}", chart.title, curve.name);
        for (std::size_t i = 0; i < budgets.size(); ++i) {
          curve.points.emplace_back(budgets[i], average(rows, i));
          fmt::print("  {}: {:.4f}", budgets[i], average(rows, i));
        }
        fmt::print("\n");
        std::fflush(stdout);
        chart.curves.push_back(std::move(curve));
      }
      charts.push_back(std::move(chart));
    }
  }
  write_charts(study, "searches-by-tests.svg", charts);
}

int usage() {
  fmt::print(stderr,
             "usage: allocation_study paper-iv|paper-iv-readings|paper-v|tests FOLDER [PROGRAMS "
             "[SCHEDULER]]\n"
             "       allocation_study program THREADS SEED [UNIT]\n");
  return 2;
}

int study_of(const std::vector<std::string>& arguments) {
  const std::map<std::string, std::function<void(const Study&)>> studies{
      {"paper-iv", paper_iv},
      {"paper-iv-readings", paper_iv_readings},
      {"paper-v", paper_v},
      {"tests", by_tests}};
  if (arguments.size() < 2 || arguments.size() > 4)
    return usage();
  if (arguments[0] == "program") {
    const auto threads =
        static_cast<std::uint32_t>(std::strtoul(arguments[1].c_str(), nullptr, 10));
    PaperReading reading;
    if (arguments.size() == 4)
      reading.unit_ns = static_cast<std::uint32_t>(std::strtoul(arguments[3].c_str(), nullptr, 10));
    if (arguments.size() < 3 || threads < 2 || threads > 1000 || reading.unit_ns == 0)
      return usage();
    fmt::print("{}",
               paper_program(threads, std::strtoull(arguments[2].c_str(), nullptr, 10), reading));
    return 0;
  }
  const auto chosen = studies.find(arguments[0]);
  const auto scheduler = simulation::scheduler_named(arguments.size() > 3 ? arguments[3] : "linux");
  Study study;
  study.folder = arguments[1];
  study.scheduler = scheduler.value_or(simulation::SchedulerKind::linux_fair);
  study.programs = static_cast<std::uint32_t>(
      std::strtoul(arguments.size() > 2 ? arguments[2].c_str() : "260", nullptr, 10));
  if (chosen == studies.end() || !scheduler || study.programs == 0)
    return usage();
  chosen->second(study);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return study_of({argv + std::min(argc, 1), argv + argc});
}
