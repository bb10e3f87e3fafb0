// Where CPU time was spent: pools the samples of stretches that are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "recording/agreement.h"
#include "recording/merged_run.h"

namespace longpole::recording {

// Most stretches hold no sample, so each is described by the samples of all stretches of threads with
// the same start function that lie between the same two calls (DESIGN section 3, Functions and lines).
// External waits are no calls: what lies before and after one belongs together.
//
// That they are alike is an assumption, and where the samples contradict it, it is given up: the threads of a pool get
// profiles of their own where they differ by more than chance, and so do the single stretches of a pool, or of a
// thread in it. The workers of a thread pool do one thing and another between the same two calls. What has no sample of its
// own keeps to the rest.
class ProfilePools {
 public:
  // `sites` and `paths`: the stack of each call site and sampled path, none where there is none.
  ProfilePools(const std::vector<StackId>& sites, const std::vector<StackId>& paths)
      : sites_(sites), paths_(paths) {}

  // Sets `profile` of the thread's events, for the time being to the pool. `index`: its place among the threads
  // given to take_profiles(). `start`: what describes a stretch without samples and without calls at its ends.
  void add_thread(MergedThread& thread, std::size_t index, FunctionId function, StackId start);

  // The profiles that stretches of CPU time use. Corrects `profile` of all events to index them.
  [[nodiscard]] std::vector<Profile> take_profiles(std::vector<Thread>& threads);

 private:
  using Key = std::tuple<FunctionId, bool, std::uint32_t, std::uint32_t>;
  struct Pool {
    SampleCounts samples;
    StackId fallback;
  };
  // One with samples.
  struct Stretch {
    std::uint32_t pool;
    std::size_t thread;
    std::size_t first;  // events
    std::size_t last;
    SampleCounts samples;
    bool has_profile = false;  // of its own
  };

  std::uint32_t pool(const Key& key, StackId start);
  void finish_stretch(MergedThread& thread, Stretch stretch, std::size_t& next_sample);
  void find_differences();

  const std::vector<StackId>& sites_;
  const std::vector<StackId>& paths_;
  std::map<Key, std::uint32_t> ids_;
  std::vector<Pool> pools_;
  std::vector<Stretch> stretches_;  // by thread, and then in order of events
  // Of pools whose threads differ: what there is of each thread with samples.
  std::map<std::uint32_t, std::map<std::size_t, SampleCounts>> of_threads_;
};

}  // namespace longpole::recording
