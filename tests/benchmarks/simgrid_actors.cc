#include "simgrid_actors.h"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>
#include <vector>

namespace longpole {

void simulate_with_simgrid(std::uint32_t threads) {
  namespace s4u = simgrid::s4u;
  constexpr double nanoseconds_a_second = 1e9;
  const std::string name = "longpole";
  std::vector<char> argument(name.begin(), name.end());
  argument.push_back('\0');
  std::vector<char*> arguments{argument.data(), nullptr};
  int count = 1;
  s4u::Engine engine(&count, arguments.data());
  auto* const zone = s4u::create_full_zone("zone");
  s4u::Host* const host = zone->create_host("host", nanoseconds_a_second)->set_core_count(8);
  zone->seal();
  std::vector<s4u::MutexPtr> locks;
  for (std::uint32_t i = 0; i < 2 * threads; ++i)
    locks.push_back(s4u::Mutex::create());
  for (std::uint32_t t = 0; t < threads; ++t) {
    s4u::Actor::create(fmt::format("thread{}", t), host, [&locks, t, threads] {
      for (std::uint32_t round = 0; round < rounds_of_locking; ++round) {
        s4u::this_actor::execute(static_cast<double>(work_of(t, round)));
        locks[lock_of(t, round, threads)]->lock();
        s4u::this_actor::execute(static_cast<double>(work_of(t, round)));
        locks[lock_of(t, round, threads)]->unlock();
      }
    });
  }
  engine.run();
}

}  // namespace longpole
