longpole_benchmark(engine_benchmark
  SOURCES engine_benchmark.cc engine_recordings.cc quartz_benchmark.cc
  LIBRARIES longpole_analysis fmt::fmt)
add_executable(scheduler_validation scheduler_validation.cc)
target_link_libraries(scheduler_validation PRIVATE longpole_simulation fmt::fmt longpole_settings)
