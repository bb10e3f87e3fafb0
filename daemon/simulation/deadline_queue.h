// The threads that wait for one CPU of the `linux` scheduler, in order of virtual deadline.
//
// A sorted array: with a hundred entries it beats a tree, since a new deadline is among the latest
// and who leaves is among the first. It keeps the sums of which the average virtual time is made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulation/virtual_time.h"

namespace longpole::simulation {

class DeadlineQueue {
 public:
  struct Entry {
    std::int64_t deadline;
    std::int64_t virtual_time;
    std::int32_t weight;
    std::uint32_t thread;

    friend bool operator<(const Entry& a, const Entry& b) {
      return a.deadline != b.deadline ? a.deadline < b.deadline : a.thread < b.thread;
    }
  };
  [[nodiscard]] bool empty() const { return begin() == end(); }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end() - begin()); }
  [[nodiscard]] const Entry* begin() const { return entries_.data() + first_; }
  [[nodiscard]] const Entry* end() const { return entries_.data() + entries_.size(); }

  [[nodiscard]] std::int64_t weight() const { return weight_; }
  [[nodiscard]] WideTime weighted_time() const { return weighted_time_; }

  void insert(const Entry& entry) {
    weight_ += entry.weight;
    weighted_time_ += WideTime{entry.virtual_time} * entry.weight;
    if (static_cast<std::size_t>(first_) > size() + spare) {
      entries_.erase(entries_.begin(), entries_.begin() + first_);
      first_ = 0;
    }
    const auto place = std::upper_bound(entries_.begin() + first_, entries_.end(), entry);
    if (first_ > 0 && place - (entries_.begin() + first_) < entries_.end() - place) {
      std::move(entries_.begin() + first_, place, entries_.begin() + first_ - 1);
      --first_;
      *(place - 1) = entry;
    } else {
      entries_.insert(place, entry);
    }
  }

  void erase(const Entry& entry) {
    weight_ -= entry.weight;
    weighted_time_ -= WideTime{entry.virtual_time} * entry.weight;
    const auto place = std::lower_bound(entries_.begin() + first_, entries_.end(), entry);
    if (place - (entries_.begin() + first_) < entries_.end() - place) {
      std::move_backward(entries_.begin() + first_, place, place + 1);
      ++first_;
    } else {
      entries_.erase(place);
    }
    if (empty()) {
      entries_.clear();
      first_ = 0;
    }
  }

 private:
  static constexpr std::size_t spare = 16;

  std::vector<Entry> entries_;
  std::ptrdiff_t first_ = 0;  // those before it have left
  std::int64_t weight_ = 0;
  WideTime weighted_time_ = 0;
};

}  // namespace longpole::simulation
