/*
 * growth -- whether executions take longer and longer as the run goes on: memory that is not
 * given back, a list that is searched from its start, a mesh that is refined. What is typical is
 * the middle of the run, so of these the late ones are anomalies, or none is; neither says what
 * is going on.
 *
 *     own work  |              . :.     Ranks of times rise with time (Spearman), and do so in
 *               |         .:. '.|        the early and in the late half alone: a jump rises in
 *               |    .:. :      |        one of them at most.
 *               |.:.: .         |
 *               +---------------+-- time
 *
 * Each thread is a series of its own. Under noise that hides it in each, all of them together may
 * show it (the sum of their ranks' statistics), and then it is said of all.
 */
#ifndef SNAG_RANKS_GROWTH_H
#define SNAG_RANKS_GROWTH_H

#include "explain/why.h"
#include "ranks/peers.h"

#define GROWTH_FALSE_ALARMS 0.005 /* runs in which executions grow by chance, and it is said */

struct growth {
    uint32_t n_places;        /* on which they grow; 0: on none */
    uint32_t place;           /* that with the thread on which they grow most */
    bool is_waiting;          /* no own work grows, but calls wait longer and longer */
    double first_ns, last_ns; /* median of that thread's executions, in the first and the last
                                 fifth: of own work, where is_waiting of all their time */
    uint32_t path;            /* on which most of that is, or PATH_NONE */
};

/*
 * growth_find -- on which places executions take longer and longer.
 *   peers  of peers_find of the same forest; only read, as the forest is
 * O(executions log executions + vertices).
 */
void growth_find(const struct scoring *scoring, const struct peers *peers, struct growth *out);

/*
 * growth_text -- "executions of step take longer and longer on rank 3: there, own work of
 * 1.02 ms in the first fifth of them, 10.9 ms in the last; most of that is in step > lookup", to be freed;
 * NULL where none grow.
 *   name  of the function of interest
 * O(length).
 */
char *growth_text(const struct growth *growth, const struct peers *peers, const struct why *why,
                  const char *name);

#endif
