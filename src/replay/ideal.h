/*
 * ideal -- what a run of operations on streams would have taken if every operation of a kind
 * took the same time, and which of them it is that makes it longer.
 *
 *     S    = T / T_ideal                       the slowdown of the run
 *     S_w  = T_ideal, but w as it was / T_ideal     of a worker, a stage, a kind of operation
 *
 * An operation that computes ideally takes the mean time of all of its function, on whatever
 * worker and in whatever step; one that exchanges something the median of what it took from
 * when the last of those in it had begun. Everything begins as soon as what it waits for has
 * ended: what else kept it (a slow launch) is in neither T.
 *
 * Source: Lin and others. Understanding Stragglers in Large Model Training Using What-if
 * Analysis. OSDI 2025, equations 1, 2 and 4. Departs from it: S_w is played for each worker,
 * not taken from its row and column; the steps are played one after another in one run.
 */
#ifndef SNAG_REPLAY_IDEAL_H
#define SNAG_REPLAY_IDEAL_H

#include "replay/replay.h"

struct ideal_kind {
    uint32_t n;
    double usual_ns; /* of each operation */
    double sum_ns;   /* of all, as they were */
    bool is_exchange;
};

struct ideal {
    struct replay *replay; /* its cuts are the ideal's while it plays */
    uint32_t *ready;       /* [n] the sync where each operation is ready */
    uint32_t n;
    struct ideal_kind *kind; /* [regions] */
    double run_ns, ideal_ns; /* T, T_ideal */
};

/* ideal_init -- find what is usual, play T and T_ideal. Nothing may be cut. O(syncs). */
void ideal_init(struct ideal *ideal, struct replay *replay);
void ideal_release(struct ideal *ideal);

/* Whether an operation stays as it was. */
typedef bool ideal_keep(uint32_t location, uint32_t region, void *ctx);

/* ideal_slowdown -- S of those kept: the run with them as they were, all others ideal, against
 * T_ideal; NAN if there are no operations. O(syncs). */
double ideal_slowdown(struct ideal *ideal, ideal_keep *keep, void *ctx);

#endif
