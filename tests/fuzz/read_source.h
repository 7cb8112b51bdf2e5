/* read_source -- all events of a trace, if it can be opened, and what they make. */
#ifndef SNAG_TESTS_READ_SOURCE_H
#define SNAG_TESTS_READ_SOURCE_H

#include "trace/source.h"

void read_source(const char *path, const struct source_opts *opts);

#endif
