#pragma once

// In the shared library.
namespace shape {
double area(double width, double height);
extern int areas_computed;
}  // namespace shape
