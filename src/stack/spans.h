/*
 * spans -- what one location does in teams of threads: its records become spans.
 *
 * A fork and what a member does are two records each, at the begin and at the end; a record of
 * an end closes the innermost span of its kind that is open. What is open when the location
 * ends, ends there.
 */
#ifndef SNAG_STACK_SPANS_H
#define SNAG_STACK_SPANS_H

#include "stack/calls.h"
#include "trace/definitions.h"

/* The spans of a location that are open, innermost last. */
struct open_spans {
    uint32_t *open; /* [n] */
    size_t n, cap;
};

void open_spans_release(struct open_spans *open);

/* spans_take -- the next record; `call` is the innermost open call. O(open spans). */
void spans_take(struct open_spans *open, struct calls *calls, const struct team_record *record,
                uint64_t time_ns, uint32_t call);

/* spans_end -- no more records: the open spans end with the last event. */
void spans_end(struct open_spans *open, struct calls *calls);

/*
 * spans_find_barriers -- the calls of barriers in each member's span, without those in spans
 * inside it. When the location is complete. O(calls in spans * how deep these are nested).
 */
void spans_find_barriers(struct calls *calls, const struct definitions *defs);

#endif
