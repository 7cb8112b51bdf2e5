/*
 * live_slow -- which rank of a job is slow, by the statistics that its instances store while it
 * runs.
 *
 * After the run ranks are compared call by call (ranks/peers.h). While it runs, and of many
 * processes, there is of each rank and function how many calls there were, and the mean and the
 * deviation of their own time. That is enough to say that calls of a function take longer on a
 * rank than on the others, or are more:
 *
 *     rank             0       1       2       3       4      middle
 *     compute, mean  10.0    10.1    10.9    10.0     9.9      10.0 us    rank 2: +9 %
 *
 * by the same tests, with the same words, among ranks of one program. It is not known on which
 * call path, nor since when, nor who waited for whom; where the calls of a function are of
 * several kinds, of which a rank has more of the long ones, that looks like being slow. What
 * fewer than PEERS_MIN_PLACES ranks call is not compared, as others may only not have come to it.
 */
#ifndef SNAG_MONITOR_LIVE_SLOW_H
#define SNAG_MONITOR_LIVE_SLOW_H

#include "ranks/peers.h"

#define SLOW_MAX_NAMED 3u /* functions of a rank, the largest excess first */

/* The calls of a function on a rank. */
struct slow_cell {
    uint32_t rank, function; /* rows, from 0 */
    uint32_t program;        /* of the rank */
    uint64_t n_calls;
    double mean_ns, deviation_ns; /* of their own time */
};

struct slow_function {
    uint32_t function;
    bool is_more, is_sure; /* more calls, not longer ones; not by chance */
    double factor;         /* by which they take longer, or are more */
    double excess_ns;      /* what that comes to, in all calls */
};

struct slow_rank {
    bool
        is_compared; /* PEERS_MIN_PLACES ranks or more have called something that it has called */
    enum peer_verdict verdict;
    double own_ns, wait_ns;
    double peers_ns; /* own work of the rank that has least */
    double slow_ns, more_ns,
        maybe_ns; /* excess: significantly slow, more to do, not significantly slow */
    struct slow_function in[SLOW_MAX_NAMED];
    uint32_t n_in;
};

/* What ranks are compared by. */
struct slow_table {
    struct slow_cell *cell; /* [n_cells] one of each rank and function; sorted by slow_find */
    size_t n_cells;
    const bool *is_waiting; /* [n_functions] its calls wait for others */
    uint32_t n_functions, n_ranks;
};

/*
 * slow_find -- compare the ranks.
 *   rank  (table->n_ranks) out
 * Those that are not compared are typical. Returns how many were. O(n_cells log n_cells).
 */
uint32_t slow_find(struct slow_table *table, struct slow_rank *rank);

/* slow_factor -- own work over what peers need for the same, as peer_slowdown. */
double slow_factor(const struct slow_rank *rank);

#endif
