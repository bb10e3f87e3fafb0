// Where CPU time was spent: pools the samples of stretches that are alike.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "recording/merged_run.h"

namespace longpole::recording {

// Most stretches hold no sample, so each is described by the samples of all stretches of threads with
// the same start function that lie between the same two calls (DESIGN section 3, Functions and lines).
// External waits are no calls: what lies before and after one belongs together.
class ProfilePools {
 public:
  // `sites` and `paths`: the stack of each call site and sampled path, none where there is none.
  ProfilePools(const std::vector<StackId>& sites, const std::vector<StackId>& paths)
      : sites_(sites), paths_(paths) {}

  // Sets `profile` of the thread's events, for the time being to the pool. `start`: what describes
  // a stretch without samples and without calls at its ends.
  void add_thread(MergedThread& thread, FunctionId function, StackId start);

  // The pools that stretches of CPU time use. Corrects `profile` of all events to index them.
  [[nodiscard]] std::vector<Profile> take_profiles(std::vector<Thread>& threads);

 private:
  using Key = std::tuple<FunctionId, bool, std::uint32_t, std::uint32_t>;
  struct Pool {
    std::map<StackId, std::uint64_t> samples;
    StackId fallback;
    bool used = false;
  };

  std::uint32_t pool(const Key& key, StackId start);
  void finish_stretch(MergedThread& thread, std::size_t first, std::size_t last, std::uint32_t id,
                      std::size_t& next_sample);

  const std::vector<StackId>& sites_;
  const std::vector<StackId>& paths_;
  std::map<Key, std::uint32_t> ids_;
  std::vector<Pool> pools_;
};

}  // namespace longpole::recording
