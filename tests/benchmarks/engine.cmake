longpole_benchmark(engine_benchmark
  SOURCES engine_benchmark.cc engine_recordings.cc quartz_benchmark.cc
  LIBRARIES longpole_analysis fmt::fmt)
