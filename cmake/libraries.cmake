# What we use from outside, each as one imported target snag::<name>. The packages they come
# from are named in setup.sh.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(snag_pkg name module)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})
  add_library(snag::${name} ALIAS PkgConfig::${name})
endfunction()

snag_pkg(xxhash libxxhash)
snag_pkg(zlib zlib)
snag_pkg(zstd libzstd)
snag_pkg(sqlite sqlite3)
snag_pkg(jansson jansson)
snag_pkg(yajl yajl)

# Demangles C++ names: what the C++ runtime has for that takes no limits.
find_path(IBERTY_INCLUDE_DIR libiberty/demangle.h)
find_library(IBERTY_LIBRARY iberty)
if(NOT IBERTY_INCLUDE_DIR OR NOT IBERTY_LIBRARY)
  message(FATAL_ERROR "libiberty is not here; './setup.sh deps' installs it")
endif()
add_library(snag::iberty INTERFACE IMPORTED)
set_target_properties(snag::iberty PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${IBERTY_INCLUDE_DIR}"
  INTERFACE_LINK_LIBRARIES "${IBERTY_LIBRARY}")

# OTF2 comes with otf2-config, not with pkg-config. Reading events is mostly calls inside the
# library, which are a seventh faster when it is linked statically, so that is preferred.
find_path(OTF2_INCLUDE_DIR otf2/otf2.h)
find_library(OTF2_LIBRARY otf2)
find_library(OTF2_STATIC_LIBRARY libotf2.a)
if(NOT OTF2_INCLUDE_DIR OR NOT OTF2_LIBRARY)
  message(FATAL_ERROR "libotf2 is not here; './setup.sh deps' installs it "
                      "(set OTF2_INCLUDE_DIR and OTF2_LIBRARY for one of your own)")
endif()
add_library(snag::otf2_shared INTERFACE IMPORTED)
set_target_properties(snag::otf2_shared PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${OTF2_INCLUDE_DIR}"
  INTERFACE_LINK_LIBRARIES "${OTF2_LIBRARY}")
if(OTF2_STATIC_LIBRARY)
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_INCLUDES "${OTF2_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_LIBRARIES "${OTF2_STATIC_LIBRARY}" z m Threads::Threads)
  check_c_source_compiles("#include <otf2/otf2.h>
    int main(void) { return OTF2_Reader_Open(\"x\") != 0; }" OTF2_LINKS_STATICALLY)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
add_library(snag::otf2 INTERFACE IMPORTED)
if(OTF2_LINKS_STATICALLY)
  set_target_properties(snag::otf2 PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${OTF2_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${OTF2_STATIC_LIBRARY};z;m;Threads::Threads")
else()
  set_target_properties(snag::otf2 PROPERTIES INTERFACE_LINK_LIBRARIES snag::otf2_shared)
endif()

include(cmake/libdw.cmake)

# ADIOS2 is loaded when it is needed; tests write with it what TAU writes, and take its headers for that. Not in Debian 12.
set(SNAG_ENABLE_ADIOS2 AUTO CACHE STRING "tests of TAU's ADIOS2 files and streams: AUTO, ON or OFF")
set_property(CACHE SNAG_ENABLE_ADIOS2 PROPERTY STRINGS AUTO ON OFF)
if(NOT SNAG_ENABLE_ADIOS2 STREQUAL "OFF")
  find_package(ADIOS2 QUIET COMPONENTS C)
  if(ADIOS2_FOUND)
    add_library(snag::adios2 ALIAS adios2::c)
  elseif(SNAG_ENABLE_ADIOS2 STREQUAL "ON")
    message(FATAL_ERROR "SNAG_ENABLE_ADIOS2=ON needs ADIOS2 with its C interface (Debian 13: "
                        "libadios2-serial-c-dev; set ADIOS2_DIR for one of your own)")
  endif()
endif()

# For tests only: AUTO has them where cmocka is. Benchmarks share their samples, and come and go with them.
set(SNAG_TESTS AUTO CACHE STRING "tests and benchmarks, which need cmocka: AUTO, ON or OFF")
set_property(CACHE SNAG_TESTS PROPERTY STRINGS AUTO ON OFF)
set(SNAG_HAS_TESTS FALSE)
if(NOT SNAG_TESTS STREQUAL "OFF")
  pkg_check_modules(cmocka IMPORTED_TARGET cmocka)
  if(cmocka_FOUND)
    add_library(snag::cmocka ALIAS PkgConfig::cmocka)
    set(SNAG_HAS_TESTS TRUE)
  elseif(SNAG_TESTS STREQUAL "ON")
    message(FATAL_ERROR "SNAG_TESTS=ON needs cmocka; './setup.sh test' installs it")
  else()
    message(STATUS "tests: not built, they need cmocka; './setup.sh test' installs it")
  endif()
endif()

# To compare with, for one test that is left out without it.
find_path(LIBSVM_INCLUDE_DIR libsvm/svm.h)
find_library(LIBSVM_LIBRARY svm)
if(LIBSVM_INCLUDE_DIR AND LIBSVM_LIBRARY)
  add_library(snag::libsvm INTERFACE IMPORTED)
  set_target_properties(snag::libsvm PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${LIBSVM_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${LIBSVM_LIBRARY}")
endif()
