// What recording a call costs in the program that was recorded. A loop that does nothing else says too much: there the
// processor has nothing to do meanwhile, while a program's own instructions hide part of it, or all.
//
// Some records are written twice (LONGPOLE_AGAIN). Between the same two calls a stretch with such a record is
// longer than one without by what a second record costs there. The first may cost less: the processor does part of it
// while the call itself waits for memory. Or more: a processor that reads no clock makes a call while it is still at the work
// before it, and one that does has finished that first. The recorder finds out when it starts which part that is in a loop
// of calls alone, and how much more it is where there is work between them, and both are taken to be the same everywhere.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "longpole/raw_record.h"
#include "recording/raw_chunks.h"

namespace longpole::recording {

class RecordCosts {
 public:
  // Knows nothing but the cost in a loop of nothing else, what of that is hidden where there is a call as well, and what a
  // first record adds besides where there is work as well; picoseconds.
  explicit RecordCosts(std::uint64_t in_empty_loop_ps = 0, std::uint64_t hidden_ps = 0,
                       std::uint64_t exposed_ps = 0)
      : in_empty_loop_ps_(static_cast<std::int64_t>(in_empty_loop_ps)),
        hidden_ps_(static_cast<std::int64_t>(hidden_ps)),
        exposed_ps_(static_cast<std::int64_t>(exposed_ps)) {}

  // Of calls that follow each other at two places of the program at least so often that the cost is known to a
  // tenth of that in an empty loop; of all others it is what `unmeasured` says.
  static RecordCosts measure(const std::vector<RawThread>& threads, const RecordCosts& unmeasured,
                             double ps_per_stamp);

  // Of the record of a call, from its stamp to that of the next one, and of the same one written again; picoseconds. Less
  // than 0 where the stamps of what is written in between move: as much more is in the stretches around.
  struct Cost {
    std::int64_t once = 0;
    std::int64_t again = 0;
    friend bool operator==(const Cost&, const Cost&) = default;
  };
  // Sites as in longpole_record.
  [[nodiscard]] Cost of(std::uint64_t site, std::uint64_t next_site) const;
  // Where the call before or behind is none of those that are written twice.
  [[nodiscard]] Cost beside_no_call() const {
    return {in_empty_loop_ps_ - hidden_ps_, in_empty_loop_ps_};
  }

 private:
  struct Places {
    std::uint64_t site = 0;
    std::uint64_t next_site = 0;
    friend bool operator==(const Places&, const Places&) = default;
  };
  struct Hash {
    std::size_t operator()(const Places& places) const {
      constexpr std::uint64_t golden_ratio = 0x9e37'79b9'7f4a'7c15;
      return (places.site * golden_ratio) ^ places.next_site;
    }
  };
  class Survey;

  std::int64_t in_empty_loop_ps_;
  std::int64_t hidden_ps_;
  std::int64_t exposed_ps_;
  std::unordered_map<Places, Cost, Hash> measured_;
};

// A record of a call that does not wait, such as are written twice in their places.
[[nodiscard]] inline bool may_be_written_twice(const longpole_record& record) {
  const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
  return LONGPOLE_FLAGS(record.kind_and_flags) == 0 && kind >= LONGPOLE_MUTEX_LOCK &&
         kind <= LONGPOLE_SPIN_LOCK && kind != LONGPOLE_SAMPLE && kind != LONGPOLE_FRAMES &&
         kind != LONGPOLE_CPU_CLOCK;
}

}  // namespace longpole::recording
