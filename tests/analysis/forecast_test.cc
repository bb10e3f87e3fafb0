// Which course of chance a forecast is of.
#include "analysis/forecast.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "programs.h"
#include "simulation/courses_of_chance.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

// B falls idle again and again beside C, which waits for A's CPU: whether it looks for C then is chance.
std::shared_ptr<const Recording> run_of_chance(std::size_t more_events = 0) {
  std::string text = "thread A\n  run f 30\nthread B\n";
  for (int i = 0; i < 30; ++i)
    text += "  run g 100us\n  sleep 700us\n";
  text += "thread C\n  run f 30\n";
  Recording recording = read_text(text);
  std::vector<Event>& events = recording.threads.back().events;
  events.insert(events.begin(), more_events, Event{});
  recording.run.costs.wake_up = Nanoseconds{10'000};
  return std::make_shared<const Recording>(std::move(recording));
}

Computer two_cpus() {
  Computer computer{Computer::Kind::machine, {}};
  computer.machine.cpus = 2;
  return computer;
}

std::vector<double> totals_of(const Recording& recording, simulation::Machine machine) {
  std::vector<double> totals;
  for (machine.chance = 0; machine.chance < simulation::courses_of_chance; ++machine.chance)
    totals.push_back(
        static_cast<double>(simulation::simulate(recording, machine)->end.total.count()));
  return totals;
}

double runnable_in(const std::vector<FunctionActivity>& functions) {
  double sum = 0;
  for (const FunctionActivity& function : functions)
    sum += function.runnable_ns;
  return sum;
}

class ForecastOfChance : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(MoreEvents, ForecastOfChance, testing::Values(0, 5'000));

TEST_P(ForecastOfChance, IsTheMiddleOneOfItsCourses) {
  const auto recording = run_of_chance(GetParam());
  std::vector<double> totals = totals_of(*recording, two_cpus().machine);
  const double first = totals.front();
  std::sort(totals.begin(), totals.end());
  ASSERT_NE(totals.front(), totals.back());
  const double middle = totals[simulation::courses_of_chance / 2];
  ASSERT_NE(first, middle) << "else it may be that of the first";
  const Forecaster forecaster(recording);
  EXPECT_EQ(forecaster.on(two_cpus(), {})->total_ns, middle);
  const auto of_functions = forecaster.functions_on(two_cpus(), {});
  EXPECT_EQ(of_functions->forecast.total_ns, middle);
  simulation::Machine machine = two_cpus().machine;
  machine.chance = of_functions->forecast.chance;
  ActivityConsumer activity(*recording);
  ASSERT_TRUE(simulation::simulate(*recording, machine, activity).has_value());
  EXPECT_EQ(runnable_in(of_functions->functions), runnable_in(activity.functions()));
  const auto executed = forecaster.execute(two_cpus(), {});
  EXPECT_EQ(static_cast<double>(executed->execution->total().count()), middle);
}

TEST(Forecast, CanBeOfOneCourse) {
  const auto recording = run_of_chance();
  const std::vector<double> totals = totals_of(*recording, two_cpus().machine);
  const Forecaster forecaster(recording);
  Computer computer = two_cpus();
  for (std::uint32_t& course = computer.machine.chance; course < simulation::courses_of_chance;
       ++course)
    EXPECT_EQ(forecaster.on(computer, {}, Forecaster::Courses::given)->total_ns, totals[course]);
}

TEST(Forecast, LeavesNothingToChanceWhereNothingIs) {
  const auto recording = run_of_chance();
  const Forecaster forecaster(recording);
  Computer free = two_cpus();
  free.machine.wake_up = Nanoseconds{};
  EXPECT_EQ(forecaster.on(free, {})->chance, 0U);
  EXPECT_EQ(forecaster.on(with_one_cpu(two_cpus()), {})->chance, 0U);
  Computer fifo = two_cpus();
  fifo.machine.scheduler = simulation::SchedulerKind::fifo;
  EXPECT_EQ(forecaster.on(fifo, {})->chance, 0U);
}

TEST(Forecast, OfALongRunIsOfTheFirstCourse) {
  const auto recording = run_of_chance(simulation::most_events_for_chance);
  std::vector<double> totals = totals_of(*recording, two_cpus().machine);
  const double first = totals.front();
  std::sort(totals.begin(), totals.end());
  ASSERT_NE(first, totals[simulation::courses_of_chance / 2]);
  EXPECT_EQ(Forecaster(recording).on(two_cpus(), {})->total_ns, first);
}

// What a model was asked for knows as much as the recording holds, and clients may ask for any number of them.
TEST(Forecast, KeepsNoMoreOfManyModelsThanOfSome) {
  std::string text = "thread A\n";
  for (int i = 0; i < 20'000; ++i)
    text += "  lock M\n  run f 1us\n  unlock M\n";
  const Forecaster forecaster(std::make_shared<const Recording>(read_text(text)));
  ModelChoice choice{simulation::Model::strict, {}};
  const auto grows_by = [&](int models) {
    const auto before = static_cast<std::ptrdiff_t>(mallinfo2().uordblks);
    for (int i = 0; i < models; ++i) {
      choice.objects.push_back({ObjectId{0}, simulation::Model::direct});
      EXPECT_EQ(forecaster.on(two_cpus(), choice)->total_ns, 20e6);
    }
    return static_cast<std::ptrdiff_t>(mallinfo2().uordblks) - before;
  };
  const std::ptrdiff_t of_some = grows_by(10);
  EXPECT_LT(grows_by(30), of_some / 2 + 1);
}

}  // namespace
}  // namespace longpole::analysis
