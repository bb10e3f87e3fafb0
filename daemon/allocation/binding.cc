#include "allocation/binding.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace longpole::allocation {

using simulation::Machine;

Binding block_binding(std::size_t threads, std::uint32_t cpus) {
  Binding binding;
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu)
    binding.insert(binding.end(), threads / cpus + (cpu < threads % cpus ? 1 : 0), cpu);
  return binding;
}

Binding round_robin_binding(std::size_t threads, std::uint32_t cpus) {
  Binding binding(threads);
  for (std::size_t thread = 0; thread < threads; ++thread)
    binding[thread] = static_cast<std::uint32_t>(thread % cpus);
  return binding;
}

Binding bin_packed_binding(const std::vector<Nanoseconds>& work, std::uint32_t cpus) {
  Binding binding(work.size());
  std::vector<Nanoseconds> load(cpus);
  for (const std::uint32_t thread : longest_first(work)) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += work[thread];
    binding[thread] = static_cast<std::uint32_t>(least - load.begin());
  }
  return binding;
}

std::vector<Nanoseconds> work_of_threads(const Recording& recording) {
  std::vector<Nanoseconds> work;
  for (const Thread& thread : recording.threads) {
    Nanoseconds& sum = work.emplace_back();
    for (const Event& event : thread.events)
      sum += event.cpu;
  }
  return work;
}

std::vector<std::uint32_t> longest_first(const std::vector<Nanoseconds>& work) {
  std::vector<std::uint32_t> order(work.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return work[a] > work[b]; });
  return order;
}

Interchangeable::Interchangeable(const Machine& machine)
    : node_(machine.cpus, 0), are_told_apart_(!machine.speeds.empty()) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_number;
  for (std::uint32_t cpu = 0; cpu < machine.cpus; ++cpu)
    by_number[machine.nodes.empty() ? 0 : machine.nodes[cpu]].push_back(cpu);
  for (auto& [number, cpus] : by_number) {
    for (const std::uint32_t cpu : cpus)
      node_[cpu] = static_cast<std::uint32_t>(cpus_.size());
    cpus_.push_back(std::move(cpus));
  }
}

Binding Interchangeable::canonical(const Binding& binding) const {
  if (are_told_apart_)
    return binding;
  constexpr std::uint32_t none = 0xffffffffU;
  std::vector<std::uint32_t> new_node(cpus_.size(), none);
  std::vector<bool> node_is_taken(cpus_.size(), false);
  std::vector<std::uint32_t> used_of_node(cpus_.size(), 0);
  std::vector<std::uint32_t> new_cpu(node_.size(), none);
  Binding out = binding;
  for (std::uint32_t& cpu : out) {
    if (cpu >= new_cpu.size())
      continue;
    if (new_cpu[cpu] == none) {
      const std::uint32_t node = node_[cpu];
      if (new_node[node] == none) {
        std::uint32_t like_it = 0;
        while (node_is_taken[like_it] || cpus_[like_it].size() != cpus_[node].size())
          ++like_it;
        new_node[node] = like_it;
        node_is_taken[like_it] = true;
      }
      new_cpu[cpu] = cpus_[new_node[node]][used_of_node[node]++];
    }
    cpu = new_cpu[cpu];
  }
  return out;
}

}  // namespace longpole::allocation
