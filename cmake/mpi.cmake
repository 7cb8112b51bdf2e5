# The libraries of MPI that are here: of what find_package finds, and of MPICH where that stands
# beside another one, as in Debian. What is loaded into programs of either, or runs under the
# launcher of either, is built once with each.
#
#   snag::open_mpi, snag::mpich   targets, where they are there

# Where the wrapper compiler is there and its headers are not (Debian's openmpi-bin without libopenmpi-dev),
# find_package stops all configuring.
find_program(SNAG_MPICC mpicc)
set(mpi_usable TRUE)
if(SNAG_MPICC)
  execute_process(COMMAND ${SNAG_MPICC} -E -x c -include mpi.h /dev/null
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(NOT status EQUAL 0)
    set(mpi_usable FALSE)
    message(STATUS "MPI is not used: ${SNAG_MPICC} finds no mpi.h")
  endif()
endif()
if(mpi_usable)
  find_package(MPI COMPONENTS C)
endif()
include(CheckCSourceCompiles)
if(MPI_C_FOUND)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
  check_c_source_compiles("#include <mpi.h>\n#ifndef OPEN_MPI\n#error\n#endif\nint main(void) { return 0; }"
    SNAG_MPI_IS_OPEN_MPI)
  check_c_source_compiles("#include <mpi.h>\n#ifndef MPICH_VERSION\n#error\n#endif\nint main(void) { return 0; }"
    SNAG_MPI_IS_MPICH)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(SNAG_MPI_IS_OPEN_MPI AND NOT TARGET snag::open_mpi)
  add_library(snag::open_mpi ALIAS MPI::MPI_C)
endif()
if(SNAG_MPI_IS_MPICH AND NOT TARGET snag::mpich)
  add_library(snag::mpich ALIAS MPI::MPI_C)
elseif(NOT TARGET snag::mpich)
  find_path(MPICH_INCLUDE_DIR mpi.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich
    /usr/include/mpich-${CMAKE_SYSTEM_PROCESSOR} NO_DEFAULT_PATH)
  find_library(MPICH_LIBRARY mpich)
  if(MPICH_INCLUDE_DIR AND MPICH_LIBRARY)
    add_library(snag::mpich INTERFACE IMPORTED GLOBAL)
    set_target_properties(snag::mpich PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${MPICH_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES "${MPICH_LIBRARY}")
  endif()
endif()
