// The guided search (search.h): iterated local search (Lourenço, Martin, Stützle, 2003) whose steps aim
// at what held up the program. To accept what is slightly slower for a while (threshold accepting) found
// no more in as many tests.
#include <cstdlib>
#include <optional>

#include "allocation/local_search.h"

namespace longpole::allocation {
namespace {

// One step of so many goes anywhere, so that every binding can be reached.
constexpr std::uint64_t any_step = 8;
// Where it is stuck it goes on from the best binding so far after so many random steps; and after so
// many there is taken to be nothing new around.
constexpr int kicks = 2;
constexpr int most_kicks = 1000;

// A delay at random, by its time.
const Delay& draw(const std::vector<Delay>& delays, Random& random) {
  std::uint64_t sum = 0;
  for (const Delay& delay : delays)
    sum += static_cast<std::uint64_t>(delay.time.count());
  std::uint64_t drawn = below(random, sum);
  for (const Delay& delay : delays) {
    const auto time = static_cast<std::uint64_t>(delay.time.count());
    if (drawn < time)
      return delay;
    drawn -= time;
  }
  return delays.back();
}

// A thread of `cpu` other than `apart` to trade for `thread`: of two at random the one after which the two
// CPUs have more equal work. None where nobody is there.
std::optional<std::size_t> partner(const Binding& from, std::size_t thread, std::uint32_t cpu,
                                   std::size_t apart, const std::vector<Nanoseconds>& work,
                                   Random& random) {
  std::vector<std::size_t> there;
  Nanoseconds surplus{};  // of the thread's CPU over the other
  for (std::size_t one = 0; one < from.size(); ++one) {
    if (from[one] == from[thread])
      surplus += work[one];
    if (from[one] != cpu)
      continue;
    surplus -= work[one];
    if (one != apart)
      there.push_back(one);
  }
  if (there.empty())
    return std::nullopt;
  const auto unevenness = [&](std::size_t one) {
    return std::abs((surplus - 2 * (work[thread] - work[one])).count());
  };
  const std::size_t first = there[below(random, there.size())];
  const std::size_t second = there[below(random, there.size())];
  return unevenness(second) < unevenness(first) ? second : first;
}

// The threads that one CPU kept apart get two; those that were far from each other get one.
Binding guided_neighbour(const Binding& from, const Trial& trial, std::uint32_t cpus,
                         const std::vector<Nanoseconds>& work, Random& random) {
  if (cpus == 1 || !trial.delays || trial.delays->empty() || below(random, any_step) == 0)
    return random_neighbour(from, cpus, random);
  const Delay& delay = draw(*trial.delays, random);
  const bool moves_thread = below(random, 2) == 0;
  const std::uint32_t thread = moves_thread ? delay.thread : delay.culprit;
  const std::uint32_t other = moves_thread ? delay.culprit : delay.thread;
  auto cpu = static_cast<std::uint32_t>((from[thread] + 1 + below(random, cpus - 1)) % cpus);
  if (delay.by_latency && from[thread] != from[other])
    cpu = from[other];
  Binding to = from;
  if (below(random, 2) == 0) {
    if (const auto traded = partner(from, thread, cpu, other, work, random))
      to[*traded] = from[thread];
  }
  to[thread] = cpu;
  return to;
}

// As random_neighbour, several times over, to somewhere new; none where everything is known.
std::optional<Binding> kicked(const Binding& from, std::uint32_t cpus, Walk& walk) {
  Binding to = from;
  for (int step = 1; step <= most_kicks; ++step) {
    to = random_neighbour(to, cpus, walk.random());
    if (step >= kicks && !walk.is_known(to))
      return to;
  }
  return std::nullopt;
}

}  // namespace

Expected<void> guided_search(TestBench& bench, const SearchOptions& options, Progress& progress) {
  const auto judges = options.robust ? Walk::Judges::at_worst : Walk::Judges::undisturbed;
  Walk walk(bench, options, TestBench::Delays::yes, judges, progress);
  const std::vector<Nanoseconds> work = work_of_threads(bench.recording());
  const Walk::Propose propose = [&](const Binding& from, const Trial& trial, Random& random) {
    return guided_neighbour(from, trial, bench.cpus(), work, random);
  };
  const Walk::Decide decide = [](const Trial& base, const Trial& tested) {
    return tested.at_worst() <= base.at_worst() ? Walk::Verdict::keep : Walk::Verdict::back;
  };
  for (const Binding& plain :
       {block_binding(work.size(), bench.cpus()), round_robin_binding(work.size(), bench.cpus()),
        bin_packed_binding(work, bench.cpus())}) {
    if (auto started = walk.start(plain); !started)
      return started;
    if (progress.is_over())
      return {};
  }
  for (std::optional<Binding> from = progress.best(); from && !progress.is_over();
       from = kicked(progress.best(), bench.cpus(), walk)) {
    auto walked =
        walk.start(*from).and_then([&] { return walk.run(propose, decide, options.patience, 0); });
    if (!walked)
      return walked;
  }
  return {};
}

}  // namespace longpole::allocation
