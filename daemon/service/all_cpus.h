// The same work for many, on as many threads as there are CPUs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace longpole::service {

// Does `compute(i)` for each i below `count`. What it throws comes out again.
template <typename Compute>
void on_all_cpus(std::size_t count, const Compute& compute) {
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++)
      compute(i);
  };
  const std::size_t threads =
      std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::future<void>> helpers;
  for (std::size_t i = 1; i < threads; ++i)
    helpers.push_back(std::async(std::launch::async, take));
  take();
  for (std::future<void>& helper : helpers)
    helper.get();
}

}  // namespace longpole::service
