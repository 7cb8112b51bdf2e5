/*
 * recorder_names -- what properties and attributes of an archive of snag record are called: for
 * what writes it and what reads it. Their meaning is in tracer/README.md.
 */
#ifndef SNAG_TRACE_RECORDER_NAMES_H
#define SNAG_TRACE_RECORDER_NAMES_H

#define ATTRIBUTES_OURS "snag."

/* Of events. */
#define NAME_EARLIER "snag.earlier"
#define NAME_LATER "snag.later"
#define NAME_INLINED "snag.inlined"

/* Properties of locations: nanoseconds from its first event to its last, and what recording
 * took of them; calls that were lost. */
#define PROPERTY_TIME "snag.time"
#define PROPERTY_COST "snag.cost"
#define PROPERTY_COST_ONCE "snag.cost_once"
#define PROPERTY_PROCESSOR_TIME "snag.processor_time"
#define PROPERTY_POLLS "snag.polls"
#define PROPERTY_LOST "snag.lost"

/* Properties of location groups, each followed by the name of a region that was left out from
 * some time on: the time, and how many calls there were of it since. */
#define PROPERTY_LEFT_OUT_FROM "snag.left_out.from "
#define PROPERTY_LEFT_OUT_CALLS "snag.left_out.calls "

/* Of that of the first rank, each followed by the path of a file that was loaded: its build id.
 */
#define PROPERTY_BUILD_ID "snag.build_id "

/* Of location groups: how the process ended, if it did not end as it should; why not all of it
 * was recorded. */
#define PROPERTY_ENDING "snag.ending"
#define PROPERTY_TROUBLE "snag.trouble"

#endif
