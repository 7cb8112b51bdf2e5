/*
 * lines -- where in its source a call is, from debug information (debug_info.h); without libdw
 * nothing is known (lines_none.c). Not thread-safe: regions.c asks under its lock.
 */
#ifndef SNAG_TRACER_LINES_H
#define SNAG_TRACER_LINES_H

#include <stdint.h>

struct source_line {
    char *file; /* with its directory, if that is known; NULL: nothing is known */
    uint32_t number;
};

/* line_of_call -- of the call that returns to this address. Free the file. */
struct source_line line_of_call(uintptr_t return_address);

/* line_name -- "solver.c:17", of the call that returns to this address; to be freed. NULL if it
 * is not known. */
char *line_name(uintptr_t return_address);

#endif
