longpole_benchmark(recorder_benchmark
  SOURCES recorder_cost.cc LIBRARIES longpole_specimen_runner)
add_library(recorder_twin MODULE twin.c)
target_link_libraries(recorder_twin PRIVATE ${CMAKE_DL_LIBS})
target_compile_definitions(recorder_twin PRIVATE _GNU_SOURCE)
set_target_properties(recorder_twin PROPERTIES
  OUTPUT_NAME twin PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/specimens")
add_dependencies(recorder_benchmark longpole-recorder recorder_twin specimen_measured_locks)

# The program that `recording_cost` calls busy; that records whole programs.
add_executable(recorder_calls calls.c)
target_link_libraries(recorder_calls PRIVATE Threads::Threads)
set_target_properties(recorder_calls PROPERTIES
  OUTPUT_NAME calls RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/specimens")
