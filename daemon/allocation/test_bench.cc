#include "allocation/test_bench.h"

#include <algorithm>
#include <future>
#include <utility>

#include "allocation/delays.h"
#include "simulation/simulate.h"
#include "simulation/synchronization.h"

namespace longpole::allocation {

using simulation::Machine;
using simulation::Model;

namespace {

class Unheard final : public simulation::StretchConsumer {
 public:
  void add(const simulation::Stretch& /*stretch*/) override {}
};

}  // namespace

struct TestBench::Paired {
  explicit Paired(const Recording& recording, simulation::WaitFors found)
      : pairs(std::move(found)), survey(recording, &pairs) {}
  simulation::WaitFors pairs;
  simulation::Survey survey;
};

TestBench::TestBench(const Recording& recording, Machine machine, unsigned workers)
    : recording_(recording),
      machine_(std::move(machine)),
      workers_(std::max(1U, workers)),
      interchangeable_(machine_) {
  for (unsigned worker = 0; worker < workers_; ++worker)
    finders_.push_back(std::make_unique<DelayFinder>());
}

TestBench::~TestBench() = default;

const TestBench::Paired* TestBench::paired(Model model) {
  const auto index = static_cast<std::size_t>(model);
  std::call_once(paired_once_[index], [&] {
    auto pairs = simulation::pair_waits(recording_, {model, {}});
    if (pairs)
      paired_[index] = std::make_unique<Paired>(recording_, *std::move(pairs));
  });
  return paired_[index].get();
}

Expected<std::vector<Trial>> TestBench::test(std::span<const Binding> bindings, Delays delays) {
  std::vector<Binding> canonicals;
  std::vector<const Binding*> missing;
  for (const Binding& binding : bindings)
    canonicals.push_back(canonical(binding));
  for (const Binding& binding : canonicals) {
    const auto known = known_.find(binding);
    const bool is_missing =
        known == known_.end() || (delays == Delays::yes && !known->second.delays);
    if (is_missing && std::none_of(missing.begin(), missing.end(),
                                   [&](const Binding* other) { return *other == binding; }))
      missing.push_back(&binding);
  }

  std::vector<Expected<Trial>> trials(missing.size());
  std::atomic<std::size_t> next = 0;
  const auto take = [&](std::size_t worker) {
    DelayFinder* const finder = delays == Delays::yes ? finders_[worker].get() : nullptr;
    for (std::size_t i = next++; i < missing.size(); i = next++)
      trials[i] = simulate(bound(*missing[i]), finder);
  };
  std::vector<std::future<void>> helpers;
  for (std::size_t worker = 1; worker < std::min<std::size_t>(workers_, missing.size()); ++worker)
    helpers.push_back(std::async(std::launch::async, take, worker));
  take(0);
  for (std::future<void>& helper : helpers)
    helper.get();

  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!trials[i])
      return tl::unexpected(trials[i].error());
    known_.insert_or_assign(*missing[i], *std::move(trials[i]));
  }
  std::vector<Trial> out;
  for (const Binding& binding : canonicals)
    out.push_back(known_.at(binding));
  return out;
}

Expected<Trial> TestBench::test_unbound() {
  return simulate(machine_, nullptr);
}

Machine TestBench::bound(const Binding& binding) const {
  Machine machine = machine_;
  machine.threads.resize(recording_.threads.size());
  for (std::size_t thread = 0; thread < binding.size(); ++thread) {
    machine.threads[thread].cpu = binding[thread];
    machine.cpus = std::max(machine.cpus, binding[thread] + 1);
  }
  // A shadow is on a node of its own, as far from all others as any.
  for (std::uint32_t cpu = machine_.cpus; cpu < machine.cpus; ++cpu) {
    if (!machine.nodes.empty())
      machine.nodes.push_back(simulation::most_cpus + cpu);
    if (!machine.speeds.empty())
      machine.speeds.push_back(simulation::recorded_speed);
  }
  return machine;
}

Expected<Trial> TestBench::simulate(const Machine& machine, DelayFinder* finder) {
  ++simulated_;
  std::optional<Trial> first;
  for (const Model model : {Model::direct, Model::client_server, Model::strict}) {
    const Paired* const known = paired(model);
    if (known == nullptr)
      continue;
    Unheard unheard;
    simulation::StretchConsumer* consumer = &unheard;
    if (finder != nullptr) {
      finder->clear();
      consumer = finder;
    }
    const auto end = simulation::simulate(recording_, known->survey, machine, *consumer);
    if (!end)
      return tl::unexpected(end.error());
    Trial trial{end->total, model, end->deadlock.has_value(), {}};
    if (!trial.deadlocks) {
      if (finder != nullptr)
        trial.delays = finder->delays();
      return trial;
    }
    trial.total = Nanoseconds::max();
    if (!first)
      first = trial;
  }
  return *first;
}

}  // namespace longpole::allocation
