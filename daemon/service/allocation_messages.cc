#include "service/allocation_messages.h"

#include <fmt/format.h>

#include <string>

#include "allocation/binding_code.h"
#include "service/computer_messages.h"
#include "service/limits.h"
#include "service/marshalling.h"

namespace longpole::service {
namespace {

constexpr std::uint64_t usual_tests = 500;
constexpr Nanoseconds longest_latency = std::chrono::seconds(1);

void write_assignment(const allocation::Binding& binding, const Recording& recording,
                      google::protobuf::RepeatedPtrField<v1::ThreadOnCpu>& messages) {
  for (std::size_t thread = 0; thread < binding.size(); ++thread) {
    v1::ThreadOnCpu& message = *messages.Add();
    message.set_thread(to_utf8(recording.threads[thread].name));
    message.set_cpu(binding[thread]);
  }
}

}  // namespace

Expected<SearchRequest> read_search(const v1::AllocateRequest& request,
                                    const Recording& recording) {
  const std::string what = "cannot search for a binding";
  SearchRequest read;
  if (!request.algorithm().empty()) {
    const auto algorithm = allocation::algorithm_named(request.algorithm());
    if (!algorithm)
      return bad_input(what, fmt::format("there is no algorithm '{}'", request.algorithm()),
                       "guided is one");
    read.algorithm = *algorithm;
  }
  if (request.tests() > max_tests)
    return over_limit(
        what, fmt::format("{} tests are more than {} (max_tests)", request.tests(), max_tests));
  read.options.tests = request.tests() == 0 ? usual_tests : request.tests();
  read.options.seed = request.seed();

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
        what,
        fmt::format("the scheduler {} knows no bindings of threads to CPUs", request.scheduler()),
        "name another, such as linux");
  read.machine = std::move(computers->front().machine);
  return read;
}

void write_search_progress(const allocation::SearchResult& so_far, bool with_assignment,
                           const Recording& recording, v1::AllocateProgress& message) {
  message.set_tests(so_far.tests);
  if (so_far.binding.empty() || so_far.trial.deadlocks)
    return;
  message.set_total_ns(static_cast<double>(so_far.trial.total.count()));
  if (with_assignment)
    write_assignment(so_far.binding, recording, *message.mutable_assignment());
}

void write_search_answer(const SearchAnswer& answer, const Recording& recording,
                         v1::AllocateResult& message) {
  const allocation::SearchResult& found = answer.found;
  write_assignment(found.binding, recording, *message.mutable_assignment());
  message.set_total_ns(static_cast<double>(found.trial.total.count()));
  message.set_model(std::string(name_of(found.trial.model)));
  message.set_tests(found.tests);
  if (answer.unbound_ns)
    message.set_unbound_ns(*answer.unbound_ns);
  if (answer.bound_ns) {
    message.set_bound_ns(answer.bound_ns->convert_to<double>());
    message.set_better_exists(*answer.bound_ns < found.trial.total.count());
  }
  for (const SearchAnswer::Other& other : answer.others) {
    v1::AlgorithmTotal& total = *message.add_others();
    total.set_algorithm(std::string(name_of(other.algorithm)));
    if (!other.found.trial.deadlocks)
      total.set_total_ns(static_cast<double>(other.found.trial.total.count()));
    total.set_tests(other.found.tests);
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
