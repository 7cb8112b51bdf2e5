/*
 * step_view -- a step as the analysis of finished traces sees one: calls as columns, messages
 * with their other ends, so that explain/ can walk across ranks in it.
 *
 * Messages are matched in every step, because MPI's order counts from the start; what finds no
 * partner stays for the next steps, a bounded number of both ends. The calls are only laid out
 * when somebody asks; from when on they are all there is said of each location.
 */
#ifndef SNAG_LIVE_STEP_VIEW_H
#define SNAG_LIVE_STEP_VIEW_H

#include "explain/trace_view.h"
#include "forest/traffic.h"
#include "live/ad.h"

#include <stdbool.h>

#define STEP_VIEW_MAX_PENDING 65536 /* messages without a partner, in all */

/* Columns that the calls of a step do not have, of one location. */
struct step_columns {
    uint64_t *inclusive_ns; /* [cap] open calls last until the end of the step */
    uint32_t *subtree_len, *by_depth;
    uint16_t *depth;
    size_t cap;
    uint64_t *depth_start;
    size_t depth_cap;
};

struct step_view {
    struct traffic traffic;       /* of this step, and before what it had no partner for */
    struct calls *pending;        /* [n_locations] their messages wait for a partner */
    struct step_columns *columns; /* [n_locations] */
    struct quality *quality;      /* [n_locations] nobody looks at it */
    uint32_t n_locations;
    uint64_t n_recv_before_send; /* messages, of all steps: clocks disagree */
    size_t cap, columns_cap, quality_cap;
    struct trace_view trace;
    bool is_laid_out;
};

void step_view_release(struct step_view *view);

/* step_view_begin -- match the messages of a step. O(messages). */
void step_view_begin(struct step_view *view, const struct ad_step *step);

/* step_view_trace -- the calls too; valid until the step ends. O(calls) the first time. */
const struct trace_view *step_view_trace(struct step_view *view, const struct ad_step *step);

/* The other end of a message. */
struct other_end {
    uint32_t location; /* its rank's first one where the end is not known, or NO_LOCATION */
    uint32_t call;     /* of this step, around it; or NO_CALL */
    uint64_t time_ns;  /* when it was there; 0: not known, or in an earlier step */
};

/* step_view_partner -- of message i of a location in this step. O(log locations). */
struct other_end step_view_partner(const struct step_view *view, const struct ad_step *step,
                                   uint32_t location, size_t i);

/* step_view_end -- forget the step. */
void step_view_end(struct step_view *view);

#endif
