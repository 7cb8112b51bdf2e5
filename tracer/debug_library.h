/*
 * debug_library -- libdw and libelf as the machine has them, if it has them: a program that runs
 * elsewhere than where the tracer was built must start there without.
 *
 * Their functions are called by their names, as if they were linked with, but only by what
 * debug_safely calls (debug_info.h), which says first whether they are there.
 */
#ifndef SNAG_TRACER_DEBUG_LIBRARY_H
#define SNAG_TRACER_DEBUG_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * debug_library_code -- an address in the code of each.
 *   of_libdw, of_libelf  out
 * Returns false if they are not there, or lack a function.
 */
bool debug_library_code(uintptr_t *of_libdw, uintptr_t *of_libelf);

#endif
