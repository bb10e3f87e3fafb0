#include "allocation/test_bench.h"

#include <algorithm>
#include <future>
#include <utility>

#include "allocation/delays.h"
#include "simulation/courses_of_chance.h"
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

// By more than a thousandth, which speeds are rounded to.
bool is_clearly_longer(Nanoseconds total, Nanoseconds than) {
  return total - than > than / simulation::recorded_speed;
}

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
    trials[i] = simulate(bound(*missing[i], machine_), 1, finder).map(middle);
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
    trials[i] =
        simulate(bound(canonical(binding), disturbances_[i].machine), 1, nullptr).map(middle);
  });
  Spread spread{known.total, known.total};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i])
      return tl::unexpected(trials[i].error());
    const Nanoseconds total = trials[i]->total;
    spread.least = std::min(spread.least, total);
    const Nanoseconds unexplained =
        trials[i]->deadlocks ? total : disturbances_[i].without_slowdown(total);
    if (is_clearly_longer(unexplained, known.total))
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

Expected<Trial> TestBench::predict(const Binding& binding) {
  auto disturbed = disturb(binding);
  if (!disturbed)
    return disturbed;
  const auto courses = follow_courses(bound(canonical(binding), machine_));
  if (!courses)
    return tl::unexpected(courses.error());
  Trial trial = courses->middle;
  Spread spread = *disturbed->spread;
  const bool can_take_longer = spread.most > disturbed->total;
  spread.least = std::min(spread.least, courses->shortest);
  spread.most = can_take_longer ? std::max(spread.most, trial.total) : trial.total;
  if (is_clearly_longer(courses->longest, trial.total))
    spread.most = std::max(spread.most, courses->longest);
  trial.spread = spread;
  return trial;
}

Expected<Trial> TestBench::predict_unbound() {
  return follow_courses(machine_).map(middle);
}

Expected<TestBench::Courses> TestBench::follow_courses(const Machine& machine) {
  return simulate(
      machine,
      simulation::depends_on_chance(recording_, machine) ? simulation::courses_of_chance : 1,
      nullptr);
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

Expected<TestBench::Courses> TestBench::simulate(const Machine& machine, std::uint32_t courses,
                                                 DelayFinder* finder) {
  std::optional<Trial> standing_still;
  // As analysis/forecast.h says.
  for (const Model model : {Model::direct, Model::client_server, Model::strict}) {
    if (paired(model) == nullptr)
      continue;
    std::vector<Expected<Trial>> trials(courses);
    share_out(courses, [&](std::size_t i, std::size_t /*worker*/) {
      Machine on_course = machine;
      on_course.chance += static_cast<std::uint32_t>(i);
      trials[i] = simulate_by(model, on_course, finder);
    });
    bool all_end = true;
    for (const Expected<Trial>& trial : trials) {
      if (!trial)
        return tl::unexpected(trial.error());
      all_end &= !trial->deadlocks;
      if (trial->deadlocks && !standing_still)
        standing_still = *trial;
    }
    if (!all_end)
      continue;
    std::ranges::sort(trials, {}, [](const Expected<Trial>& trial) { return trial->total; });
    return Courses{trials.front()->total, *std::move(trials[courses / 2]), trials.back()->total};
  }
  return Courses{standing_still->total, *standing_still, standing_still->total};
}

Expected<Trial> TestBench::simulate_by(Model model, const Machine& machine, DelayFinder* finder) {
  ++simulated_;
  Unheard unheard;
  simulation::StretchConsumer* consumer = &unheard;
  if (finder != nullptr) {
    finder->clear();
    consumer = finder;
  }
  const auto end = simulation::simulate(recording_, paired(model)->survey, machine, *consumer);
  if (!end)
    return tl::unexpected(end.error());
  Trial trial{end->total, model, end->deadlock.has_value(), {}, {}};
  if (trial.deadlocks)
    trial.total = Nanoseconds::max();
  else if (finder != nullptr)
    trial.delays = finder->delays();
  return trial;
}

}  // namespace longpole::allocation
