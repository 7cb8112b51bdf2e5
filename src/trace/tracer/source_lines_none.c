/* Where there is no libdw. */
#include "trace/tracer/source_lines.h"

void source_lines_find(struct unified *u)
{
    (void)u;
}
