#include "yields_before_waits.h"

#include <cstddef>
#include <cstdint>

#include "process.h"
#include "thread_log.h"

namespace longpole::recorder {
namespace {

// More in a row wait for something that no futex tells of.
constexpr unsigned kMostInARow = 16;

constexpr int kMostTrust = 100;

// One of these for each of the sites that have a place in common. They are written without locks and
// may be mixed up; then a few yields more or fewer return at once, which yields may.
struct Site {
  const void* address;
  int trust;  // below 0: what it is called for is not to wait
};

Site sites[64];

Site& place_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  return sites[(bits ^ bits >> 6 ^ bits >> 12) % (sizeof sites / sizeof *sites)];
}

int trust_in(const void* address) {
  const Site& site = place_of(address);
  return __atomic_load_n(&site.address, __ATOMIC_RELAXED) == address
             ? __atomic_load_n(&site.trust, __ATOMIC_RELAXED)
             : 0;
}

void learn(const void* address, int step) {
  const int trust = trust_in(address) + step;
  Site& site = place_of(address);
  __atomic_store_n(&site.address, address, __ATOMIC_RELAXED);
  __atomic_store_n(&site.trust, trust < kMostTrust ? trust : kMostTrust, __ATOMIC_RELAXED);
}

}  // namespace

bool record_yield_before_wait(const void* site) {
  if (!on_one_cpu() || in_lockstep()) {
    return false;
  }
  YieldsInARow& row = thread_log.yields;
  const bool goes_on = row.site == site && row.next_slot == thread_log.next_slot;
  if (row.site != nullptr && (!goes_on || row.count == kMostInARow)) {
    learn(row.site, -1);
    row.site = nullptr;
  }
  if (trust_in(site) < 0) {
    return false;
  }
  const unsigned count = row.site != nullptr ? row.count + 1 : 1;
  write_record(stamp(), LONGPOLE_YIELD, 0, 0, reinterpret_cast<std::uintptr_t>(site), 0, 0);
  row = {site, thread_log.next_slot, count};
  return true;
}

void begins_futex_wait() {
  YieldsInARow& row = thread_log.yields;
  if (row.site != nullptr) {
    learn(row.site, row.next_slot == thread_log.next_slot ? 1 : -1);
    row.site = nullptr;
  }
}

}  // namespace longpole::recorder
