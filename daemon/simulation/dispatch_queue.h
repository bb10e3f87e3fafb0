// Those that wait for any CPU, or for one alone, by priority and turn: the one queue of `fifo` and
// of `solaris`.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "simulation/machine.h"

namespace longpole::simulation {

class DispatchQueue {
 public:
  explicit DispatchQueue(std::uint32_t cpus) : bound_(cpus) {}

  struct Place {
    std::int64_t priority = 0;  // larger is higher
    std::int64_t turn = 0;      // of one priority, smaller goes first
    std::uint32_t who = 0;

    [[nodiscard]] bool before(const Place& other) const {
      return std::tuple(-priority, turn, who) < std::tuple(-other.priority, other.turn, other.who);
    }
    friend bool operator<(const Place& a, const Place& b) { return a.before(b); }
  };

  // `only_cpu` no_cpu: any.
  void insert(const Place& place, std::uint32_t only_cpu) { queue(only_cpu).insert(place); }
  void erase(const Place& place, std::uint32_t only_cpu) { queue(only_cpu).erase(place); }
  // The first that may use `cpu`; nullptr where none waits.
  [[nodiscard]] const Place* first(std::uint32_t cpu) const {
    const Place* first = bound_[cpu].empty() ? nullptr : &*bound_[cpu].begin();
    if (!anywhere_.empty() && (first == nullptr || anywhere_.begin()->before(*first)))
      first = &*anywhere_.begin();
    return first;
  }
  // The first of those that may use any; nullptr where none waits.
  [[nodiscard]] const Place* first_of_any() const {
    return anywhere_.empty() ? nullptr : &*anywhere_.begin();
  }

 private:
  [[nodiscard]] std::set<Place>& queue(std::uint32_t only_cpu) {
    return only_cpu == no_cpu ? anywhere_ : bound_[only_cpu];
  }

  std::set<Place> anywhere_;
  std::vector<std::set<Place>> bound_;  // per CPU
};

}  // namespace longpole::simulation
