# The language level and the warnings of our own targets. Generated code does not link to
# longpole_settings and so is compiled without the warnings.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(LONGPOLE_WARNINGS_AS_ERRORS "Treat warnings as errors (on in the presets)" OFF)
set(LONGPOLE_SANITIZE "" CACHE STRING "Sanitizers for everything but the recorder, as in -fsanitize=")

add_library(longpole_warnings INTERFACE)
target_compile_options(longpole_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wcast-qual -Wformat=2 -Wundef -Wshadow
  -Wcast-align -Wdouble-promotion
  $<$<COMPILE_LANGUAGE:CXX>:-Wextra-semi -Woverloaded-virtual -Wnon-virtual-dtor -Wold-style-cast>
  $<$<BOOL:${LONGPOLE_WARNINGS_AS_ERRORS}>:-Werror>)
if(CMAKE_UNITY_BUILD)
  # Files that are compiled together see what stands in each other's unnamed namespaces.
  target_compile_options(longpole_warnings INTERFACE
    -Wno-shadow $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# What our own targets link to; longpole_warnings alone is for programs that get recorded.
add_library(longpole_settings INTERFACE)
target_link_libraries(longpole_settings INTERFACE longpole_warnings)
if(LONGPOLE_SANITIZE)
  target_compile_options(longpole_settings INTERFACE
    -fsanitize=${LONGPOLE_SANITIZE} -fno-omit-frame-pointer
    # Under sanitizers gcc sees uninitialised memory in std::optional and in Boost that is none.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(LONGPOLE_SANITIZE STREQUAL "thread")
    # It does not understand fences; the locks of Asio order the same.
    target_compile_definitions(longpole_settings INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
  target_link_options(longpole_settings INTERFACE -fsanitize=${LONGPOLE_SANITIZE})
endif()
