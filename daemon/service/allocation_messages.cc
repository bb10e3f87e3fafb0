#include "service/allocation_messages.h"

#include <fmt/format.h>

#include <string>

#include "allocation/binding_code.h"
#include "service/computer_messages.h"
#include "service/limits.h"
#include "service/marshalling.h"

namespace longpole::service {
namespace {

using allocation::Algorithm;

constexpr const char* cannot_search = "cannot search for a binding";
constexpr std::uint64_t usual_tests = 500;
constexpr Nanoseconds longest_latency = std::chrono::seconds(1);

// The one that is asked for first.
Expected<std::vector<Algorithm>> read_algorithms(const v1::AllocateRequest& request) {
  if (request.all())
    return allocation::all_algorithms();
  std::vector<Algorithm> read{Algorithm::guided};
  if (!request.algorithm().empty()) {
    const auto algorithm = allocation::algorithm_named(request.algorithm());
    if (!algorithm)
      return bad_input(cannot_search,
                       fmt::format("there is no algorithm '{}'", request.algorithm()),
                       "guided is one");
    read.front() = *algorithm;
  }
  for (const Algorithm quick :
       {Algorithm::block, Algorithm::round_robin, Algorithm::binpack, Algorithm::c_sga}) {
    if (request.compare() && quick != read.front())
      read.push_back(quick);
  }
  return read;
}

void write_assignment(const allocation::Binding& binding, const Recording& recording,
                      google::protobuf::RepeatedPtrField<v1::ThreadOnCpu>& messages) {
  for (std::size_t thread = 0; thread < binding.size(); ++thread) {
    v1::ThreadOnCpu& message = *messages.Add();
    message.set_thread(to_utf8(recording.threads[thread].name));
    message.set_cpu(binding[thread]);
  }
}

void write_spread(const allocation::Spread& spread, v1::Spread& message) {
  message.set_least_ns(static_cast<double>(spread.least.count()));
  if (spread.most != Nanoseconds::max())
    message.set_most_ns(static_cast<double>(spread.most.count()));
}

}  // namespace

Expected<SearchRequest> read_search(const v1::AllocateRequest& request,
                                    const Recording& recording) {
  SearchRequest read;
  auto algorithms = read_algorithms(request);
  if (!algorithms)
    return tl::unexpected(algorithms.error());
  read.inquiry.algorithms = *std::move(algorithms);
  read.inquiry.takes_fastest = request.all();
  if (request.tests() > max_tests)
    return over_limit(cannot_search, fmt::format("{} tests are more than {} (max_tests)",
                                                 request.tests(), max_tests));
  read.inquiry.search.tests = request.tests() == 0 ? usual_tests : request.tests();
  read.inquiry.search.seed = request.seed();

  v1::PredictRequest computer;
  computer.add_cpus(request.cpus());
  computer.set_scheduler(request.scheduler().empty() ? "linux" : request.scheduler());
  if (request.has_machine())
    *computer.mutable_machine() = request.machine();
  auto computers = read_computers(computer, recording);
  if (!computers)
    return tl::unexpected(computers.error());
  if (computers->front().kind != analysis::Computer::Kind::machine)
    return bad_input(
        cannot_search,
        fmt::format("the scheduler {} knows no bindings of threads to CPUs", request.scheduler()),
        "name another, such as linux");
  read.machine = std::move(computers->front().machine);
  return read;
}

void write_search_progress(const allocation::Standing& standing, bool with_assignment,
                           const Recording& recording, v1::AllocateProgress& message) {
  message.set_tests(standing.tests);
  message.set_algorithm(std::string(name_of(standing.algorithm)));
  message.set_share(standing.share);
  const allocation::SearchResult& best = standing.best;
  if (best.binding.empty() || best.trial.deadlocks)
    return;
  message.set_total_ns(static_cast<double>(best.trial.total.count()));
  if (with_assignment)
    write_assignment(best.binding, recording, *message.mutable_assignment());
}

void write_recommendation(const allocation::Recommendation& answer, const Recording& recording,
                          v1::AllocateResult& message) {
  const allocation::SearchResult& found = answer.found.result;
  write_assignment(found.binding, recording, *message.mutable_assignment());
  message.set_total_ns(static_cast<double>(found.trial.total.count()));
  message.set_model(std::string(name_of(found.trial.model)));
  message.set_tests(found.tests);
  message.set_algorithm(std::string(name_of(answer.found.algorithm)));
  if (found.trial.spread)
    write_spread(*found.trial.spread, *message.mutable_disturbed());
  if (answer.unbound)
    message.set_unbound_ns(static_cast<double>(answer.unbound->count()));
  if (answer.bound) {
    message.set_bound_ns(answer.bound->convert_to<double>());
    message.set_better_exists(answer.better_exists());
  }
  for (const allocation::Recommendation::Found& other : answer.others) {
    v1::AlgorithmTotal& total = *message.add_others();
    total.set_algorithm(std::string(name_of(other.algorithm)));
    if (!other.result.trial.deadlocks)
      total.set_total_ns(static_cast<double>(other.result.trial.total.count()));
    total.set_tests(other.result.tests);
    if (other.result.trial.spread)
      write_spread(*other.result.trial.spread, *total.mutable_disturbed());
  }
  message.set_code(allocation::binding_code(found.binding));
}

Expected<std::vector<Nanoseconds>> read_latencies(const v1::BoundRequest& request) {
  const std::string what = "cannot bound the completion time for these latencies";
  if (static_cast<std::size_t>(request.latencies_ns_size()) > max_latencies)
    return over_limit(what,
                      fmt::format("there are {}, and a request has at most {} (max_latencies)",
                                  request.latencies_ns_size(), max_latencies),
                      "ask in several requests");
  std::vector<Nanoseconds> latencies;
  for (const std::int64_t latency : request.latencies_ns()) {
    if (latency < 0 || Nanoseconds{latency} > longest_latency)
      return bad_input(what, fmt::format("{} ns is not between 0 and a second", latency));
    latencies.emplace_back(latency);
  }
  if (latencies.empty())
    latencies.emplace_back(0);
  return latencies;
}

void write_bounds(const allocation::ProgramParameters& program,
                  const allocation::BoundFinder& finder, const std::vector<std::uint32_t>& cpus,
                  const std::vector<Nanoseconds>& latencies, v1::BoundResponse& message) {
  message.set_threads(static_cast<std::uint32_t>(program.parameters.profile.size()));
  message.set_signals(program.signals);
  message.set_work_ns(static_cast<double>(program.work.count()));
  for (const std::uint32_t count : cpus) {
    for (const Nanoseconds latency : latencies) {
      const allocation::Bound bound = finder.find(count, latency);
      v1::BoundRow& row = *message.add_rows();
      row.set_cpus(count);
      row.set_latency_ns(latency.count());
      row.set_bound(bound.ratio.convert_to<double>());
      row.set_total_ns(row.bound() * static_cast<double>(program.ideal.count()));
      row.mutable_allocation()->Add(bound.allocation.begin(), bound.allocation.end());
    }
  }
}

}  // namespace longpole::service
