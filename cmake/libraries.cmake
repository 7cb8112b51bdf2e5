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

# msgpack-c is called msgpack up to Debian 12. In Debian 13 its pkg-config file names a directory
# that does not exist, its CMake package is right.
pkg_check_modules(msgpack IMPORTED_TARGET msgpack)
if(msgpack_FOUND)
  add_library(snag::msgpack ALIAS PkgConfig::msgpack)
else()
  find_package(msgpack-c REQUIRED CONFIG)
  add_library(snag::msgpack ALIAS msgpack-c)
endif()

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

# ADIOS2, for what TAU writes: AUTO takes it if it is there. Not in Debian 12.
set(SNAG_ENABLE_ADIOS2 AUTO CACHE STRING "read TAU's ADIOS2 files and streams: AUTO, ON or OFF")
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

# Seen by the compiler, and loaded when they are needed (base/library.h): linear algebra, ...
set(BLA_VENDOR OpenBLAS)
find_package(BLAS REQUIRED)
find_path(CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas x86_64-linux-gnu aarch64-linux-gnu)
# LAPACKE is a library of its own, or a part of OpenBLAS: Spack's has it.
list(GET BLAS_LIBRARIES 0 openblas)
find_path(LAPACKE_INCLUDE_DIR lapacke.h PATH_SUFFIXES openblas lapacke)
find_library(LAPACKE_LIBRARY lapacke)
if(NOT LAPACKE_LIBRARY)
  include(CheckLibraryExists)
  check_library_exists(${openblas} LAPACKE_dsyevr "" SNAG_OPENBLAS_HAS_LAPACKE)
  if(SNAG_OPENBLAS_HAS_LAPACKE)
    set(LAPACKE_LIBRARY ${openblas})
  endif()
endif()
if(NOT CBLAS_INCLUDE_DIR OR NOT LAPACKE_INCLUDE_DIR OR NOT LAPACKE_LIBRARY)
  message(FATAL_ERROR "OpenBLAS, or LAPACKE, is not here; './setup.sh deps' installs them")
endif()

# snag_soname(RESULT LIBRARY) -- the name by which programs ask for a shared library when they run.
function(snag_soname result library)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE headers)
  if(NOT headers MATCHES "SONAME +([^ \n]+)")
    message(FATAL_ERROR "${library} is no shared library")
  endif()
  set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()
set(SNAG_LOADED_LIBRARIES ${openblas} ${LAPACKE_LIBRARY}) # all that are loaded so, for dist/
snag_soname(openblas ${openblas})
snag_soname(lapacke ${LAPACKE_LIBRARY})
add_library(snag::blas INTERFACE IMPORTED)
set_target_properties(snag::blas PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${CBLAS_INCLUDE_DIR};${LAPACKE_INCLUDE_DIR}"
  INTERFACE_COMPILE_DEFINITIONS "SNAG_OPENBLAS=\"${openblas}\";SNAG_LAPACKE=\"${lapacke}\""
  INTERFACE_LINK_LIBRARIES "${CMAKE_DL_LIBS}")

# ... PostgreSQL's client and ZeroMQ.
function(snag_pkg_when_needed name module)
  pkg_check_modules(${name} REQUIRED ${module})
  list(GET ${name}_LINK_LIBRARIES 0 library)
  snag_soname(soname ${library})
  string(TOUPPER ${module} macro)
  add_library(snag::${name} INTERFACE IMPORTED)
  set_target_properties(snag::${name} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIRS}"
    INTERFACE_COMPILE_DEFINITIONS "SNAG_${macro}=\"${soname}\"")
  set(SNAG_LOADED_LIBRARIES ${SNAG_LOADED_LIBRARIES} ${library} PARENT_SCOPE)
endfunction()
snag_pkg_when_needed(pq libpq)
snag_pkg_when_needed(zmq libzmq)

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
