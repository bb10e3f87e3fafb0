#include "shape.h"

#include "marks.h"

namespace shape {

int areas_computed = 0;
static int last_width[4];

[[gnu::noinline]] static double round_up(double value) {
  MARK("library_static");
  return value + 0.5;
}

double area(double width, double height) {
  MARK("library_exported");
  ++areas_computed;
  last_width[1] = static_cast<int>(width);
  object("library_static_array", &last_width[2]);
  return round_up(width * height);
}

}  // namespace shape
