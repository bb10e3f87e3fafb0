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
      disturbances_(disturbances(machine_, simulation::recorded_costs(recording))),
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
  share_out(missing.size(), [&](std::size_t i, std::size_t worker) {
    DelayFinder* const finder = delays == Delays::yes ? finders_[worker].get() : nullptr;
    trials[i] = simulate(bound(*missing[i], machine_), finder);
  });
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (!trials[i])
      return tl::unexpected(trials[i].error());
    Trial& known = known_[*missing[i]];
    trials[i]->spread = known.spread;
    known = *std::move(trials[i]);
  }
  std::vector<Trial> out;
  for (const Binding& binding : canonicals)
    out.emplace_back(known_.at(binding)).spread.reset();  // only who asks has that
  return out;
}

Expected<Trial> TestBench::disturb(const Binding& binding) {
  const auto tested = test({&binding, 1});
  if (!tested)
    return tl::unexpected(tested.error());
  Trial& known = known_.at(canonical(binding));
  if (known.spread)
    return known;
  std::vector<Expected<Trial>> trials(disturbances_.size());
  share_out(disturbances_.size(), [&](std::size_t i, std::size_t /*worker*/) {
    trials[i] = simulate(bound(canonical(binding), disturbances_[i].machine), nullptr);
  });
  Spread spread{known.total, known.total};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i])
      return tl::unexpected(trials[i].error());
    const Nanoseconds total = trials[i]->total;
    spread.least = std::min(spread.least, total);
    const Nanoseconds unexplained =
        trials[i]->deadlocks ? total : disturbances_[i].without_slowdown(total);
    if (unexplained - known.total > known.total / simulation::recorded_speed)
      spread.most = std::max(spread.most, unexplained);
  }
  known.spread = spread;
  return known;
}

void TestBench::share_out(std::size_t count,
                          const std::function<void(std::size_t, std::size_t)>& work) const {
  std::atomic<std::size_t> next = 0;
  const auto take = [&](std::size_t worker) {
    for (std::size_t i = next++; i < count; i = next++)
      work(i, worker);
  };
  std::vector<std::future<void>> helpers;
  for (std::size_t worker = 1; worker < std::min<std::size_t>(workers_, count); ++worker)
    helpers.push_back(std::async(std::launch::async, take, worker));
  take(0);
  for (std::future<void>& helper : helpers)
    helper.get();
}

Expected<Trial> TestBench::test_unbound() {
  return simulate(machine_, nullptr);
}

Machine TestBench::bound(const Binding& binding, Machine machine) const {
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
    Trial trial{end->total, model, end->deadlock.has_value(), {}, {}};
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
