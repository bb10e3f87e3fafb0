longpole_benchmark(timeline_benchmark
  SOURCES timeline_benchmark.cc engine_recordings.cc
  LIBRARIES longpole_analysis fmt::fmt)
longpole_benchmark(engine_benchmark
  SOURCES engine_benchmark.cc engine_recordings.cc quartz_benchmark.cc
  LIBRARIES longpole_analysis fmt::fmt)
add_executable(scheduler_validation scheduler_validation.cc kernel_run.cc)
target_link_libraries(scheduler_validation PRIVATE
  longpole_simulation longpole_calibration fmt::fmt Threads::Threads longpole_settings)

# Beside SimGrid, where Debian's libsimgrid-dev is installed.
find_path(LONGPOLE_SIMGRID_HEADERS simgrid/s4u.hpp)
find_library(LONGPOLE_SIMGRID simgrid)
if(LONGPOLE_SIMGRID_HEADERS AND LONGPOLE_SIMGRID)
  add_executable(simgrid_benchmark simgrid_actors.cc simgrid_benchmark.cc)
  target_include_directories(simgrid_benchmark SYSTEM PRIVATE "${LONGPOLE_SIMGRID_HEADERS}")
  target_link_libraries(simgrid_benchmark PRIVATE
    longpole_simulation fmt::fmt benchmark::benchmark "${LONGPOLE_SIMGRID}" longpole_settings)
endif()
