#include "analysis/forecast.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "simulation/courses_of_chance.h"
#include "simulation/simulate.h"
#include "simulation/synchronization.h"

namespace longpole::analysis {

using simulation::courses_of_chance;
using simulation::Model;
using simulation::Models;

namespace {

constexpr std::string_view ideal_name = "ideal";
constexpr std::string_view shared_name = "shared";

// With fewer, a course takes no longer than a thread to start.
constexpr std::size_t fewest_events_for_helpers = 2'000;

class Unheard final : public simulation::StretchConsumer {
 public:
  void add(const simulation::Stretch& /*stretch*/) override {}
};

std::vector<std::uint32_t> key_of(const Models& models) {
  std::vector<std::uint32_t> key{static_cast<std::uint32_t>(models.general)};
  for (const Models::OfObject& one : models.objects) {
    key.push_back(one.object.value);
    key.push_back(static_cast<std::uint32_t>(one.model));
  }
  return key;
}

}  // namespace

std::string_view scheduler_name(const Computer& computer) {
  switch (computer.kind) {
    case Computer::Kind::ideal:
      return ideal_name;
    case Computer::Kind::shared:
      return shared_name;
    case Computer::Kind::machine:
      return simulation::name_of(computer.machine.scheduler);
  }
  return {};
}

std::optional<Computer> computer_named(std::string_view scheduler) {
  Computer computer;
  if (scheduler == ideal_name) {
    computer.kind = Computer::Kind::ideal;
  } else if (scheduler == shared_name) {
    computer.kind = Computer::Kind::shared;
  } else if (const auto kind = simulation::scheduler_named(scheduler)) {
    computer.kind = Computer::Kind::machine;
    computer.machine.scheduler = *kind;
  } else {
    return std::nullopt;
  }
  return computer;
}

bool are_alike(double speedup, double other) {
  return std::max(speedup, other) < alike_speedups * std::min(speedup, other);
}

Computer with_one_cpu(Computer computer) {
  computer.machine.cpus = 1;
  computer.machine.nodes.clear();
  if (!computer.machine.speeds.empty())
    computer.machine.speeds.erase(computer.machine.speeds.begin() + 1,
                                  computer.machine.speeds.end());
  for (simulation::ThreadSettings& thread : computer.machine.threads)
    thread.cpu.reset();
  return computer;
}

// What is the same for all computers.
struct Forecaster::Paired {
  std::vector<std::uint32_t> key;
  std::once_flag once;
  std::optional<simulation::WaitFors> pairs;  // none: not to be had
  std::optional<simulation::Survey> survey;   // of the machines: where there are pairs
  std::once_flag once_ideal;
  std::optional<CompletionTimes> ideal;
};

Forecaster::Forecaster(std::shared_ptr<const Recording> recording)
    : recording_(std::move(recording)) {}

std::shared_ptr<Forecaster::Paired> Forecaster::paired(const Models& models) const {
  std::shared_ptr<Paired> found;
  {
    const std::scoped_lock lock(mutex_);
    std::vector<std::uint32_t> key = key_of(models);
    const auto known =
        std::find_if(recent_.begin(), recent_.end(),
                     [&](const std::shared_ptr<Paired>& one) { return one->key == key; });
    if (known != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, known);
    } else {
      recent_.push_front(std::make_shared<Paired>());
      recent_.front()->key = std::move(key);
      if (recent_.size() > most_recent_models)
        recent_.pop_back();
    }
    found = recent_.front();
  }
  // Outside the lock: others may ask for another model meanwhile.
  std::call_once(found->once, [&] {
    found->pairs = simulation::pair_waits(*recording_, models);
    if (found->pairs)
      found->survey.emplace(*recording_, &*found->pairs);
  });
  return found;
}

namespace {

tl::unexpected<Error> no_pairs(const Models& models) {
  return bad_input(
      "cannot simulate by the model " + std::string(name_of(models.general)),
      "the program stands still when it is run on one CPU, so nobody knows who ends which wait",
      "choose the model direct");
}

}  // namespace

bool Forecaster::depends_on_chance(const Computer& computer) const {
  return computer.kind == Computer::Kind::machine &&
         simulation::depends_on_chance(*recording_, computer.machine);
}

Expected<Forecast> Forecaster::on_machine(const simulation::Machine& machine,
                                          const simulation::Survey& survey) const {
  Unheard unheard;
  const auto end = simulation::simulate(*recording_, survey, machine, unheard);
  if (!end)
    return tl::unexpected(end.error());
  Forecast forecast;
  forecast.total_ns = static_cast<double>(end->total.count());
  forecast.spinning_ns = static_cast<double>(end->spinning.count());
  forecast.fetching_ns = static_cast<double>(end->fetching.count());
  forecast.packed = end->packed;
  forecast.chance = machine.chance;
  forecast.deadlock = end->deadlock;
  return forecast;
}

// Each CPU takes the next one.
Expected<Forecast> Forecaster::middle_of_courses(const simulation::Machine& machine,
                                                 const simulation::Survey& survey) const {
  std::vector<Expected<Forecast>> courses(courses_of_chance);
  std::atomic<std::uint32_t> next{0};
  const auto simulate = [&] {
    simulation::Machine on_course = machine;
    while ((on_course.chance = next++) < courses_of_chance)
      courses[on_course.chance] = on_machine(on_course, survey);
  };
  std::vector<std::future<void>> helpers;
  if (recording_->event_count() >= fewest_events_for_helpers)
    for (std::uint32_t i = 1; i < std::min(courses_of_chance, std::thread::hardware_concurrency());
         ++i)
      helpers.push_back(std::async(std::launch::async, simulate));
  simulate();
  for (std::future<void>& helper : helpers)
    helper.get();
  for (Expected<Forecast>& course : courses)
    if (!course || course->deadlock)
      return std::move(course);
  const auto middle = courses.begin() + courses_of_chance / 2;
  std::ranges::nth_element(courses, middle, {}, [](const Expected<Forecast>& course) {
    return std::pair(course->total_ns, course->chance);
  });
  return std::move(*middle);
}

Expected<Forecast> Forecaster::under(const Computer& computer, const Models& models,
                                     Courses courses) const {
  const std::shared_ptr<Paired> known = paired(models);
  if (!known->pairs)
    return no_pairs(models);
  if (computer.kind == Computer::Kind::machine) {
    auto forecast = courses == Courses::middle && depends_on_chance(computer)
                        ? middle_of_courses(computer.machine, *known->survey)
                        : on_machine(computer.machine, *known->survey);
    if (forecast)
      forecast->model = models.general;
    return forecast;
  }
  Forecast forecast;
  forecast.model = models.general;
  std::call_once(known->once_ideal, [&] {
    known->ideal.emplace(simulation::simulate_ideal(*recording_, &*known->pairs),
                         recording_->threads.size());
  });
  const Prediction prediction = known->ideal->predict(
      computer.machine.cpus,
      computer.kind == Computer::Kind::ideal ? Scheduler::ideal : Scheduler::shared);
  forecast.total_ns = prediction.total_ns;
  forecast.deadlock = prediction.deadlock;
  return forecast;
}

Expected<Executed> Forecaster::executed(const Computer& computer, const Models& models) const {
  const std::shared_ptr<Paired> known = paired(models);
  if (!known->pairs)
    return no_pairs(models);
  if (computer.kind == Computer::Kind::machine) {
    simulation::Machine machine = computer.machine;
    if (depends_on_chance(computer)) {
      const auto forecast = under(computer, models, Courses::middle);
      if (!forecast)
        return tl::unexpected(forecast.error());
      machine.chance = forecast->chance;
    }
    auto run = simulation::simulate(*recording_, machine, &*known->pairs);
    if (!run)
      return tl::unexpected(run.error());
    return Executed{models.general, std::make_shared<const Execution>(recording_, *std::move(run),
                                                                      computer.machine.cpus)};
  }
  return Executed{models.general, std::make_shared<const Execution>(
                                      recording_,
                                      std::make_shared<const simulation::Schedule>(
                                          simulation::simulate_ideal(*recording_, &*known->pairs)),
                                      computer.machine.cpus,
                                      computer.kind == Computer::Kind::ideal ? Scheduler::ideal
                                                                             : Scheduler::shared)};
}

Expected<double> Forecaster::compensated_total(const Computer& computer, const ModelChoice& choice,
                                               double uncompensated_ns,
                                               double cpu_time_ratio) const {
  if (computer.kind != Computer::Kind::machine)
    return uncompensated_ns * cpu_time_ratio;
  Computer slower = computer;
  simulation::Machine& machine = slower.machine;
  machine.speeds.resize(machine.cpus, simulation::recorded_speed);
  for (std::uint32_t& speed : machine.speeds)
    speed = static_cast<std::uint32_t>(std::clamp(std::round(speed / cpu_time_ratio),
                                                  double{simulation::slowest_speed},
                                                  double{simulation::fastest_speed}));
  const auto forecast = on(slower, choice);
  if (!forecast)
    return tl::unexpected(forecast.error());
  return forecast->deadlock ? uncompensated_ns * cpu_time_ratio : forecast->total_ns;
}

Expected<Executed> Forecaster::execute(const Computer& computer, const ModelChoice& choice) const {
  Models models{choice.general.value_or(Model::direct), choice.objects};
  Expected<Executed> first = executed(computer, models);
  if (choice.general || !first || !first->execution->deadlock())
    return first;
  for (const Model next : {Model::client_server, Model::strict}) {
    models.general = next;
    Expected<Executed> run = executed(computer, models);
    if (run && !run->execution->deadlock())
      return run;
  }
  return first;
}

Expected<ForecastOfFunctions> Forecaster::functions_on(const Computer& computer,
                                                       const ModelChoice& choice) const {
  auto forecast = on(computer, choice);
  if (!forecast)
    return tl::unexpected(forecast.error());
  const std::shared_ptr<Paired> known = paired({forecast->model, choice.objects});
  ForecastOfFunctions out{*std::move(forecast), {}};
  if (computer.kind == Computer::Kind::machine) {
    ActivityConsumer activity(*recording_);
    simulation::Machine machine = computer.machine;
    machine.chance = out.forecast.chance;
    if (const auto end = simulation::simulate(*recording_, *known->survey, machine, activity); !end)
      return tl::unexpected(end.error());
    out.functions = activity.functions();
    return out;
  }
  const simulation::Schedule ideal = simulation::simulate_ideal(*recording_, &*known->pairs);
  const auto enough = static_cast<std::uint32_t>(recording_->threads.size());
  out.functions = shared_activity(
      *recording_, ideal,
      computer.kind == Computer::Kind::ideal ? std::max(1U, enough) : computer.machine.cpus);
  return out;
}

Expected<Forecast> Forecaster::on(const Computer& computer, const ModelChoice& choice,
                                  Courses courses) const {
  Models models{choice.general.value_or(Model::direct), choice.objects};
  Expected<Forecast> first = under(computer, models, courses);
  if (choice.general || !first || !first->deadlock)
    return first;
  for (const Model next : {Model::client_server, Model::strict}) {
    models.general = next;
    Expected<Forecast> forecast = under(computer, models, courses);
    if (forecast && !forecast->deadlock) {
      forecast->of_direct = std::move(first->deadlock);
      return forecast;
    }
  }
  return first;  // it stands still whatever the model
}

}  // namespace longpole::analysis
