// Quartz on random programs: against brute force, against the study, and in its sums.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analysis/quartz.h"
#include "programs.h"
#include "random_program.h"
#include "rows.h"
#include "simulation/simulate.h"

namespace longpole::analysis {
namespace {

using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using testing::DoubleNear;

// A profile stack for each thread, kept as the paper's section 3.3 says: pushed and popped with each
// call, copied to new threads; and every moment at which anything happens looked at by itself.
class BruteForce {
 public:
  struct Sums {
    double self = 0;
    double total = 0;
    double blocked = 0;
    double ready = 0;
  };

  BruteForce(const Recording& recording, const Schedule& schedule, std::uint32_t cpus)
      : recording_(recording), schedule_(schedule), cpus_(cpus) {
    find_moments();
    stacks_at_creation_.resize(recording.threads.size());
    std::vector<std::uint32_t> order;
    for (std::uint32_t t = 0; t < recording.threads.size(); ++t) {
      if (!recording.threads[t].creator.known())
        order.push_back(t);
    }
    for (std::size_t i = 0; i < order.size(); ++i)
      follow(order[i], order);
  }

  std::map<Entity, Sums> sums;

 private:
  using Stack = std::vector<Entity>;

  void find_moments() {
    for (const Segment& segment : schedule_.segments) {
      moments_.insert(segment.start);
      moments_.insert(segment.end);
    }
  }
  [[nodiscard]] double running_at(Nanoseconds time) const {
    return static_cast<double>(std::count_if(
        schedule_.segments.begin(), schedule_.segments.end(), [&](const Segment& segment) {
          return segment.running && segment.start <= time && time < segment.end;
        }));
  }

  void charge(const Stack& stack, Nanoseconds from, Nanoseconds to, bool computes) {
    for (auto at = moments_.find(from); from < to; from = *at) {
      const double length = static_cast<double>((*++at - from).count());
      const double running = running_at(from);
      const double normalized = computes ? length / std::min<double>(running, cpus_) : 0;
      const double stretched = length * std::max(1.0, running / cpus_);
      std::set<Entity> once(stack.begin(), stack.end());
      once.insert(Entity{});
      for (const Entity& entity : once) {
        sums[entity].total += normalized;
        (computes ? sums[entity].ready : sums[entity].blocked) +=
            computes ? stretched - length : stretched;
      }
      sums[stack.empty() ? Entity{} : stack.back()].self += normalized;
    }
  }

  static Entity object(std::uint32_t id) { return {EntityKind::object, id}; }
  static void drop(Stack& stack, const Entity& entity) {
    const auto at = std::find(stack.rbegin(), stack.rend(), entity);
    if (at != stack.rend())
      stack.erase(std::next(at).base());
  }

  void follow(std::uint32_t t, std::vector<std::uint32_t>& order) {
    Stack stack = stacks_at_creation_[t];
    Stack waiting;
    Nanoseconds ended{};
    for (SegmentIndex s = schedule_.thread_begin[t]; s < schedule_.thread_begin[t + 1]; ++s) {
      const Segment& segment = schedule_.segments[s];
      const Event& event = recording_.threads[t].events[segment.event];
      if (s > schedule_.thread_begin[t])
        charge(waiting, ended, segment.start, false);
      ended = segment.end;
      if (!segment.running) {
        charge(waiting, segment.start, segment.end, false);
        continue;
      }
      Stack computing = stack;
      if (event.kind == EventKind::run)
        computing.push_back(
            {EntityKind::function,
             recording_.stacks[recording_.profiles[event.profile.index()].entries[0].stack.index()]
                 .function.value});
      charge(computing, segment.start, segment.end, true);
      waiting = stack;
      call(event, stack, waiting, order);
    }
  }

  void call(const Event& event, Stack& stack, Stack& waiting, std::vector<std::uint32_t>& order) {
    switch (event.kind) {
      case EventKind::enter:
        stack.push_back({EntityKind::function, event.callee().value});
        break;
      case EventKind::leave:
        drop(stack, {EntityKind::function, event.callee().value});
        break;
      case EventKind::thread_create:
        stacks_at_creation_[event.subject] = stack;
        order.push_back(event.subject);
        break;
      case EventKind::mutex_lock:
      case EventKind::mutex_trylock:
      case EventKind::mutex_timedlock:
      case EventKind::rwlock_read:
      case EventKind::rwlock_write:
        waiting.push_back(object(event.subject));
        if (event.outcome == Outcome::ok)
          stack.push_back(object(event.subject));
        break;
      case EventKind::mutex_unlock:
      case EventKind::rwlock_unlock:
        drop(stack, object(event.subject));
        break;
      case EventKind::condition_wait:
      case EventKind::condition_timedwait:
        drop(waiting, object(event.other));
        waiting.push_back(object(event.subject));
        break;
      case EventKind::semaphore_wait:
      case EventKind::semaphore_trywait:
      case EventKind::semaphore_timedwait:
      case EventKind::condition_broadcast:
      case EventKind::barrier_wait:
      case EventKind::io:
      case EventKind::send:
      case EventKind::receive:
        waiting.push_back(object(event.subject));
        break;
      default:
        break;
    }
  }

  const Recording& recording_;
  const Schedule& schedule_;
  double cpus_;
  std::set<Nanoseconds> moments_;
  std::vector<Stack> stacks_at_creation_;
};

TEST(Quartz, EqualsBruteForceOnRandomPrograms) {
  std::size_t locks = 0;
  std::size_t created = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const std::string text = random_program(seed);
    const Recording recording = read_text(text);
    const Schedule schedule = simulation::simulate_ideal(recording);
    const Quartz quartz(recording, schedule);
    for (const Thread& thread : recording.threads)
      created += thread.creator.known() ? 1U : 0U;
    for (const std::uint32_t cpus : {1U, 2U, 3U, 8U}) {
      BruteForce expected(recording, schedule, cpus);
      for (const QuartzRow& row : quartz.report(cpus, Scheduler::shared).rows) {
        if (row.entity.kind == EntityKind::thread)
          continue;
        const BruteForce::Sums& sums = expected.sums[row.entity];
        locks += row.entity.kind == EntityKind::object && sums.total > 0 ? 1U : 0U;
        const auto near = [](double value) { return DoubleNear(value, 1e-9 * value + 1e-3); };
        const auto state = [&](ThreadState which) {
          return row.total.states.at(static_cast<std::size_t>(which)).time_ns;
        };
        const std::string what = fmt::format("{} on {} CPUs, program {}:\n{}",
                                             name_of(recording, row.entity), cpus, seed, text);
        ASSERT_THAT(row.self.normalized_ns, near(sums.self)) << what;
        ASSERT_THAT(row.total.normalized_ns, near(sums.total)) << what;
        ASSERT_THAT(state(ThreadState::blocked), near(sums.blocked)) << what;
        ASSERT_THAT(state(ThreadState::ready), near(sums.ready)) << what;
      }
    }
  }
  EXPECT_GT(locks, 100U);
  EXPECT_GT(created, 50U);
}

// The study adds the same up another way.
TEST(Quartz, AgreesWithTheFunctionsOfTheStudy) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Study study(std::make_shared<const Recording>(read_text(random_program(seed))));
    const QuartzReport report =
        Quartz(study.recording(), study.ideal()).report(3, Scheduler::shared);
    std::map<Entity, const QuartzRow*> rows;
    for (const QuartzRow& row : report.rows)
      rows[row.entity] = &row;
    for (const FunctionRow& function :
         study.functions(3, Scheduler::shared, WithHeadroom::no).rows) {
      if (!function.function.known() || function.normalized_total_ns == 0)
        continue;
      const QuartzRow* const row = rows[{EntityKind::function, function.function.value}];
      ASSERT_NE(row, nullptr);
      EXPECT_THAT(row->self.normalized_ns, DoubleNear(function.normalized_self_ns, 1e-2));
      EXPECT_THAT(row->total.normalized_ns, DoubleNear(function.normalized_total_ns, 1e-2));
    }
  }
}

TEST(Quartz, SumsHoldOnRandomPrograms) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Recording recording = read_text(random_program(seed));
    const Schedule schedule = simulation::simulate_ideal(recording);
    const auto steps = simulation::concurrency(schedule);
    const Quartz quartz(recording, schedule);
    for (const std::uint32_t cpus : {1U, 2U, 3U, 8U}) {
      const QuartzReport report = quartz.report(cpus, Scheduler::shared);
      const double elapsed =
          static_cast<double>(simulation::shared_completion_times_cpus(steps, cpus)) / cpus;
      double idle = 0;
      for (std::size_t i = 1; i < steps.size(); ++i)
        idle += steps[i - 1].running == 0
                    ? static_cast<double>((steps[i].time - steps[i - 1].time).count())
                    : 0;
      const auto near = [&](double value) { return DoubleNear(value, 1e-9 * elapsed + 1e-3); };
      const double whole = report.rows.front().total.normalized_ns;
      EXPECT_THAT(report.total_ns, near(elapsed));
      EXPECT_THAT(whole, near(elapsed - idle));
      double code = 0;
      double threads = 0;
      for (const QuartzRow& row : report.rows) {
        (row.entity.kind == EntityKind::thread ? threads : code) += row.self.normalized_ns;
        double below = row.self.normalized_ns;
        for (const QuartzChild& child : row.children)
          below += child.normalized_ns;
        EXPECT_THAT(below, near(row.total.normalized_ns)) << seed;
        for (const QuartzTimes* times : {&row.self, &row.total}) {
          EXPECT_THAT(std::accumulate(times->terms_ns.begin(), times->terms_ns.end(), 0.0),
                      near(times->normalized_ns));
          for (const StateTime& state : times->states)
            EXPECT_THAT(std::accumulate(state.at_runnable.begin(), state.at_runnable.end(), 0.0),
                        near(state.time_ns));
        }
      }
      EXPECT_THAT(code, near(whole));
      EXPECT_THAT(threads, near(whole));
      for (std::size_t i = 0; i < report.tree.size(); ++i) {
        double below = report.tree[i].self_normalized_ns;
        for (std::size_t child = i + 1; child < report.tree.size(); ++child)
          below += report.tree[child].parent == i ? report.tree[child].normalized_ns : 0;
        EXPECT_THAT(below, near(report.tree[i].normalized_ns));
      }
    }
  }
}

}  // namespace
}  // namespace longpole::analysis
