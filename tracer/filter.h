/*
 * filter -- which functions are recorded, by the rules in the file $SNAG_TRACER_FILTER:
 *
 *     # the last rule that matches a function decides; without one it is recorded
 *     exclude *
 *     include step
 *     include MPI_*
 *
 * Patterns are those of fnmatch(3), matched against the whole name, mangled if it is C++.
 */
#ifndef SNAG_TRACER_FILTER_H
#define SNAG_TRACER_FILTER_H

#include <stdbool.h>

/* filter_includes -- whether this function is recorded. The first call reads the file. Not
 * thread-safe: regions.c calls it under its lock. */
bool filter_includes(const char *name);

/* filter_trouble -- what was wrong with the file, "" if nothing was. */
const char *filter_trouble(void);

#endif
