// Work that takes so many steps, and no memory.
#pragma once

inline void compute(unsigned long steps) {
  static volatile unsigned long result;
  unsigned long x = 0;
  for (unsigned long i = 0; i < steps; ++i)
    x = x * 31 + i;
  result = x;
}
