// The program whose addresses the tests look up. The tests find lines in it by the comments that
// begin with "//:".
#include <algorithm>
#include <cstdio>
#include <vector>

#include "marks.h"
#include "shape.h"

int initialised = 1;
int zero_initialised[4096];
static int file_static[8];

namespace work {
struct Queue {
  int front = 0;
  int lock = 0;
};
Queue queue;

inline __attribute__((always_inline)) void innermost() {
  MARK("inlined");  //: innermost mark
}

inline __attribute__((always_inline)) void middle() {
  innermost();  //: middle calls
}

inline __attribute__((always_inline)) void defined_below();

[[gnu::noinline]] void outer() {  //: outer begins
  middle();                       //: outer calls
  for (int& value : file_static)
    ++value;
  defined_below();
  MARK("after_inlined");  //: outer ends
}

// Its lines lie behind those of the function that it is inlined into.
inline __attribute__((always_inline)) void defined_below() {
  for (int& value : file_static)
    value *= 3;
}

template <typename T>
[[gnu::noinline]] T twice(T value) {  //: twice begins
  MARK("template");
  return value + value;
}
}  // namespace work

static void local_static() {
  static int counter[2];
  ++counter[1];
  object("function_static", &counter[1]);
}

extern "C" [[gnu::noinline]] void plain_c_function(void) {
  MARK("c_function");
}

// Calls back from inside code of the system.
[[gnu::noinline]] static void sort_backwards(std::vector<int>& values) {
  bool marked = false;
  std::sort(values.begin(), values.end(), [&](int a, int b) {  //: lambda begins
    if (!marked) {
      marked = true;
      MARK("lambda");  //: lambda mark
    }
    return a > b;
  });
}

int main() {
  work::outer();
  work::twice(1);
  work::twice(1.5);
  plain_c_function();
  local_static();
  std::vector<int> values = {1, 2, 3};
  sort_backwards(values);
  const double area = shape::area(2, 3);

  object("initialised", &initialised);
  object("zero_initialised", &zero_initialised[4000]);
  object("file_static", &file_static[3]);
  object("queue", &work::queue);
  object("queue_lock", &work::queue.lock);
  object("library_global", &shape::areas_computed);
  object("stack", &area);
  function("outer", reinterpret_cast<std::uintptr_t>(&work::outer));
  const int& (*const larger)(const int&, const int&) = &std::max<int>;
  function("max", reinterpret_cast<std::uintptr_t>(larger));
  function("puts", reinterpret_cast<std::uintptr_t>(&std::puts));
  print_mappings();
  MARK("main");
}
