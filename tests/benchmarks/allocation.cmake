longpole_benchmark(allocation_benchmark
  SOURCES allocation_benchmark.cc engine_recordings.cc
  LIBRARIES longpole_allocation fmt::fmt)
# The studies of Papers IV and V: minutes; see allocation_study.cc.
add_executable(allocation_study allocation_study.cc paper_programs.cc)
target_link_libraries(allocation_study PRIVATE longpole_allocation longpole_cli_support fmt::fmt longpole_settings)
