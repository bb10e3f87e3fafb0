# Everything the build needs, by name, with the Debian packages that hold it. A missing one is an
# error that names the command to run; nothing is fetched and nothing is silently left out.

set(LONGPOLE_DEBIAN_PACKAGES
    "libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc libboost-dev libfmt-dev"
    "libdw-dev libcapstone-dev libcli11-dev libiberty-dev libzstd-dev zlib1g-dev libssl-dev libexpected-dev nlohmann-json3-dev"
    "libgtest-dev libgmock-dev libbenchmark-dev pkg-config")
list(JOIN LONGPOLE_DEBIAN_PACKAGES " " LONGPOLE_DEBIAN_PACKAGES)

macro(longpole_require name)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "${name} was not found. On Debian 12: apt-get install ${LONGPOLE_DEBIAN_PACKAGES}")
  endif()
endmacro()

longpole_require(Threads)
longpole_require(Protobuf)
longpole_require(gRPC CONFIG)
longpole_require(Boost 1.74)
longpole_require(fmt 9 CONFIG)
longpole_require(CLI11 CONFIG)
longpole_require(ZLIB)
longpole_require(zstd CONFIG)
longpole_require(OpenSSL COMPONENTS Crypto)
longpole_require(tl-expected CONFIG)
longpole_require(nlohmann_json CONFIG)
longpole_require(PkgConfig)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone)

find_path(LIBIBERTY_INCLUDE_DIR libiberty/demangle.h)
find_library(LIBIBERTY_LIBRARY iberty)
if(NOT LIBIBERTY_INCLUDE_DIR OR NOT LIBIBERTY_LIBRARY)
  message(FATAL_ERROR "libiberty was not found. On Debian 12: apt-get install ${LONGPOLE_DEBIAN_PACKAGES}")
endif()
add_library(LIBIBERTY::LIBIBERTY UNKNOWN IMPORTED)
set_target_properties(LIBIBERTY::LIBIBERTY PROPERTIES
  IMPORTED_LOCATION "${LIBIBERTY_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${LIBIBERTY_INCLUDE_DIR}")

if(PROJECT_IS_TOP_LEVEL)
  longpole_require(GTest CONFIG)
  longpole_require(benchmark CONFIG)
endif()
