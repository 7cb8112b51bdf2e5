/*
 * growth -- whether executions take longer and longer as the run goes on: memory that is not given back, a list that is
 * searched from its start, a mesh that is refined. What is typical is the middle of the run, so of these the late ones are
 * anomalies, or none is; neither says what is going on.
 *
 * The executions of a place, in order of time, are cut into fifths of as many each. They grow where the medians of the
 * fifths do from one to the next, and that is neither chance nor one jump:
 *
 *     own work  |              . :.     the medians rise each time, by a fifth or more in all; no one step is most of
 *               |         .:. '.        that; and a quarter of the last fifth below, a quarter of the first above, the
 *               |    .:. :              other three quarters do not meet
 *               |.:.: .
 *               +------------------ time
 */
#ifndef SNAG_RANKS_GROWTH_H
#define SNAG_RANKS_GROWTH_H

#include "explain/why.h"
#include "ranks/peers.h"

struct longer {
    uint32_t n_places, n_looked; /* that grow, of those with enough executions; 0: none does */
    uint32_t place;              /* that of them which grows most */
    bool is_waiting; /* own work has little part in it: calls wait longer and longer */
    double first_ns,
        last_ns; /* median of an execution of that place, in the first and the last fifth: own work, or
                                    all of its time where is_waiting */
    uint32_t path;  /* on which it grows most, or PATH_NONE */
    double path_ns; /* > 0; by how much, of an execution on average */
};

/*
 * growth_find -- the places whose executions last longer and longer: those where that is own work, if there are any.
 *   peers  of peers_find
 * O(executions), and of the places that may grow O(their vertices).
 */
void growth_find(const struct scoring *scoring, const struct peers *peers, struct longer *out);

/*
 * growth_text -- "step takes longer and longer on rank 3: own work of 1.02 ms in the first fifth of its executions, of
 * 10.9 ms in the last; step > lookup +9.80 ms", to be freed; NULL where nothing grows.
 *   name  of the function of interest
 */
char *growth_text(const struct longer *growth, const struct peers *peers, const struct why *why,
                  const char *name);

#endif
