longpole_benchmark(timeline_benchmark
  SOURCES timeline_benchmark.cc engine_recordings.cc
  LIBRARIES longpole_analysis fmt::fmt)
add_executable(timeline_service_benchmark
  timeline_service_benchmark.cc engine_recordings.cc ../service/client.cc ../service/daemon.cc)
target_include_directories(timeline_service_benchmark PRIVATE ../service)
target_compile_definitions(timeline_service_benchmark PRIVATE
  LONGPOLE_BUILD_DIRECTORY="${PROJECT_BINARY_DIR}")
target_link_libraries(timeline_service_benchmark PRIVATE
  longpole_proto longpole_storage longpole_trace fmt::fmt gRPC::grpc++ GTest::gtest
  nlohmann_json::nlohmann_json longpole_settings)
add_dependencies(timeline_service_benchmark longpole)
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
