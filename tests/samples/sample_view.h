/*
 * sample_view -- traces for tests, said rank by rank, times in microseconds:
 *
 *     name@1-9          a call from 1 to 9; with '(' ... ')' after it, calls inside
 *     name@1-9>2        a blocking send to rank 2, recorded when it is entered
 *     name@1-9>2*9000   the same, of 9000 bytes; else of 64
 *     name@1-9<2        a blocking receive, recorded when it is left
 *     name@1-2>>2       posts a send that is complete when a later call says "=N": the N-th
 *                       message of this rank, from 0
 *     name@5-9<<2/1     completes a receive that was posted at 1; several: "<<2/1<<3/1"
 *     name@1-9|         a barrier; "^2": a broadcast from rank 2; "_2": a reduction to it;
 *                       "?": another collective
 *     name@5-9|/1       completes a barrier that was begun at 1
 *     name@1-9F(        a fork and its join; "M(": what a member of the team does; "B": a
 *                       barrier of it
 *     name@1-9C3        creates thread 3; "T3(": what that does; "W3": waits for its end
 *
 * A text that begins with '+' is of another thread of the rank before.
 */
#ifndef SNAG_TESTS_SAMPLE_VIEW_H
#define SNAG_TESTS_SAMPLE_VIEW_H

#include "explain/trace_view.h"
#include "forest/traffic.h"
#include "trace/quality.h"

#define SAMPLE_VIEW_MAX_RANKS 6 /* ranks */

struct sample_view {
    struct definitions defs;
    struct calls calls[SAMPLE_VIEW_MAX_RANKS];
    uint32_t *by_depth[SAMPLE_VIEW_MAX_RANKS];
    uint64_t *depth_start[SAMPLE_VIEW_MAX_RANKS];
    struct quality quality[SAMPLE_VIEW_MAX_RANKS];
    struct traffic traffic;
    struct trace_view view;
};

/* sample_view_init -- text (n_ranks) says what each rank does. */
void sample_view_init(struct sample_view *s, uint32_t n_ranks, const char *const *text);
void sample_view_release(struct sample_view *s);

#endif
