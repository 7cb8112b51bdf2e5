/* source_lines -- where in their source the functions of a run begin, from the debug
 * information of the files that they were loaded from; nothing where there is no libdw. */
#ifndef SNAG_TRACE_SOURCE_LINES_H
#define SNAG_TRACE_SOURCE_LINES_H

#include "trace/tracer/recording.h"

/* source_lines_find -- fill in what is not known. Strings last as long as the process. */
void source_lines_find(struct unified *u);

#endif
