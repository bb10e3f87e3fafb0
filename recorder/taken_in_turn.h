// Places that lie so far apart in a stretch, taken one after the other; when all are, a new stretch is made.
//
// Threads: any, without a lock: a word holds where the stretch is and, in the bits below a page, how many of it are taken. Two
// that find it used up may both make one; the slower one's is given back.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longpole::recorder {

template <std::size_t kStride, std::size_t kCount>
class TakenInTurn {
 public:
  // `make` returns a new stretch, a multiple of kLargestCount + 1 and not 0, or 0 where there is none, which is what comes back
  // then.
  template <typename Make, typename GiveBack>
  std::uintptr_t take(Make make, GiveBack give_back) {
    std::uintptr_t now = __atomic_load_n(&word_, __ATOMIC_ACQUIRE);
    for (;;) {
      const std::uintptr_t taken = now & kLargestCount;
      if (taken != 0 && taken < kCount) {
        if (__atomic_compare_exchange_n(&word_, &now, now + 1, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
          return (now & ~kLargestCount) + taken * kStride;
        }
        continue;
      }
      const std::uintptr_t fresh = make();
      if (fresh == 0 || __atomic_compare_exchange_n(&word_, &now, fresh + 1, false,
                                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return fresh;
      }
      give_back(fresh);
    }
  }

  // Nobody else may take one meanwhile.
  void forget() { word_ = 0; }

 private:
  static constexpr std::uintptr_t kLargestCount = 4095;
  static_assert(kCount <= kLargestCount);

  std::uintptr_t word_ = 0;
};

}  // namespace longpole::recorder
