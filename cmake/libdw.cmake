# libdw reads debug information: for the tracer while programs run, for snag when it finishes their
# traces. Optional.
#
#   snag::dw   a target, if it is here

find_path(LIBDW_INCLUDE_DIR elfutils/libdw.h)
find_library(LIBDW_LIBRARY dw)
find_library(LIBELF_LIBRARY elf)
if(LIBDW_INCLUDE_DIR AND LIBDW_LIBRARY AND LIBELF_LIBRARY AND NOT TARGET snag::dw)
  add_library(snag::dw INTERFACE IMPORTED)
  set_target_properties(snag::dw PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${LIBDW_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES "${LIBDW_LIBRARY};${LIBELF_LIBRARY}")
endif()
