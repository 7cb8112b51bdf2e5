/* archive_definitions -- the definitions of the whole archive, as libotf2 wants them. */
#ifndef SNAG_TRACER_ARCHIVE_DEFINITIONS_H
#define SNAG_TRACER_ARCHIVE_DEFINITIONS_H

#include "unify.h"

#include <otf2/otf2.h>
#include <stdbool.h>

/* The attributes of an enter or leave whose time is estimated: by how much it may have been
 * earlier or later, in nanoseconds. */
enum { ATTRIBUTE_EARLIER, ATTRIBUTE_LATER };

/* archive_definitions_write -- everything that u knows. Returns false if libotf2 fails. */
bool archive_definitions_write(OTF2_GlobalDefWriter *w, const struct unified *u,
                               uint32_t n_ranks);

#endif
