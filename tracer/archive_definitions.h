/* archive_definitions -- the definitions of the whole archive, as libotf2 wants them. */
#ifndef SNAG_TRACER_ARCHIVE_DEFINITIONS_H
#define SNAG_TRACER_ARCHIVE_DEFINITIONS_H

#include "unify.h"

#include <otf2/otf2.h>
#include <stdbool.h>

/* The attributes of an enter or leave whose time is estimated: by how much it may have been
 * earlier or later, in nanoseconds; of a leave of a function that was inlined, how many calls
 * this one may have been. */
enum { ATTRIBUTE_EARLIER, ATTRIBUTE_LATER, ATTRIBUTE_INLINED };

/* Properties of locations: nanoseconds from its first event to its last, and what recording
 * took of them. */
#define PROPERTY_TIME "snag.time"
#define PROPERTY_COST "snag.cost"
#define PROPERTY_COST_ONCE "snag.cost_once"
#define PROPERTY_PROCESSOR_TIME "snag.processor_time"
#define PROPERTY_POLLS "snag.polls"

/* Properties of location groups, each followed by the name of a region that was left out from
 * some time on: the time, and how many calls there were of it since. */
#define PROPERTY_LEFT_OUT_FROM "snag.left_out.from "
#define PROPERTY_LEFT_OUT_CALLS "snag.left_out.calls "

/* The only one that there is. */
#define IO_PARADIGM 0

/* Properties of the location group that wrote the definitions, each followed by the path of a
 * file that was loaded: its build id. */
#define PROPERTY_BUILD_ID "snag.build_id "

/* archive_definitions_write -- everything that u knows. Returns false if libotf2 fails. */
bool archive_definitions_write(OTF2_GlobalDefWriter *w, const struct unified *u,
                               uint32_t n_ranks);

#endif
