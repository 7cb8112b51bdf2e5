/*
 * peer_cells -- what a place does on a call path: the middle of its calls' log ratios to what
 * such calls typically take, and how many they are. There is a cell where a place has calls on a
 * path, and no other: a trace in which every rank calls functions of its own has as many ranks
 * times paths as nobody has memory for.
 *
 *     path 0: place 0, place 1, place 2 | path 1: place 1 | path 2: place 0, place 2 | ...
 *
 * Where a place makes some calls of each execution far longer, and leaves the others as they
 * are, the middle of its calls is that of the others':
 *
 *     sweep, us     place 0: 10 10 10 10 10 | 10 10 10 10 10        place 1: 10 90 10 10 10 | 10 10 90 10 10
 *
 * Then the values of that path, on all places, are sums: what an execution has on it.
 */
#ifndef SNAG_RANKS_PEER_CELLS_H
#define SNAG_RANKS_PEER_CELLS_H

#include "ranks/peers.h"

#define MAD_SIGMA 1.4826 /* standard deviations in a median absolute deviation */
#define MAX_EXCESS 0.999 /* of the time of a cell: something is left for the typical */

struct peer_cell {
    uint32_t place;
    uint32_t n_calls, n_values;
    double ratio, error; /* middle of n_values of peer_ratio, and its standard error */
    double off;          /* by which the middle may be off, as times are estimates */
    double above_stage;  /* the ratio over that of the others of its stage, */
    double above_off;    /* (by which that may be off) */
    bool is_alone;       /* if there are others; else over what is typical: for the owner */
    double time_ns;      /* of all calls */
    double typical_ns;   /* that calls with the same calls below typically take, on any place */
    double capped_ns;    /* of all calls, of none more than twice what is typical of it */
};

struct peer_cells {
    struct peer_cell *cell; /* [first[n_paths]] those of a path by place */
    uint32_t *first;        /* [n_paths + 1] */
    bool *is_summed;        /* [n_paths] values are of executions, and not of calls */
};

/*
 * peer_cells_make -- those of own work; the times of places are added up, too.
 *   width  least, of ratios
 *   peers  places, their trees and is_waiting are known; own_ns and wait_ns are set
 * Release in any case. O(vertices log vertices).
 */
void peer_cells_make(struct peer_cells *cells, const struct scoring *scoring, double width,
                     struct peers *peers);
void peer_cells_release(struct peer_cells *cells);

/* peer_cells_find -- that of a place; NULL: it has no calls on the path. O(log places). */
const struct peer_cell *peer_cells_find(const struct peer_cells *cells, uint32_t place,
                                        uint32_t path);

/*
 * peer_cell_excess -- what the calls of a cell take more for being so far above others.
 *   above      as a difference of ratios
 *   offset_ns  c, which is in the ratios and in no time
 */
double peer_cell_excess(const struct peer_cell *cell, double above, double offset_ns);

/*
 * peer_cells_others -- sets peer_path.others where no one factor says by how much the calls of a
 * slow place take longer: what they take more in all is by a tenth another sum, or they are twice
 * as far apart as those of the others, as only some take longer, or more and more. O(slow paths x
 * places).
 */
void peer_cells_others(const struct peer_cells *cells, struct peers *peers);

/* peer_typical_ns -- what is typical of such calls on all places. */
static inline double peer_typical_ns(const struct residual_model *model,
                                     const struct residual_place *at,
                                     const struct forest *forest, uint32_t tree,
                                     uint32_t vertex)
{
    return residual_context(model, at, forest, tree, vertex)->typical - model->offset_ns;
}

/* peer_call_ns -- what of the time of a vertex is own work, if its path does not wait. */
static inline double peer_call_ns(const struct scoring *scoring, const struct peers *peers,
                                  uint32_t vertex)
{
    double ns = (double)scoring->forest.exclusive_ns[vertex];

    return peers->waited_ns ? ns - peers->waited_ns[vertex] : ns;
}

/*
 * peer_middle -- what the others have in the middle: of n values without that of `but`, or, of
 * PEERS_MIN_PLACES or more, of all. scratch: (n). O(n).
 */
double peer_middle(const double *value, uint32_t n, uint32_t but, double *scratch);

/* peer_own_ns -- what an execution worked itself: its time on paths that do not wait. O(calls).
 */
double peer_own_ns(const struct scoring *scoring, const struct peers *peers, uint32_t tree);

/* peer_task_comes_often -- whether a place has more than so much to do on a path, by what is
 * typical, in enough of its executions: what it has in a few is an anomaly. O(calls). */
bool peer_task_comes_often(const struct scoring *scoring, const struct peers *peers,
                           uint32_t place, uint32_t path, double least);

/* peer_ratio -- ln((own work + c) / (typical + c)) of a vertex of a tree that is in the model. */
double peer_ratio(const struct scoring *scoring, const struct peers *peers, uint32_t tree,
                  uint32_t vertex);

/* peer_ratio_summed -- that of all calls of an execution on a path; NAN: it has none. */
double peer_ratio_summed(const struct scoring *scoring, const struct peers *peers,
                         uint32_t tree, uint32_t path);

#endif
